// SPDX-License-Identifier: Apache-2.0

package web

import (
	"encoding/json"
	"time"

	"github.com/pnagent/pnagent/collector"
	"github.com/pnagent/pnagent/stats"
)

// maxListed is how many sources, and how many alarms, an overview lists.
const maxListed = 1000

type overviewDoc struct {
	At         time.Time   `json:"at"`
	Generation uint64      `json:"generation"`
	History    *historyDoc `json:"history,omitempty"`
	Nets       []netDoc    `json:"nets"`
	Sources    []sourceDoc `json:"sources"`
	Alarms     []alarmDoc  `json:"alarms"`
	NATS       *natsDoc    `json:"nats,omitempty"`
	Up         *natsDoc    `json:"up_nats,omitempty"` // to the sidecar above, where it is another
	Deaf       bool        `json:"deaf"`              // what is said of sources is from before a break
	// What the lists leave out.
	SourcesLeftOut int `json:"sources_left_out,omitempty"`
	AlarmsLeftOut  int `json:"alarms_left_out,omitempty"`
}

// natsDoc is a connection of the sidecar. While the one to engines is not connected,
// everything else is as of since.
type natsDoc struct {
	Connected bool      `json:"connected"`
	Since     time.Time `json:"since"`
	Reason    string    `json:"reason,omitempty"`
}

type historyDoc struct {
	From time.Time `json:"from"`
	To   time.Time `json:"to"`
	Step float64   `json:"step"` // seconds
}

type netDoc struct {
	ID          string   `json:"id"`
	Name        string   `json:"name"`
	Places      int      `json:"places"`
	Transitions int      `json:"transitions"`
	Tokens      *uint64  `json:"tokens,omitempty"`
	Instances   *uint64  `json:"instances,omitempty"`
	Deadlocked  *uint64  `json:"deadlocked,omitempty"`
	OldestAge   *float64 `json:"oldest_age,omitempty"` // absent without a token in a place that is not final
	OldestPlace *string  `json:"oldest_place,omitempty"`
	Rate        *float64 `json:"rate,omitempty"`
	Up          int      `json:"sources_up"`
	Stale       int      `json:"sources_stale"`
	Alarms      int      `json:"alarms"`
	Drawing     string   `json:"drawing"`
}

type sourceDoc struct {
	Name         string  `json:"name"`
	Net          string  `json:"net"`
	State        string  `json:"state"`
	Reason       string  `json:"reason,omitempty"` // why it is refused
	LastHeardAge float64 `json:"last_heard_age"`
	Gaps         uint64  `json:"gaps"`
	Region       string  `json:"region,omitempty"`
	Fence        uint64  `json:"fence,omitempty"` // its number as the region's owner
	Position     *uint64 `json:"position,omitempty"`
	Standbys     *uint64 `json:"standbys,omitempty"`
	Lag          *uint64 `json:"lag,omitempty"`
	Stopped      string  `json:"region_stopped,omitempty"`
}

type alarmDoc struct {
	Index   uint32    `json:"index"`
	Kind    string    `json:"kind"`
	Net     string    `json:"net"`
	Subject string    `json:"subject"`
	Since   time.Time `json:"since"`
	Text    string    `json:"text"`
}

// overviewText is the overview as of the View, as JSON.
func (b *board) overviewText() []byte {
	d := overviewDoc{At: moment(b.view.At), Generation: b.view.Generation, Nets: []netDoc{}, Sources: b.sourceDocs(), Alarms: []alarmDoc{}, Deaf: b.view.Deaf}
	if c := b.view.NATS; c != nil {
		d.NATS = &natsDoc{c.Connected, moment(c.Since), c.Reason}
	}
	if c := b.view.Up; c != nil {
		d.Up = &natsDoc{c.Connected, moment(c.Since), c.Reason}
	}
	d.SourcesLeftOut = len(b.view.Sources) - len(d.Sources)
	if b.history.to != 0 {
		d.History = &historyDoc{From: moment(b.history.from), To: moment(b.history.to), Step: b.history.step.Seconds()}
	}
	perNet := map[string]int{}
	for i := range b.alarms.Active {
		a := &b.alarms.Active[i]
		perNet[a.Net]++
		if len(d.Alarms) < maxListed {
			d.Alarms = append(d.Alarms, alarmDoc{a.Index, a.Kind.String(), a.Net, a.Subject, moment(a.Since), a.Text})
		}
	}
	d.AlarmsLeftOut = len(b.alarms.Active) - len(d.Alarms)
	for _, n := range b.view.Nets {
		d.Nets = append(d.Nets, b.nets[n.Name].doc(b.view.At, perNet[n.Name]))
	}
	text, err := json.Marshal(&d)
	if err != nil {
		panic("web: overview: " + err.Error()) // nothing in it can fail
	}
	return text
}

func (nb *netBoard) doc(now int64, alarms int) netDoc {
	n, rows := nb.net, nb.net.Rows
	cols := rows.Columns
	d := netDoc{ID: n.Name, Name: n.Def.Name, Places: len(rows.Places), Transitions: len(rows.Transitions),
		Instances: known(cols, stats.ColInstances, rows.Net.Active), Deadlocked: known(cols, stats.ColInstances, rows.Net.Deadlocked),
		Up: n.Up, Stale: n.Stale, Alarms: alarms, Drawing: nb.drawing.hash}
	var tokens uint64
	for i := range rows.Places {
		tokens += rows.Places[i].Tokens
	}
	d.Tokens = known(cols, stats.ColTokens, tokens)
	if oldest := n.Oldest(); oldest >= 0 {
		age := ageAt(rows.Places[oldest].Oldest, now)
		d.OldestAge, d.OldestPlace = &age, &n.Def.Places[oldest].ID
	}
	if nb.rates != nil {
		var sum rate
		for _, r := range nb.rates[len(rows.Places):] {
			sum += max(r, 0)
		}
		total := float64(rounded(float64(sum)))
		d.Rate = known(cols, stats.ColFirings, total)
	}
	return d
}

// sourceDocs are the sources of the View, in its order. Where they are too many
// those are left out first that are up.
func (b *board) sourceDocs() []sourceDoc {
	sources := b.view.Sources
	up := 0
	for i := range sources {
		if sources[i].State == collector.Up {
			up++
		}
	}
	notUp := min(len(sources)-up, maxListed)
	up = maxListed - notUp
	out := make([]sourceDoc, 0, min(len(sources), maxListed))
	for i := range sources {
		s := &sources[i]
		room := &notUp
		if s.State == collector.Up {
			room = &up
		}
		if *room == 0 {
			continue
		}
		*room--
		out = append(out, sourceDoc{s.Name, s.Net, s.State.String(), s.Reason, ageAt(s.LastHeard, b.view.At), s.Gaps, s.Region, s.Fence, s.Position, s.Standbys, s.Lag, s.RegionStopped})
	}
	return out
}

// moment is a time in microseconds since the Unix epoch as JSON shows it.
func moment(t int64) time.Time { return time.UnixMicro(t).UTC() }

// ageAt returns the seconds since a time, 0 for none or one to come.
func ageAt(t, now int64) float64 {
	if t == 0 || t > now {
		return 0
	}
	return float64(now-t) / 1e6
}

// known returns a value, or nil if its columns are absent.
func known[T any](cols, want stats.Columns, v T) *T {
	if !cols.Has(want) {
		return nil
	}
	return &v
}
