// SPDX-License-Identifier: Apache-2.0

package watch

import (
	"cmp"
	"context"
	"log/slog"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"github.com/pnagent/pnagent/collector/alarm"
	"github.com/pnagent/pnagent/collector/merge"
	"github.com/pnagent/pnagent/internal/latest"
)

// endWithin is how long Run waits at its end for notifications that are being sent. Another
// process sends those that remain.
const endWithin = time.Second

// Config configures a Watcher.
type Config struct {
	Rules       *alarm.Rules       // nil is alarm.DefaultRules
	Views       <-chan *merge.View // from Collector.Subscribe; nil for none
	Name        string             // of this sidecar, in the text of natsDisconnected; "" if there is only one
	ForgetAfter time.Duration      // after which the collector forgets a silent source
	StateFile   string             // for the next process; "" keeps the state in memory only
	NotesFile   string             // the same for acknowledgements, silences and cleared alarms
	History     int                // cleared alarms to keep, at most alarm.MaxHistory; 0 is alarm.DefaultHistory
	Sinks       []Sink
	// Duty returns the duty of this process; nil is always on. The Watcher calls release
	// after one step by that duty. Until then no other process may take the duty.
	Duty func() (duty alarm.Duty, release func())
	// Turned receives after the duty has changed; nil for a duty that never changes.
	Turned <-chan struct{}
	// Need is called with the time at which a View is needed although sources may report
	// nothing new, in microseconds since the Unix epoch: conditions begin and end by time.
	// It returns at once; nil is for Views that arrive in any case.
	Need func(at int64)
	// Share publishes pages to the other processes of the pair, which pass them to
	// Fold. With ask it requests all their alarms. Nil is a process without a pair.
	Share func(pages [][]byte, ask bool)
	// ShareNotes publishes pages of notes to the other processes of the pair, which pass
	// them to FoldNotes. It is nil if Share is nil.
	ShareNotes func(pages [][]byte)
	// ShareSent publishes to them which escalations were taken, for FoldSent. Nil is a process without a pair.
	ShareSent func(page []byte)
	Log       *slog.Logger // nil logs nothing
}

// Watcher runs a Machine on each View. It publishes the ActiveSet, writes the state file,
// sends notifications and takes notes of operators.
type Watcher struct {
	cfg             Config
	core            *alarm.Coordinator
	senders         []*sender
	file, notesFile stateFile
	stale           bool          // a change is not published yet
	shown           alarm.Figures // as of the last show
	inbox           chan mail
	wake            chan struct{} // there is a message, a confirmation, or other rules
	orders          chan func(now int64)

	role                role                     // as of the last step
	other               atomic.Pointer[reloaded] // to use from the next step on; nil for no change
	state               latest.Value[alarm.ActiveSet]
	digest, notesDigest atomic.Pointer[string]
	waiting             atomic.Int64 // notifications that were not confirmed
	mu                  sync.Mutex   // guards counters and confirmed, and changes of senders
	counters            alarm.Counters
	confirmed           []alarm.Change
	escalated           []alarm.Escalated // that recipients took
}

// New returns a Watcher that starts with the alarms of the state file. Of a damaged file it
// mends one bit. If there is more damage it starts without alarms, and with an index beyond
// all that the file, the notes and FirstIndex have. It logs and renames a damaged file.
func New(cfg Config) *Watcher {
	cfg.Rules = cmp.Or(cfg.Rules, alarm.DefaultRules())
	cfg.Log = cmp.Or(cfg.Log, slog.New(slog.DiscardHandler))
	if cfg.Need == nil {
		cfg.Need = func(int64) {}
	}
	cfg.History = min(cmp.Or(max(cfg.History, 0), alarm.DefaultHistory), alarm.MaxHistory)
	if cfg.Duty == nil {
		cfg.Duty = func() (alarm.Duty, func()) { return alarm.Duty{On: true}, func() {} }
	}
	w := &Watcher{cfg: cfg, inbox: make(chan mail, inboxLength), wake: make(chan struct{}, 1), orders: make(chan func(int64)),
		file:      stateFile{content: alarmsContent, write: writeState, path: cfg.StateFile, what: "cannot save the alarms; a restart would raise them again"},
		notesFile: stateFile{content: notesContent, write: writeState, path: cfg.NotesFile, what: "cannot save acknowledgements and silences; a restart would lose them"}}
	noted := w.notesBefore()
	saved := w.before(noted.Largest())
	w.core = alarm.NewCoordinator(alarm.Start{Rules: cfg.Rules, Saved: saved, Noted: noted, History: cfg.History, ForgetAfter: cfg.ForgetAfter, Name: cfg.Name}, time.Now().UnixMicro())
	w.show()
	for _, s := range cfg.Sinks {
		w.senders = append(w.senders, newSender(s, cfg.Log))
	}
	return w
}

