// SPDX-License-Identifier: Apache-2.0

package alarm

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/pnagent/pnagent/collector/merge"
	"github.com/pnagent/pnagent/internal/seeds"
	"github.com/pnagent/pnagent/petri"
	"github.com/pnagent/pnagent/petri/pnml"
	"github.com/pnagent/pnagent/stats"
	"github.com/pnagent/pnagent/telemetry"
)

// engine publishes each second a token in its place since its start, until it ends
// without a last message.
type engine struct {
	name  string
	place int
	began time.Time
	ends  time.Time
	seq   uint64
	said  time.Time
	full  bool // it is asked for all of its rows
}

const engineDigest = "d"

func engineNet() *petri.Net {
	net := &petri.Net{ID: "n"}
	for i := range pairPlaces {
		p, tr := fmt.Sprintf("p%d", i), fmt.Sprintf("t%d", i)
		net.Places = append(net.Places, petri.Place{ID: p})
		net.Transitions = append(net.Transitions, petri.Transition{ID: tr})
		net.Arcs = append(net.Arcs, petri.Arc{ID: "a" + p, Source: p, Target: tr, Weight: 1})
	}
	return net
}

// engine begins to publish, and ends after a while.
func (f *fleet) engine(lives time.Duration) {
	n := len(f.engines)
	f.engines = append(f.engines, &engine{name: fmt.Sprintf("e%d", n), place: n % pairPlaces, began: f.now, ends: f.now.Add(lives), full: true})
}

// listen gives a sidecar that starts a merger, which asks all for their rows.
func (f *fleet) listen(m *member) {
	now := f.now.UnixMicro()
	m.merger = merge.NewMerger(merge.Rules{}, now)
	m.merger.ReceivedUntil(now, true)
	if _, err := m.merger.Define(engineDigest, engineNet(), now); err != nil {
		f.t.Fatal(err)
	}
	for _, e := range f.engines {
		e.full = true
	}
}

// publish publishes snapshots of the engines at whole seconds, and at once on request.
func (f *fleet) publish() {
	for _, e := range f.engines {
		for f.now.Before(e.ends) && (e.full || f.now.Sub(e.began)%time.Second == 0 && e.said != f.now) {
			f.say(e)
		}
	}
}

func (f *fleet) say(e *engine) {
	e.seq++
	e.said = f.now
	now := f.now.UnixMicro()
	msg := &telemetry.Snapshot{Source: e.name, Net: "n", Digest: engineDigest, Epoch: e.began.UnixMicro(), Seq: e.seq, SentAt: now,
		Interval: time.Second, Full: e.full, Rows: stats.Rows{Columns: stats.ColTokens | stats.ColOldest | stats.ColArrivals}}
	if e.full {
		msg.Rows = *stats.NewRows(pairPlaces, pairPlaces)
		msg.Rows.Columns = stats.ColTokens | stats.ColOldest | stats.ColArrivals
		msg.Rows.Places[e.place] = stats.Place{Tokens: 1, Arrivals: 1, Oldest: e.began.UnixMicro()}
	}
	e.full = false
	for _, m := range f.members {
		if m.dead || m.cut || m.paused {
			continue
		}
		asks, err := m.merger.Take(msg, 0, now)
		if err != nil {
			f.t.Fatal(err)
		}
		e.full = e.full || len(asks) > 0
	}
}

// merged returns the View of the messages that a sidecar received.
func (f *fleet) merged(m *member) *merge.View {
	now := f.now.UnixMicro()
	m.merger.ReceivedUntil(now, !m.broken)
	m.broken = false
	view, asks := m.merger.Tick(now)
	for _, a := range asks {
		for _, e := range f.engines {
			e.full = e.full || e.name == a.Source
		}
	}
	return view
}

