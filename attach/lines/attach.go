// SPDX-License-Identifier: Apache-2.0

package lines

import (
	"bytes"
	"cmp"
	"context"
	"crypto/sha256"
	"fmt"
	"log/slog"
	"sync"
	"sync/atomic"
	"time"

	"github.com/pnagent/pnagent/attach/lines/replay"
	"github.com/pnagent/pnagent/petri"
	"github.com/pnagent/pnagent/petri/pnml"
	"github.com/pnagent/pnagent/petri/xmlscan"
	"github.com/pnagent/pnagent/stats"
	"github.com/pnagent/pnagent/telemetry"
)

// Config configures an Attachment.
type Config struct {
	Nets    []*petri.Tables
	Net     string // id of the net of events with no or another one; "" for the only net, see meant
	Table   *Table // nil for none
	Fields  Fields
	Pattern string // a regular expression with the fields as named groups; "" for JSON lines
	Times   Times

	// Window is how long an event waits for earlier ones; 0 applies events as
	// they come. Held is the largest number of waiting events.
	Window time.Duration
	Held   int

	EndsByEvent bool    // every instance ends by an event, see replay.Config
	Instances   int     // open ones of each net, at most
	Search      int     // see replay.Config
	Speed       float64 // as a multiple of the recorded speed; 0 is unlimited
	AsNow       bool    // events get the time when they are applied

	// Late says that the inputs do not have the events before the start. Tokens are not
	// known, and so absent, until a first line comes, unless the state file has them.
	Late bool

	State string // path of the state file; "" for none
	Log   *slog.Logger
}

// Counters counts what was read since the start.
type Counters struct {
	Lines, Bytes uint64
	Dropped      [reasons]uint64 // by Reason
	Future       uint64          // events more than a minute ahead of the clock, applied as of now
	Undated      uint64          // events without a time, applied as of now
	Hurried      uint64          // events that left the window early because it was full
	Held         uint64          // events in the window now
	Rotated      uint64          // times that a followed file was replaced or truncated
	SaveFailures uint64          // times that the state could not be written
	Unwritten    uint64          // the highest number of dropped events that a writer has reported
}

// Attachment is a telemetry source for engines that write lines. It is safe for
// concurrent use.
type Attachment struct {
	cfg     Config
	names   *names
	meant   *meant   // nil if only own names and aliases mean a net
	pattern *pattern // nil for JSON lines
	defs    []telemetry.SourceNet
	clock   func() int64
	pace    pacer
	started int64     // when New was called
	stateOf time.Time // modification time of the state file that was loaded

	logged [reasons]atomic.Uint32 // lines, by reason

	mu        sync.Mutex // guards the fields below
	nets      []*replay.Replay
	window    window
	counters  Counters
	positions map[string]*position // by path of a followed file
	lastEpoch int64
	epoch     func() int64

	heard  bool   // lines were read, or the state file
	states uint64 // the number of the last state

	saving  sync.Mutex        // held while the state file is written
	written uint64            // the number of the last state in the file; guarded by saving
	savedAt int64             // when it was written, or would have been; guarded by saving
	inFile  [sha256.Size]byte // digest of the state in the file; 0 if that is not known; guarded by saving
}

// New returns an Attachment. It reads the state file if there is one.
func New(cfg Config) (*Attachment, error) {
	cfg.Table = cmp.Or(cfg.Table, &Table{})
	a := &Attachment{cfg: cfg, clock: func() int64 { return time.Now().UnixMicro() }, positions: map[string]*position{}}
	a.pace.speed, a.started = cfg.Speed, a.clock()
	a.window = window{width: cfg.Window.Microseconds(), limit: max(cfg.Held, 1)}
	var err error
	if a.names, err = newNames(cfg.Nets, cfg.Table, cfg.Net); err != nil {
		return nil, err
	}
	if len(cfg.Nets) == 1 && cfg.Net == "" {
		id := cfg.Nets[0].Net.ID
		if entry := cfg.Table.nets[id]; entry == nil || len(entry.aliases) == 0 {
			a.meant = &meant{net: id, log: cfg.Log}
		}
	}
	if cfg.Pattern != "" {
		if a.pattern, err = newPattern(cfg.Pattern, cfg.Fields); err != nil {
			return nil, err
		}
	}
	for _, t := range cfg.Nets {
		var def bytes.Buffer
		if err := pnml.Write(&def, t.Net); err != nil {
			return nil, err
		}
		a.defs = append(a.defs, telemetry.SourceNet{ID: t.Net.ID, PNML: def.Bytes(), Places: t.Places(), Transitions: t.Transitions()})
		n, err := a.replay(t, a.names.labels[len(a.nets)])
		if err != nil {
			return nil, err
		}
		a.nets = append(a.nets, n)
	}
	return a, a.load()
}

