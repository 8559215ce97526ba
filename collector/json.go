// SPDX-License-Identifier: Apache-2.0

package collector

import (
	"encoding/json"
	"io"
	"net/http"
	"strconv"
	"time"

	"github.com/pnagent/pnagent/petri"
	"github.com/pnagent/pnagent/stats"
	"github.com/pnagent/pnagent/telemetry/natslink"
)

// ViewHandler answers GET with the JSON form of the View that the function
// returns, see WriteJSON. Ages are as of the request.
func ViewHandler(view func() *View) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.Method != http.MethodGet && r.Method != http.MethodHead {
			w.Header().Set("Allow", "GET, HEAD")
			http.Error(w, "only GET and HEAD", http.StatusMethodNotAllowed)
			return
		}
		w.Header().Set("Content-Type", "application/json")
		w.Header().Set("Cache-Control", "no-store")
		if r.Method == http.MethodGet {
			_ = WriteJSON(w, view(), time.Now().UnixMicro()) // fails only where nobody reads
		}
	})
}

// WriteJSON writes the View as one JSON object and a newline. Names of fields
// never change; fields may be added.
//
// Times are RFC 3339 in UTC with microseconds by the collector's clock, ages
// are seconds as of now (microseconds since the Unix epoch) and 0 where there
// is nothing to have an age, sums and percentiles of durations are seconds. A
// source's epoch is a number, for it only tells processes apart. What no
// source of a net knows is an absent field, never 0; so is a time that never
// was. Names are as in the net's definition; bytes that are not UTF-8 become
// U+FFFD.
func WriteJSON(w io.Writer, v *View, now int64) error {
	enc := json.NewEncoder(w)
	enc.SetEscapeHTML(false)
	return enc.Encode(viewDocument(v, now))
}

type viewDoc struct {
	At         moment      `json:"at"`
	Generation uint64      `json:"generation"`
	Nets       []netDoc    `json:"nets"`
	Sources    []sourceDoc `json:"sources"`
	Traffic    trafficDoc  `json:"traffic"`
	NATS       *natsDoc    `json:"nats,omitempty"`
	Up         *natsDoc    `json:"up_nats,omitempty"` // to the sidecar above, where it is another
	Deaf       bool        `json:"deaf"`              // what is said of sources is from before a break
}

// natsDoc is a connection. While that of the collector is not connected, nothing
// is heard, and what is said of sources is as of since.
type natsDoc struct {
	Connected   bool   `json:"connected"`
	Since       moment `json:"since"`
	Server      string `json:"server,omitempty"` // the last one
	Reason      string `json:"reason,omitempty"` // why it is not connected, or what the server refused
	Disconnects uint64 `json:"disconnects"`
}

type netDoc struct {
	ID          string          `json:"id"`
	Name        string          `json:"name,omitempty"`
	Since       moment          `json:"since"`
	Digests     []digestDoc     `json:"digests"`
	Up          int             `json:"sources_up"`
	Stale       int             `json:"sources_stale"`
	Instances   *instancesDoc   `json:"instances,omitempty"`
	Places      []placeDoc      `json:"places"`
	Transitions []transitionDoc `json:"transitions"`
	Blocks      *[]blockDoc     `json:"blocks,omitempty"`
	Queues      *[]queueDoc     `json:"queues,omitempty"`
	Waiting     *uint64         `json:"waiting,omitempty"`
}

type digestDoc struct {
	Digest  string `json:"digest"`
	Sources int    `json:"sources"`
}

type instancesDoc struct {
	Created    uint64 `json:"created"`
	Finished   uint64 `json:"finished"`
	Failed     uint64 `json:"failed"`
	Active     uint64 `json:"active"`
	Deadlocked uint64 `json:"deadlocked"`
}

type placeDoc struct {
	ID            string        `json:"id"`
	Name          string        `json:"name,omitempty"`
	Final         bool          `json:"final"`
	Tokens        *uint64       `json:"tokens,omitempty"`
	Arrivals      *uint64       `json:"arrivals,omitempty"`
	Departures    *uint64       `json:"departures,omitempty"`
	Instances     *uint64       `json:"instances,omitempty"`
	OldestAge     *float64      `json:"oldest_age_seconds,omitempty"`
	MeanAge       *float64      `json:"mean_age_seconds,omitempty"`
	LastInjection moment        `json:"last_injection,omitzero"`
	OlderThan     olderDoc      `json:"older_than,omitempty"`
	Dwell         *histogramDoc `json:"dwell,omitempty"`
	Slowest       *slowestDoc   `json:"slowest,omitempty"`
	Stuck         *[]tokenDoc   `json:"stuck,omitempty"`
}