// reloaded is what Reload leaves for the next step.
type reloaded struct {
	rules  *alarm.Rules
	queues []Sink
}

// Reload replaces the rules from the next step on, see Machine.With, and the sinks with a Queue, which
// are those of the rules; nil is DefaultRules. It is safe for concurrent use.
func (w *Watcher) Reload(rules *alarm.Rules, queues ...Sink) {
	w.other.Store(&reloaded{cmp.Or(rules, alarm.DefaultRules()), queues})
	w.rouse()
}

// reload uses the rules and sinks that Reload left.
func (w *Watcher) reload(now int64) {
	other := w.other.Swap(nil)
	if other == nil {
		return
	}
	w.core.Reload(other.rules, now)
	senders := slices.DeleteFunc(slices.Clone(w.senders), func(s *sender) bool { return s.sink.Queue != nil })
	for _, sink := range other.queues {
		senders = append(senders, newSender(sink, w.cfg.Log))
	}
	w.mu.Lock()
	w.senders, w.role = senders, role{} // all queues receive the duty again
	w.mu.Unlock()
}

// rouse makes Run look at what other goroutines have left for it.
func (w *Watcher) rouse() {
	select {
	case w.wake <- struct{}{}:
	default: // Run is already woken
	}
}

// State returns the ActiveSet of the last View; never nil. It is safe for concurrent use.
func (w *Watcher) State() *alarm.ActiveSet { return w.state.Load() }

// Subscribe returns a channel of States with one slot: it holds the newest State that
// was not received. The first is the current one. Each subscriber needs its own channel.
func (w *Watcher) Subscribe() <-chan *alarm.ActiveSet { return w.state.Subscribe() }

// Counters returns the counters. It is safe for concurrent use.
func (w *Watcher) Counters() alarm.Counters {
	w.mu.Lock()
	c, senders := w.counters, w.senders
	w.mu.Unlock()
	for _, s := range senders {
		c.Sinks = append(c.Sinks, s.counters())
	}
	return c
}

// Run handles Views until ctx ends, and then waits at most endWithin for notifications
// that are being sent. It returns nil.
func (w *Watcher) Run(ctx context.Context) error {
	sending, stop := context.WithCancel(context.WithoutCancel(ctx))
	var senders sync.WaitGroup
	for _, s := range w.senders {
		senders.Go(func() { s.run(sending) })
	}
	timer := time.NewTimer(0) // the duty is known from the start
	defer timer.Stop()
	for ctx.Err() == nil {
		var view *merge.View
		select {
		case view = <-w.cfg.Views:
		case <-w.wake:
		case <-w.cfg.Turned:
		case obey := <-w.orders:
			obey(time.Now().UnixMicro())
		case <-timer.C:
		case <-ctx.Done():
			continue
		}
		now := time.Now().UnixMicro()
		w.work(view, now)
		timer.Stop()
		if due := w.core.Due(now); due != 0 {
			timer.Reset(time.Duration(due-now) * time.Microsecond)
		}
	}
	late := time.NewTimer(endWithin)
	defer late.Stop()
	for left := true; left && w.waiting.Load() > 0; {
		select {
		case <-w.wake:
		case <-late.C:
			left = false
		}
	}
	stop()
	senders.Wait()
	w.finish()
	return nil
}

// work takes one step by the current duty, and judges the View if there is a new one. It
// writes the file before it publishes an index, so that no index is used again after a
// crash; it does not wait for a disk that hangs.
func (w *Watcher) work(view *merge.View, now int64) {
	duty, release := w.cfg.Duty()
	defer release()
	changes := w.receive(now)
	w.confirm()
	w.reload(now)
	changes = append(changes, w.core.Turn(duty, now)...)
	w.turn(duty)
	if view != nil {
		changes = append(changes, w.core.Step(view, now)...)
	}
	w.takeNotes(view != nil, now)
	changed := w.core.TakeUnsaved() || len(changes) > 0
	if view != nil || changed {
		w.save(changed)
		w.stale = w.stale || changed
	}
	if view != nil {
		w.compare(now)
		w.cfg.Need(w.core.NeedsView())
	}
	w.notify(changes, now)
}

// compare compares the alarms with those that the process on duty has announced.
func (w *Watcher) compare(now int64) {
	n := w.core.Unannounced(now)
	w.mu.Lock()
	before := w.counters.Unannounced
	w.counters.Unannounced = n
	w.mu.Unlock()
	switch {
	case n > 0 && before == 0:
		w.cfg.Log.Error("the sidecar on duty has not announced alarms that this one sees: it may be forged, or configured differently", "alarms", n)
	case n == 0 && before > 0:
		w.cfg.Log.Info("the sidecar on duty has announced what this one sees, or it is over")
	}
}