// replay returns a new Replay of a net.
func (a *Attachment) replay(t *petri.Tables, labels []label) (*replay.Replay, error) {
	silent, err := a.cfg.Table.silent(t)
	if err != nil {
		return nil, err
	}
	var several [][]int32
	for _, l := range labels {
		several = append(several, l.transitions)
	}
	return replay.New(replay.Config{Tables: t, Silent: silent, Labels: several, AnyEnd: isProcess(t.Net), EndsByEvent: a.cfg.EndsByEvent,
		Limit: max(a.cfg.Instances, 1), Search: a.cfg.Search}), nil
}

// format returns a parser for one more input.
func (a *Attachment) format() format {
	if a.pattern != nil {
		return new(*a.pattern)
	}
	return newJSONLines(a.cfg.Fields)
}

// Publish starts to publish. base has the connection, the source's name and the
// interval; Publish sets its nets and functions.
func (a *Attachment) Publish(base telemetry.Config) (*telemetry.Publisher, error) {
	base.Nets = a.defs
	base.Rows = a.rows
	base.Oldest = a.oldest
	base.Instance = a.instance
	base.LastEpoch = a.lastEpoch
	p, err := telemetry.Start(base)
	if err != nil {
		return nil, err
	}
	a.mu.Lock()
	a.epoch = p.Epoch
	a.mu.Unlock()
	return p, nil
}

// rows fills in the rows of a net. It saves the state before they are
// published, so that after a crash the next process does not publish the same
// counts again.
func (a *Attachment) rows(net int, now int64, into *stats.Rows) error {
	a.mu.Lock()
	a.release(now)
	n := a.nets[net]
	n.Look(now, into)
	n.TakeSlowest(into)
	if a.cfg.Late && !a.heard {
		into.Columns &= countedColumns &^ stats.ColInstances
	}
	if a.cfg.State == "" {
		a.mu.Unlock()
		return nil
	}
	n.Sent()
	state := a.state()
	a.mu.Unlock()
	a.write(state, now)
	return nil
}

// Counters returns the counts so far.
func (a *Attachment) Counters() Counters {
	a.mu.Lock()
	defer a.mu.Unlock()
	c := a.counters
	c.Held = uint64(len(a.window.events))
	return c
}

// NetCounts are the counts of the replay of one net.
type NetCounts struct {
	Net       string   `json:"net"`
	Events    uint64   `json:"events"`
	Unfit     uint64   `json:"unfit"`
	Fitness   *float64 `json:"fitness,omitempty"` // nil if no event was replayed
	Produced  uint64   `json:"produced"`
	Consumed  uint64   `json:"consumed"`
	Missing   uint64   `json:"missing"`
	Remaining uint64   `json:"remaining"`
	Silent    uint64   `json:"silent"`
	Late      uint64   `json:"late"`
	Open      int      `json:"open"` // instances
	Greedy    uint64   `json:"greedy,omitempty"`
	Refused   uint64   `json:"-"`
	Evicted   uint64   `json:"-"`
	Blurred   uint64   `json:"-"`
}

// Nets returns the counts of every net.
func (a *Attachment) Nets() []NetCounts {
	a.mu.Lock()
	defer a.mu.Unlock()
	var out []NetCounts
	for k, n := range a.nets {
		c := &n.Counts
		var fitness *float64
		if c.Events > 0 {
			fitness = new(c.Fitness())
		}
		out = append(out, NetCounts{Net: a.defs[k].ID, Events: c.Events, Unfit: c.Unfit, Fitness: fitness, Produced: c.Produced,
			Consumed: c.Consumed, Missing: c.Missing, Remaining: c.Remaining, Silent: c.Silent, Late: c.Late, Open: n.Open(),
			Refused: c.Refused, Evicted: c.Evicted, Blurred: c.Blurred, Greedy: c.Greedy})
	}
	return out
}