// olderDoc is how many tokens are older than each of stats.AgeSteps.
type olderDoc []uint64

// MarshalJSON writes an object with the steps' labels as keys, in their order.
func (d olderDoc) MarshalJSON() ([]byte, error) {
	out := []byte{'{'}
	for i, step := range stats.AgeSteps() {
		if i > 0 {
			out = append(out, ',')
		}
		out = append(strconv.AppendQuote(out, step.Label), ':')
		out = strconv.AppendUint(out, d[i], 10)
	}
	return append(out, '}'), nil
}

type histogramDoc struct {
	Count uint64   `json:"count"`
	Sum   float64  `json:"sum"`
	P50   *float64 `json:"p50,omitempty"` // absent while count is 0
	P95   *float64 `json:"p95,omitempty"`
	P99   *float64 `json:"p99,omitempty"`
}

// slowestDoc is whose token stayed longest, or whose firing took longest, of
// the last minutes.
type slowestDoc struct {
	Instance string  `json:"instance"`
	Seconds  float64 `json:"seconds"`
	At       moment  `json:"at"`
}

type tokenDoc struct {
	Instance string    `json:"instance"`
	Age      float64   `json:"age_seconds"`
	Waits    []waitDoc `json:"waits"`
}

type waitDoc struct {
	Transition string `json:"transition"`
	Reason     string `json:"reason"`
	Place      string `json:"place,omitempty"`
	Count      uint32 `json:"count,omitempty"`
	Until      moment `json:"until,omitzero"`
}

type transitionDoc struct {
	ID         string        `json:"id"`
	Name       string        `json:"name,omitempty"`
	Firings    *uint64       `json:"firings,omitempty"`
	Failures   *uint64       `json:"failures,omitempty"`
	Retries    *uint64       `json:"retries,omitempty"`
	Cancels    *uint64       `json:"cancels,omitempty"`
	Timeouts   *uint64       `json:"timeouts,omitempty"`
	Late       *uint64       `json:"late_answers,omitempty"`
	Enabled    *uint64       `json:"enabled,omitempty"`
	EnabledAge *float64      `json:"enabled_age_seconds,omitempty"`
	Running    *uint64       `json:"running,omitempty"`
	RunningAge *float64      `json:"running_age_seconds,omitempty"`
	LastFiring moment        `json:"last_firing,omitzero"`
	Duration   *histogramDoc `json:"duration,omitempty"`
	Slowest    *slowestDoc   `json:"slowest,omitempty"`
}

type blockDoc struct {
	Transition string `json:"transition"`
	Place      string `json:"place,omitempty"`
	Reason     string `json:"reason"`
	Instances  uint64 `json:"instances"`
}

// queueDoc is what waits for its turn at one priority.
type queueDoc struct {
	Priority      uint8   `json:"priority"`
	Ready         uint64  `json:"ready"`
	OldestAge     float64 `json:"oldest_age_seconds"`
	UnservedAge   float64 `json:"unserved_age_seconds"`
	Served        uint64  `json:"served"`
	QuoteSwitches uint64  `json:"quote_switches"`
}

type sourceDoc struct {
	Name          string  `json:"name"`
	Net           string  `json:"net"`
	Digest        string  `json:"digest"`
	Region        string  `json:"region,omitempty"`
	Fence         uint64  `json:"fence,omitempty"`
	Since         moment  `json:"since,omitzero"`
	Position      *uint64 `json:"position,omitempty"`
	Standbys      *uint64 `json:"standbys,omitempty"`
	Lag           *uint64 `json:"lag,omitempty"`
	RegionStopped string  `json:"region_stopped,omitempty"`
	State         string  `json:"state"`
	Reason        string  `json:"reason,omitempty"`
	Conflict      bool    `json:"conflict,omitempty"`
	Epoch         int64   `json:"epoch"`
	Seq           uint64  `json:"seq"`
	LastHeard     moment  `json:"last_heard"`
	LastHeardAge  float64 `json:"last_heard_age_seconds"`
	Interval      float64 `json:"interval_seconds"`
	Skew          float64 `json:"skew_seconds"`
	SkewBeyond    bool    `json:"skew_beyond"`
	Gaps          uint64  `json:"gaps"`
	Duplicates    uint64  `json:"duplicates"`
	Restarts      uint64  `json:"restarts"`
	Setbacks      uint64  `json:"setbacks"`
}