// notify sends the notifications that are due. It shares changes before it sends them, so
// that a process that takes over has those that may have been sent.
func (w *Watcher) notify(changes []alarm.Change, now int64) {
	due := w.core.Notify(changes, now)
	w.share()
	if w.stale || len(due) > 0 || w.shown != w.core.Figures() {
		w.show()
	}
	for _, n := range due {
		w.log(&n)
		w.send(n)
	}
}

// role is what queues know of the duty.
type role struct{ known, on, elsewhere bool }

// turn passes to the queues of recipients which process has the duty.
func (w *Watcher) turn(duty alarm.Duty) {
	now := role{true, duty.On, duty.Elsewhere}
	if now == w.role {
		return
	}
	w.role = now
	for _, s := range w.senders {
		if s.sink.Queue != nil {
			s.sink.Queue.Duty(duty.On, duty.Elsewhere)
		}
	}
}

// send queues a notification for its sinks.
func (w *Watcher) send(n alarm.Notification) {
	var to []*sender
	for _, s := range w.senders {
		if s.sink.gets(&n) {
			to = append(to, s)
		}
	}
	var left atomic.Int64
	left.Store(int64(len(to)))
	w.waiting.Add(1)
	done := func() {
		if left.Add(-1) > 0 {
			return
		}
		w.mu.Lock()
		switch {
		case n.Reminder.Escalated:
			w.escalated = append(w.escalated, alarm.Escalated{Index: n.Alarm.Index, To: n.To[0]})
		case n.Suppressed == 0 && n.Reminder == alarm.Reminder{}:
			w.confirmed = append(w.confirmed, n.Change)
		}
		w.mu.Unlock()
		w.waiting.Add(-1)
		w.rouse()
	}
	for _, s := range to {
		s.enqueue(delivery{Notification: n, done: done})
	}
	if len(to) == 0 {
		left.Store(1)
		done()
	}
}

// confirm confirms the notifications that were sent.
func (w *Watcher) confirm() {
	w.mu.Lock()
	confirmed, escalated := w.confirmed, w.escalated
	w.confirmed, w.escalated = nil, nil
	w.mu.Unlock()
	for _, c := range confirmed {
		w.core.Confirm(c)
		w.file.saved, w.stale = false, true
	}
	news := slices.DeleteFunc(escalated, func(c alarm.Escalated) bool { return !w.core.ConfirmEscalation(c) })
	w.shareSent(news)
}

// finish saves and shares for the next process which notifications were sent.
func (w *Watcher) finish() {
	w.confirm()
	w.save(false)
	w.share()
	w.show()
}

// show publishes the ActiveSet, the digest and the counters.
func (w *Watcher) show() {
	w.stale, w.shown = false, w.core.Figures()
	w.state.Store(w.core.State())
	digest, notesDigest := w.core.Digest(), w.core.NotesDigest()
	w.digest.Store(&digest)
	w.notesDigest.Store(&notesDigest)
	w.mu.Lock()
	w.counters.Figures = w.shown
	w.mu.Unlock()
}

// log logs notifications and not changes, so that a storm does not fill the log.
func (w *Watcher) log(n *alarm.Notification) {
	if n.Suppressed != 0 {
		w.cfg.Log.Warn("suppressed notifications: too many alarms changed at once", "suppressed", n.Suppressed)
		return
	}
	what, a := "alarm cleared", &n.Alarm
	switch {
	case n.Reminder.Escalated:
		what = "alarm escalated"
	case n.Reminder.Due != 0:
		what = "reminder of an alarm"
	case n.Raise:
		what = "alarm raised"
	}
	w.cfg.Log.Info(what, "index", a.Index, "alarm", a.Kind.String(), "severity", a.Severity.String(), "net", a.Net, "subject", a.Subject, "reason", a.Reason().String(), "instance", a.Why.Instance, "text", a.Text)
}

// save writes the state if it changed or the last write failed.
func (w *Watcher) save(changed bool) {
	if w.file.path == "" || w.file.saved && !changed {
		return
	}
	state := w.core.Saved()
	w.write(&w.file, state.Text)
}

// write writes a file. It logs each error once.
func (w *Watcher) write(f *stateFile, text func() []byte) {
	if f.path == "" {
		return
	}
	before := f.lastErr
	err := f.save(text)
	if err == nil {
		return
	}
	w.mu.Lock()
	w.counters.SaveFailures++
	w.mu.Unlock()
	if err.Error() != before {
		w.cfg.Log.Error(f.what, "err", err)
	}
}
