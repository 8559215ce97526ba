// SPDX-License-Identifier: Apache-2.0

package alarm

import (
	"context"
	"errors"
	"io/fs"
	"log/slog"
	"sync"
	"sync/atomic"
	"time"

	"github.com/pnagent/pnagent/collector"
)

// lookEvery is how often Run looks for a new View.
const lookEvery = 50 * time.Millisecond

// Config is what a Watcher is made of.
type Config struct {
	Rules       *Rules                 // nil is DefaultRules
	View        func() *collector.View // the newest View, nil while there is none
	ForgetAfter time.Duration          // after which the collector forgets a silent source
	StateFile   string                 // for the next process; "" keeps the state in memory only
	Sinks       []Sink
	// OnDuty tells whether this process is to notify, and if so from when on
	// (microseconds since the Unix epoch) changes may not have been told by
	// another; nil is always. While it is not, changes are kept for 30 s.
	OnDuty func() (from int64, on bool)
	Log    *slog.Logger // nil logs nothing
}

// Counters are what a Watcher did since it was made.
type Counters struct {
	Tally
	Suppressed   uint64 // notifications held back
	Skipped      Skipped
	SaveFailures uint64 // times the state could not be written
	Sinks        []SinkCounters
}

// Watcher lets a Machine look at each View, and tells what it finds: as a
// State for the faces, as a file for the next process, and as notifications.
type Watcher struct {
	cfg     Config
	machine *Machine
	gate    gate
	storm   storm
	mouths  []*mouth
	saver   saver
	saved   bool // the file has all changes
	said    string

	rules    atomic.Pointer[Rules] // to go on with; nil for those that are in use
	state    atomic.Pointer[State]
	mu       sync.Mutex // guards counters
	counters Counters
}

// New makes a Watcher that goes on where the process before it stopped, if
// there is a state file. One that is damaged is logged and counts for nothing;
// then the indices go on far beyond those in use, see FirstIndex.
func New(cfg Config) *Watcher {
	if cfg.Rules == nil {
		cfg.Rules = DefaultRules()
	}
	if cfg.Log == nil {
		cfg.Log = slog.New(slog.DiscardHandler)
	}
	if cfg.OnDuty == nil {
		cfg.OnDuty = func() (int64, bool) { return 0, true }
	}
	w := &Watcher{cfg: cfg, saver: saver{write: func(s *Saved) error { return writeState(cfg.StateFile, s) }}}
	saved := Saved{Last: FirstIndex(time.Now().UnixMicro())}
	if cfg.StateFile != "" {
		before, err := readState(cfg.StateFile)
		switch {
		case err == nil:
			saved = before
		case !errors.Is(err, fs.ErrNotExist):
			cfg.Log.Warn("starting without the alarms from before", "error", err, "next_index", saved.Last+1)
		}
	}
	w.machine = NewMachine(cfg.Rules, saved, cfg.ForgetAfter)
	w.state.Store(w.machine.State(0))
	for _, s := range cfg.Sinks {
		w.mouths = append(w.mouths, newMouth(s, cfg.Log))
	}
	return w
}

// Reload gives the Watcher other rules, which hold from the next View on, see
// Machine.With; nil is DefaultRules. It may be called by any goroutine.
func (w *Watcher) Reload(rules *Rules) {
	if rules == nil {
		rules = DefaultRules()
	}
	w.rules.Store(rules)
}

// State returns what is wrong as of the last View; never nil. It may be called
// by any goroutine.
func (w *Watcher) State() *State { return w.state.Load() }

// Counters returns what was done so far. It may be called by any goroutine.
func (w *Watcher) Counters() Counters {
	w.mu.Lock()
	c := w.counters
	w.mu.Unlock()
	for _, m := range w.mouths {
		c.Sinks = append(c.Sinks, m.counters())
	}
	return c
}

// Run looks at every View until ctx ends. It returns nil.
func (w *Watcher) Run(ctx context.Context) error {
	var speaking sync.WaitGroup
	for _, m := range w.mouths {
		speaking.Go(func() { m.speak(ctx) })
	}
	defer speaking.Wait()
	tick := time.NewTicker(lookEvery)
	defer tick.Stop()
	var seen *collector.View
	for {
		if view := w.cfg.View(); view != nil && view != seen {
			seen = view
			w.look(view, time.Now().UnixMicro())
		} else if _, on := w.cfg.OnDuty(); on && len(w.gate.kept) > 0 {
			w.tell(nil, time.Now().UnixMicro())
		}
		select {
		case <-tick.C:
		case <-ctx.Done():
			return nil
		}
	}
}

// look takes one step. The file is written before anybody sees an index, so
// that no index is used again after a crash; only a disk that hangs is not
// waited for.
func (w *Watcher) look(view *collector.View, now int64) {
	if rules := w.rules.Swap(nil); rules != nil {
		w.machine = w.machine.With(rules)
	}
	changes := w.machine.Step(view, now)
	w.save(len(changes) > 0)
	w.tell(changes, now)
}

// tell notifies of what changed, and of what was kept, if this process is on
// duty.
func (w *Watcher) tell(changes []Change, now int64) {
	from, on := w.cfg.OnDuty()
	changes = w.gate.pass(changes, now, on, from)
	var due []Notification
	if on {
		due = w.storm.pass(changes, now)
	}
	w.state.Store(w.machine.State(w.storm.suppressed))
	w.mu.Lock()
	w.counters.Tally, w.counters.Suppressed, w.counters.Skipped = w.machine.Tally(), w.storm.suppressed, w.gate.skipped
	w.mu.Unlock()
	for _, n := range due {
		w.log(n)
		for _, m := range w.mouths {
			m.take(n)
		}
	}
}

// log tells what is notified, so that a storm does not fill the log either.
func (w *Watcher) log(n Notification) {
	if n.Suppressed != 0 {
		w.cfg.Log.Warn("too many alarms changed at once to tell of each", "suppressed", n.Suppressed)
		return
	}
	what, a := "alarm cleared", &n.Alarm
	if n.Raise {
		what = "alarm raised"
	}
	w.cfg.Log.Info(what, "index", a.Index, "alarm", a.Kind.String(), "net", a.Net, "subject", a.Subject, "text", a.Text)
}

// save writes the state if something of it changed, or could not be written
// before. What is wrong is logged unless that was said just before.
func (w *Watcher) save(changed bool) {
	if w.cfg.StateFile == "" || w.saved && !changed {
		return
	}
	err := w.saver.save(w.machine.Saved())
	if w.saved = err == nil; w.saved {
		w.said = ""
		return
	}
	w.mu.Lock()
	w.counters.SaveFailures++
	w.mu.Unlock()
	if err.Error() != w.said {
		w.said = err.Error()
		w.cfg.Log.Error("saving the alarms; a restart would raise them anew", "error", err)
	}
}