type trafficDoc struct {
	Messages uint64            `json:"messages"`
	Bytes    uint64            `json:"bytes"`
	Lost     uint64            `json:"lost"`
	Rejected map[string]uint64 `json:"rejected"`
}

// moment is a time in microseconds since the Unix epoch.
type moment int64

// MarshalText returns the time in RFC 3339.
func (m moment) MarshalText() ([]byte, error) {
	return time.UnixMicro(int64(m)).UTC().AppendFormat(nil, "2006-01-02T15:04:05.000000Z07:00"), nil
}

func viewDocument(v *View, now int64) *viewDoc {
	d := &viewDoc{At: moment(v.At), Generation: v.Generation, Nets: []netDoc{}, Sources: []sourceDoc{},
		Traffic: trafficDoc(v.Traffic), NATS: natsDocument(v.NATS), Up: natsDocument(v.Up), Deaf: v.Deaf}
	for _, n := range v.Nets {
		d.Nets = append(d.Nets, netDocument(n, now))
	}
	for i := range v.Sources {
		d.Sources = append(d.Sources, sourceDocument(&v.Sources[i], now))
	}
	return d
}

func natsDocument(c *natslink.State) *natsDoc {
	if c == nil {
		return nil
	}
	return &natsDoc{Connected: c.Connected, Since: moment(c.Since), Server: c.Server, Reason: c.Reason, Disconnects: c.Disconnects}
}

func netDocument(n *Net, now int64) netDoc {
	d := netDoc{ID: n.Name, Name: n.Def.Name, Since: moment(n.Since), Digests: []digestDoc{}, Up: n.Up, Stale: n.Stale,
		Places: make([]placeDoc, len(n.Rows.Places)), Transitions: make([]transitionDoc, len(n.Rows.Transitions))}
	for _, g := range n.Digests {
		d.Digests = append(d.Digests, digestDoc(g))
	}
	cols := n.Rows.Columns
	if cols.Has(stats.ColInstances) {
		i := instancesDoc(n.Rows.Net)
		d.Instances = &i
	}
	for i := range n.Rows.Places {
		d.Places[i] = placeDocument(n, i, now)
	}
	for i := range n.Rows.Transitions {
		d.Transitions[i] = transitionDocument(&n.Def.Transitions[i], &n.Rows.Transitions[i], cols, now)
	}
	if cols.Has(stats.ColBlocks) {
		blocks := make([]blockDoc, 0, len(n.Rows.Blocks))
		for _, b := range n.Rows.Blocks {
			blocks = append(blocks, blockDoc{n.Def.Transitions[b.Transition].ID, placeID(n.Def, b.Place), b.Reason.String(), b.Instances})
		}
		d.Blocks = &blocks
	}
	if cols.Has(stats.ColQueues) {
		queues := queueDocuments(n.Rows.Queues, now)
		d.Queues = &queues
	}
	d.Waiting = known(cols, stats.ColWaiting, n.Rows.Waiting)
	return d
}

func placeDocument(n *Net, i int, now int64) placeDoc {
	def, p, cols := n.Def, &n.Rows.Places[i], n.Rows.Columns
	d := placeDoc{ID: def.Places[i].ID, Name: def.Places[i].Name, Final: n.IsFinal(i),
		Tokens:     known(cols, stats.ColTokens, p.Tokens),
		Arrivals:   known(cols, stats.ColArrivals, p.Arrivals),
		Departures: known(cols, stats.ColDepartures, p.Departures),
		Instances:  known(cols, stats.ColPlaceInstances, p.Instances),
		OldestAge:  known(cols, stats.ColOldest, ageAt(p.Oldest, now)),
		MeanAge:    known(cols, stats.ColOldest|stats.ColTokens, ageAt(p.Injected.Mean(p.Tokens), now)),
		Dwell:      histogramDocument(cols, stats.ColDwell, &p.Dwell),
		Slowest:    slowestDocument(p.Slowest),
	}
	if cols.Has(stats.ColOldest) {
		d.LastInjection = moment(p.LastInjection)
	}
	if cols.Has(stats.ColAges) {
		for _, step := range stats.AgeSteps() {
			d.OlderThan = append(d.OlderThan, p.Ages.InjectedBefore(now-step.Age))
		}
	}
	if cols.Has(stats.ColStuck) {
		stuck := make([]tokenDoc, 0, len(p.Stuck))
		for _, t := range n.Stuck(i) {
			stuck = append(stuck, tokenDoc{Instance: t.Instance, Age: ageAt(t.Injected, now), Waits: waitDocuments(def, t.Waits)})
		}
		d.Stuck = &stuck
	}
	return d
}