// fetch answers a sidecar that asks for silent sources, and takes the answer.
func (f *fleet) fetch(m *member, l letter) {
	switch {
	case l.to != m.id:
	case l.ask:
		silent, err := m.merger.Silent(f.now.UnixMicro())
		if err != nil {
			f.t.Fatal(err)
		}
		f.post(m, letter{to: l.from, silent: silent})
	case m.roster.Awaits(l.from):
		if _, err := m.merger.TakeSilent(l.silent, merge.Admission{PNML: pnml.DefaultLimits()}, f.now.UnixMicro()); err != nil {
			f.t.Fatal(err)
		}
		m.roster.Fetched(l.from)
	}
}

const (
	// settled is how long after a start or a break a sidecar has the state of the other.
	settled = 7 * time.Second
	// judged is how long after a break a source is called silent that was not before.
	judged = 9 * time.Second
)

// shows checks that each settled sidecar shows each token, and each silent engine as
// stale.
func (f *fleet) shows() {
	for _, m := range f.members {
		if m.dead || m.cut || m.paused {
			m.broken = true
			continue
		}
		if f.now.Sub(m.since) < settled || f.now.Nanosecond() != 0 {
			continue
		}
		view := f.merged(m)
		states, tokens := map[string]merge.SourceState{}, uint64(0)
		for _, s := range view.Sources {
			states[s.Name] = s.State
		}
		for i := range view.Nets[0].Rows.Places {
			tokens += view.Nets[0].Rows.Places[i].Tokens
		}
		there := 0
		for _, e := range f.engines {
			if f.now.Sub(e.began) < 3*time.Second {
				continue
			}
			there++
			state, known := states[e.name]
			if silent := f.now.Sub(e.ends); !known || silent > 5*time.Second && f.now.Sub(m.since) > judged && state != merge.Stale {
				f.t.Fatalf("%s shows %s, which is silent for %v, as %v, known %v: %s", m.name, e.name, silent, state, known, strings.Join(f.diary, ", "))
			}
		}
		if int(tokens) < there || int(tokens) > len(f.engines) {
			f.t.Fatalf("%s shows %d tokens; expected %d to %d: %s", m.name, tokens, there, len(f.engines), strings.Join(f.diary, ", "))
		}
	}
}

// Tokens of silent engines stay stuck: no sidecar of a pair that takes turns shows them as
// gone or clears an alarm about them. A sidecar that restarts has no state.
//
//promise:evidence stop kill none
func TestNoTakeOverLosesASilentSource(t *testing.T) {
	for seed := range seeds.Of(2, 50, 3, 40, 13, 5, 22, 4) {
		f := newFleet(t, seed)
		f.diary = append(f.diary, fmt.Sprintf("seed %d", seed))
		f.engine(time.Hour)
		f.start("a", 100)
		f.start("b", 127)
		f.run(15*time.Second, f.shows)
		for turn := range 20 {
			for range f.rng.IntN(3) {
				f.engine(time.Duration(3000+f.rng.IntN(8000)) * time.Millisecond)
			}
			f.run(time.Duration(f.rng.IntN(3000))*time.Millisecond, f.shows)
			name := []string{"a", "b"}[f.rng.IntN(2)]
			m := f.members[0]
			if m.name != name {
				m = f.members[1]
			}
			f.inject(m, []string{"kill", "stop", "cut", "pause"}[f.rng.IntN(4)])
			f.run(time.Duration(1500+f.rng.IntN(7000))*time.Millisecond, f.shows)
			f.randomly(m)
			f.run(settled+time.Duration(f.rng.IntN(6000))*time.Millisecond, f.shows)
			if turn%5 == 4 {
				f.run(20*time.Second, f.shows)
				f.lists()
			}
		}
		open, sent := map[string]int{}, map[uint32]bool{}
		for _, h := range f.station {
			if h.raise && !sent[h.index] {
				open[h.subject]++
			} else if !h.raise {
				open[h.subject]--
			}
			sent[h.index] = true
			if open[h.subject] < 1 { // of two indices that two sidecars gave one is cleared
				f.t.Fatalf("%s is cleared: %s", h.subject, f.story(h.index))
			}
		}
		if len(open) < 2*pairPlaces {
			f.t.Fatalf("the station received of %v", open)
		}
	}
}
