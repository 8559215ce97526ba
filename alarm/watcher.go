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

const (
	// lookEvery is how often Run looks for a new View.
	lookEvery = 50 * time.Millisecond
	// endWithin is how long Run waits at its end for notifications that are being
	// sent. Another process sends those that remain.
	endWithin = time.Second
)

// Config is what a Watcher is made of.
type Config struct {
	Rules       *Rules                 // nil is DefaultRules
	View        func() *collector.View // the newest View, nil while there is none
	Name        string                 // of this sidecar, in the text of natsDisconnected; "" where there is only one
	ForgetAfter time.Duration          // after which the collector forgets a silent source
	StateFile   string                 // for the next process; "" keeps the state in memory only
	Sinks       []Sink
	// Duty returns whether this process is to notify; nil is always. The Watcher
	// calls release when it has taken one step by that. Until then no other process
	// may be on duty.
	Duty func() (duty Duty, release func())
	// Share sends pages to the other processes of the pair, which give them to Fold,
	// and returns when they are on their way. ask asks those for all that they have.
	// Nil is without others.
	Share func(pages [][]byte, ask bool)
	Log   *slog.Logger // nil logs nothing
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
	cfg    Config
	desk   desk
	mouths []*mouth
	saver  saver
	saved  bool // the file has all changes
	said   string
	stale  bool // something is not shown yet
	inbox  chan message
	wake   chan struct{} // something is in the inbox

	rules     atomic.Pointer[Rules] // to go on with; nil for those that are in use
	state     atomic.Pointer[State]
	digest    atomic.Pointer[string]
	waiting   atomic.Int64 // notifications that were not confirmed
	mu        sync.Mutex   // guards counters and confirmed
	counters  Counters
	confirmed []Change
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
	if cfg.Duty == nil {
		cfg.Duty = func() (Duty, func()) { return Duty{On: true}, func() {} }
	}
	w := &Watcher{cfg: cfg, inbox: make(chan message, inboxLength), wake: make(chan struct{}, 1), saver: saver{write: func(s *Saved) error { return writeState(cfg.StateFile, s) }}}
	w.desk.machine = NewMachine(cfg.Rules, w.before(), cfg.ForgetAfter)
	if cfg.Name != "" {
		w.desk.machine.self = cfg.Name
	}
	w.show()
	for _, s := range cfg.Sinks {
		w.mouths = append(w.mouths, newMouth(s, cfg.Log))
	}
	return w
}

// before returns what the process before this one left.
func (w *Watcher) before() Saved {
	now := time.Now().UnixMicro()
	fresh := Saved{Last: FirstIndex(now)}
	if w.cfg.StateFile == "" {
		return fresh
	}
	saved, at, err := readState(w.cfg.StateFile)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return fresh
	case err != nil:
		w.cfg.Log.Warn("starting without the alarms from before", "error", err, "next_index", fresh.Last+1)
		return fresh
	case w.cfg.Share != nil:
		saved.Last = lastOfAll(saved.Last, at, now)
	}
	return saved
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

// Run looks at every View until ctx ends, and then waits for what is being sent,
// for at most endWithin. It returns nil.
func (w *Watcher) Run(ctx context.Context) error {
	speaking, stop := context.WithCancel(context.WithoutCancel(ctx))
	var mouths sync.WaitGroup
	for _, m := range w.mouths {
		mouths.Go(func() { m.speak(speaking) })
	}
	tick := time.NewTicker(lookEvery)
	defer tick.Stop()
	var seen *collector.View
	for ctx.Err() == nil {
		view := w.cfg.View()
		w.work(view, view != nil && view != seen, time.Now().UnixMicro())
		seen = view
		select {
		case <-w.wake:
		case <-tick.C:
		case <-ctx.Done():
		}
	}
	for end := time.Now().Add(endWithin); w.waiting.Load() > 0 && time.Now().Before(end); {
		<-tick.C
	}
	stop()
	mouths.Wait()
	w.finish()
	return nil
}

// work takes one step by the duty of this moment: it takes up the duty, and looks
// at the View if that is new. The file is written before anybody sees an index, so
// that no index is used again after a crash; only a disk that hangs is not waited
// for.
func (w *Watcher) work(view *collector.View, isNew bool, now int64) {
	duty, release := w.cfg.Duty()
	defer release()
	changes := w.receive(now)
	w.confirm()
	if rules := w.rules.Swap(nil); rules != nil {
		w.desk.machine = w.desk.machine.With(rules)
	}
	changes = append(changes, w.desk.turn(duty, now)...)
	if isNew {
		changes = append(changes, w.desk.machine.Step(view, now)...)
	}
	if isNew || len(changes) > 0 {
		w.save(len(changes) > 0)
		w.stale = true
	}
	w.tell(changes, now)
}

// tell notifies of what changed and of what was kept, as far as this process is to.
// The other processes know before any sink does, so that one that takes over knows
// which notifications may have been sent.
func (w *Watcher) tell(changes []Change, now int64) {
	due := w.desk.notify(changes, now)
	w.share()
	if w.stale = w.stale || len(due) > 0; w.stale {
		w.show()
	}
	for _, n := range due {
		w.log(n)
		w.send(n)
	}
}

// send gives a notification to all sinks.
func (w *Watcher) send(n Notification) {
	var left atomic.Int64
	left.Store(int64(len(w.mouths)))
	w.waiting.Add(1)
	done := func() {
		if left.Add(-1) > 0 {
			return
		}
		w.waiting.Add(-1)
		if n.Suppressed == 0 {
			w.mu.Lock()
			w.confirmed = append(w.confirmed, n.Change)
			w.mu.Unlock()
		}
	}
	for _, m := range w.mouths {
		m.take(delivery{n, done})
	}
	if len(w.mouths) == 0 {
		done()
	}
}

// confirm takes note of the notifications that were sent.
func (w *Watcher) confirm() {
	w.mu.Lock()
	confirmed := w.confirmed
	w.confirmed = nil
	w.mu.Unlock()
	for _, c := range confirmed {
		w.desk.machine.Confirm(c.Alarm.Index, c.Raise)
		w.saved, w.stale = false, true
	}
}

// finish leaves to the next process what was and what was not sent.
func (w *Watcher) finish() {
	w.confirm()
	w.save(false)
	w.share()
	w.show()
}

// show gives everyone else what there is now.
func (w *Watcher) show() {
	m := w.desk.machine
	w.stale = false
	w.state.Store(m.State(w.desk.storm.suppressed))
	digest := m.book.digest()
	w.digest.Store(&digest)
	w.mu.Lock()
	w.counters.Tally, w.counters.Suppressed, w.counters.Skipped = m.Tally(), w.desk.storm.suppressed, w.desk.gate.skipped
	w.mu.Unlock()
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
	err := w.saver.save(w.desk.machine.Saved())
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