func waitDocuments(def *petri.Net, waits []stats.Wait) []waitDoc {
	out := make([]waitDoc, 0, len(waits))
	for _, w := range waits {
		out = append(out, waitDoc{def.Transitions[w.Transition].ID, w.Reason.String(), placeID(def, w.Place), w.Count, moment(w.Until)})
	}
	return out
}

func transitionDocument(def *petri.Transition, t *stats.Transition, cols stats.Columns, now int64) transitionDoc {
	d := transitionDoc{ID: def.ID, Name: def.Name,
		Firings:    known(cols, stats.ColFirings, t.Firings),
		Failures:   known(cols, stats.ColFailures, t.Failures),
		Retries:    known(cols, stats.ColFailures, t.Retries),
		Cancels:    known(cols, stats.ColFailures, t.Cancels),
		Timeouts:   known(cols, stats.ColTimeouts, t.Timeouts),
		Late:       known(cols, stats.ColTimeouts, t.Late),
		Enabled:    known(cols, stats.ColEnabled, t.Enabled),
		EnabledAge: known(cols, stats.ColEnabled, ageAt(t.EnabledSince, now)),
		Running:    known(cols, stats.ColRunning, t.Running),
		RunningAge: known(cols, stats.ColRunning, ageAt(t.RunningSince, now)),
		Duration:   histogramDocument(cols, stats.ColDuration, &t.Duration),
		Slowest:    slowestDocument(t.Slowest),
	}
	if cols.Has(stats.ColLastFiring) {
		d.LastFiring = moment(t.LastFiring)
	}
	return d
}

func queueDocuments(queues []stats.Queue, now int64) []queueDoc {
	out := make([]queueDoc, 0, len(queues))
	for _, q := range queues {
		out = append(out, queueDoc{Priority: q.Priority, Ready: q.Ready, OldestAge: ageAt(q.OldestSince, now),
			UnservedAge: ageAt(q.UnservedSince, now), Served: q.Served, QuoteSwitches: q.QuoteSwitches})
	}
	return out
}

func sourceDocument(s *Source, now int64) sourceDoc {
	return sourceDoc{
		Name: s.Name, Net: s.Net, Digest: s.Digest, Region: s.Region, Fence: s.Fence, State: s.State.String(), Reason: s.Reason, Conflict: s.Conflict,
		Epoch: s.Epoch, Seq: s.Seq, LastHeard: moment(s.LastHeard), LastHeardAge: ageAt(s.LastHeard, now),
		Interval: s.Interval.Seconds(), Skew: s.Skew.Seconds(), SkewBeyond: s.SkewBeyond,
		Since: moment(s.Since), Position: s.Position, Standbys: s.Standbys, Lag: s.Lag, RegionStopped: s.RegionStopped,
		Gaps: s.Gaps, Duplicates: s.Duplicates, Restarts: s.Restarts, Setbacks: s.Setbacks,
	}
}

func histogramDocument(cols, want stats.Columns, h *stats.Histogram) *histogramDoc {
	if !cols.Has(want) {
		return nil
	}
	d := &histogramDoc{Count: h.Count(), Sum: float64(h.Sum) / 1e6}
	if d.Count > 0 {
		p50, p95, p99 := h.Quantile(0.5), h.Quantile(0.95), h.Quantile(0.99)
		d.P50, d.P95, d.P99 = &p50, &p95, &p99
	}
	return d
}

func slowestDocument(s stats.Slowest) *slowestDoc {
	if s.At == 0 {
		return nil
	}
	return &slowestDoc{Instance: s.Instance, Seconds: float64(s.Micros) / 1e6, At: moment(s.At)}
}

// known returns a value, or nil if its columns are absent.
func known[T any](cols, want stats.Columns, v T) *T {
	if !cols.Has(want) {
		return nil
	}
	return &v
}

// ageAt returns the seconds since a time, 0 for none or one to come.
func ageAt(t, now int64) float64 {
	if t == 0 || t > now {
		return 0
	}
	return float64(now-t) / 1e6
}

func placeID(def *petri.Net, place int32) string {
	if place == stats.NoPlace {
		return ""
	}
	return def.Places[place].ID
}