// oldest returns the tokens of a place that a query selects.
func (a *Attachment) oldest(net, place int, q *stats.Query) (stats.Found, error) {
	a.mu.Lock()
	defer a.mu.Unlock()
	return a.nets[net].Find(int32(place), q), nil
}

// instance returns the content of an instance.
func (a *Attachment) instance(net int, name string) (*telemetry.Instance, error) {
	a.mu.Lock()
	held, leftOut, open := a.nets[net].Held(name, telemetry.MaxHeld)
	a.mu.Unlock()
	if !open {
		return nil, fmt.Errorf("instance %q: %w", name, telemetry.ErrNoInstance)
	}
	of := a.cfg.Nets[net].Net
	out := &telemetry.Instance{Instance: name, At: a.clock(), LeftOut: leftOut}
	for _, h := range held {
		t := telemetry.InstanceToken{Place: of.Places[h.Place].ID, Tokens: h.Tokens, Injected: h.Injected}
		for _, w := range h.Waits {
			t.Waits = append(t.Waits, telemetry.NewInstanceWait(of, w))
		}
		out.Tokens = append(out.Tokens, t)
	}
	return out, nil
}

// release applies the events that have waited for the window.
func (a *Attachment) release(now int64) {
	a.window.idle(now, a.apply)
}

// apply applies one event to its replay.
func (a *Attachment) apply(e *event) {
	n, fit := a.nets[e.net], true
	switch e.kind {
	case fires:
		fit = n.FireLabel(e.instance, e.index, e.next, e.time)
	case puts:
		fit = n.Put(e.instance, int(e.index), e.tokens, e.time)
	case ends:
		n.End(e.instance, e.time)
	}
	if !fit && a.shows(Taken) {
		a.cfg.Log.Warn("an event does not fit the net and is repaired", "net", a.defs[e.net].ID, "instance", string(e.instance),
			"event", a.called(e), "time", time.UnixMicro(e.time).UTC())
	}
}

// called returns the id of the transition or the place of an event, or the name
// that several transitions have.
func (a *Attachment) called(e *event) string {
	if transitions := a.cfg.Nets[e.net].Net.Transitions; e.kind == fires && int(e.index) >= len(transitions) {
		return a.names.labels[e.net][int(e.index)-len(transitions)].name
	} else if e.kind == fires {
		return transitions[e.index].ID
	}
	return a.cfg.Nets[e.net].Net.Places[e.index].ID
}

// shownOfEach bounds the logged lines of each reason; the counters count all.
const shownOfEach = 5

// shows reports whether one more line of a reason is logged. Events that do not
// fit the marking count under Taken.
func (a *Attachment) shows(why Reason) bool {
	return why != Ignored && a.logged[why].Load() < shownOfEach && a.logged[why].Add(1) <= shownOfEach
}

// show logs a line that is not an event.
func (a *Attachment) show(why Reason, line []byte) {
	if a.shows(why) {
		a.cfg.Log.Warn("line is not an event", "reason", why.String(), "line", xmlscan.Clip(string(line), shownBytes))
	}
}

// shownBytes bounds the logged part of a line.
const shownBytes = 300

// Run applies events that have waited for the window, and saves the state,
// every interval until ctx ends. Then it applies the remaining events.
func (a *Attachment) Run(ctx context.Context, interval time.Duration) error {
	if interval <= 0 {
		return fmt.Errorf("interval of %v; expected more than 0", interval)
	}
	tick := time.NewTicker(interval)
	defer tick.Stop()
	for {
		select {
		case <-ctx.Done():
			a.Flush()
			return nil
		case <-tick.C:
		}
		now := a.clock()
		a.mu.Lock()
		a.release(now)
		a.mu.Unlock()
		a.saving.Lock()
		due := now-a.savedAt >= interval.Microseconds()
		a.saving.Unlock()
		if due {
			a.Save()
		}
	}
}

// Flush applies the events in the window.
func (a *Attachment) Flush() {
	a.mu.Lock()
	defer a.mu.Unlock()
	a.window.all(a.apply)
}
