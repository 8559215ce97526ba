// SPDX-License-Identifier: Apache-2.0

package region

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"github.com/nats-io/nats.go"

	"github.com/pnagent/pnagent/engine"
	"github.com/pnagent/pnagent/journal"
	"github.com/pnagent/pnagent/telemetry"
)

// replica is what this process has of one part.
type replica struct {
	member *Member
	part   *Part
	order  atomic.Pointer[[]string] // who is to own the part, best first
	report *engine.Report           // of the last time that it was owned; after run

	mu      sync.Mutex
	role    Role
	engine  *engine.Engine  // nil while Away
	log     Log             // the part's, while it is followed or led
	sure    engine.Standing // what cannot be lost, of an owner and of who is about to be one; else none
	stopped string          // why the part stands still; "" if it does not

	led   uint64                      // the last epoch in which this process owned the part; of run
	shown func(context.Context) error // ends what show has begun; nil if nothing is shown; of run
}

// Why a session ends that nothing is wrong with.
var (
	errLeads   = errors.New("this member owns the part")
	errAway    = errors.New("others follow the part")
	errFaster  = errors.New("another process was faster")
	errDone    = errors.New("the firings are done")
	errDeposed = errors.New("another member owns the part in a higher epoch")
	errDeaf    = errors.New("nothing is heard from NATS, not even this member's own beats")
)

// ErrUnusable is wrapped by an error of Config.Open that no patience mends, such
// as a stream with settings that no log can have. Run ends with it.
var ErrUnusable = errors.New("the log can not be used")

// errLost is the end of a part whose upstream log was removed too early.
var errLost = errors.New("commits were removed before they were read, and the tokens with them")

// How long a replica waits before it begins anew: longer each time that it does
// not come to follow the part.
const (
	retryAfter = 50 * time.Millisecond
	retryMost  = 2 * time.Second
)

func newReplica(m *Member, p *Part) *replica {
	r := &replica{member: m, part: p, role: Away}
	r.order.Store(new([]string))
	return r
}

// run follows and leads the part, again and again, until ctx ends, the firings
// are done, or the part can not be played.
func (r *replica) run(ctx context.Context) error {
	defer r.hide(ctx)
	told := quiet{log: r.member.cfg.Log.With("part", r.part.Name)}
	lost := 0 // sessions in a row that ended as hopeless
	for wait := retryAfter; ctx.Err() == nil; {
		followed, err := false, errAway
		if r.wanted() {
			followed, err = r.session(ctx)
		}
		r.become(Away, nil)
		if rewritten(err) {
			r.halt(err.Error())
			if !followed {
				r.show(ctx)
			}
		}
		if wait = min(2*wait, retryMost); followed || errors.Is(err, errAway) {
			wait = retryAfter
		}
		switch {
		case ctx.Err() != nil, errors.Is(err, errDone):
			return nil // how the last session ended has been logged; that it did is what was wanted
		case hopeless(err) && (final(err) || lost >= hopelessTimes-1):
			return fmt.Errorf("part %q: %w", r.part.Name, err)
		case errors.As(err, new(handOver)):
			told.log.Info("the part was handed over", "reason", err)
		case errors.Is(err, errMended):
			told.log.Info("the part is played on", "reason", err)
		case errors.Is(err, errFaster):
			told.log.Info("the part is followed anew", "reason", err)
		case err != nil && !errors.Is(err, errAway):
			told.warn("the part is followed anew", err, time.Now())
		}
		if hopeless(err) {
			lost++
		} else if followed {
			lost = 0
		}
		timer := time.NewTimer(wait)
		select {
		case <-ctx.Done():
		case <-timer.C:
		}
		timer.Stop()
	}
	return nil
}

// hopelessTimes is how many sessions in a row have to find a log damaged, or
// commits removed, before that is believed: of a log with replicas one may be
// wrong, and each session reads from another one than those before.
const hopelessTimes = 5

// final reports whether an error is no matter of what a log holds: nothing that is
// read again changes it.
func final(err error) bool {
	return errors.Is(err, engine.ErrConfig) || errors.Is(err, ErrUnusable) || errors.Is(err, nats.ErrConnectionClosed)
}

// hopeless reports whether no later session can end otherwise: what is to be
// played is not what the log is of, the log is damaged, or tokens are lost. All
// other errors are those of servers and connections, which heal, and of owners
// that were replaced.
func hopeless(err error) bool {
	for _, cause := range []error{engine.ErrConfig, engine.ErrJournal, engine.ErrReplay, ErrUnusable, errLost, nats.ErrConnectionClosed} {
		if errors.Is(err, cause) {
			return true
		}
	}
	return false
}

// wanted reports whether this member is to own the part or to stand by.
func (r *replica) wanted() bool {
	at := r.place()
	n := r.member.cfg.Standbys
	return at >= 0 && (n == 0 || at <= n)
}

// place returns this member's place in the order for the part; -1 before it has
// one.
func (r *replica) place() int {
	return slices.Index(*r.order.Load(), r.member.cfg.Engine.Source)
}

// become notes what the process is to the part, and has the others hear. Of who
// becomes the owner all that it has read and written is confirmed: the others
// must never hear of a cursor that is not, because what is before it is removed.
func (r *replica) become(role Role, e *engine.Engine) {
	var sure engine.Standing
	if role == Owner {
		sure = e.Standing()
	}
	r.mu.Lock()
	r.role, r.engine, r.sure = role, e, sure
	if role != Away {
		r.stopped = ""
	}
	r.mu.Unlock()
	r.member.tell()
}

// said returns what the member says of the part.
func (r *replica) said() BeatPart {
	r.mu.Lock()
	defer r.mu.Unlock()
	b := BeatPart{Part: r.part.Name, Role: r.role, Stopped: r.stopped}
	if r.engine == nil {
		return b
	}
	s := r.sure
	if s.Position == 0 {
		s = r.engine.Standing()
	}
	b.Epoch, b.Position, b.Chain = s.Epoch, s.Position, s.Chain
	if r.role == Owner && len(s.Cursors) > 0 {
		b.Cursors, b.Marks = make(map[string]uint64, len(s.Cursors)), make(map[string]engine.Mark, len(s.Cursors))
		for i, c := range s.Cursors {
			b.Cursors[r.part.Upstream[i]], b.Marks[r.part.Upstream[i]] = c.Position, c.Mark
		}
	}
	return b
}

// use says which log the part has at present; nil for none.
func (r *replica) use(log Log) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.log = log
}

// session follows the part's log from its newest snapshot, and when it is this
// member's turn leads the part. It returns when the log or this member is done
// with the other, and whether it had come as far as to follow the log.
func (r *replica) session(ctx context.Context) (followed bool, err error) {
	m := r.member
	log, err := m.cfg.Open(ctx, r.part.Name, r.keep)
	if err != nil {
		return false, fmt.Errorf("opening the log: %w", err)
	}
	r.use(log)
	defer func() {
		r.use(nil)
		_ = log.Close() // an owner has waited for all its commits
	}()
	upstream, err := r.openUpstream(ctx)
	defer func() {
		if hopeless(err) && !final(err) || rewritten(err) {
			for _, read := range append(upstream, log) {
				read.Doubt()
			}
		}
		for _, up := range upstream {
			_ = up.Close() // it was only read
		}
	}()
	if err != nil {
		return false, err
	}
	cfg := m.cfg.Engine
	part := r.part.Part
	part.State = r.state
	cfg.Journal, cfg.Part = log, &part
	e, err := engine.Open(ctx, cfg)
	if errors.Is(err, journal.ErrAhead) {
		err = fmt.Errorf("the log has lost commits that its newest snapshot holds: %w", err)
	}
	if err != nil {
		return false, faster(err)
	}
	r.hide(ctx)
	r.become(Standby, e)
	var reader sync.WaitGroup
	defer reader.Wait()
	if err := r.follow(ctx, log, e, &reader); err != nil {
		return true, faster(err)
	}
	return true, r.lead(ctx, e, upstream)
}

// faster marks the error of a member that has not owned the part, if it is that
// another one has written into the log.
func faster(err error) error {
	if errors.Is(err, journal.ErrNotLast) {
		return fmt.Errorf("%w: %w", errFaster, err)
	}
	return err
}

// openUpstream opens the logs of the upstream parts, of which an owner has
// nothing to wait for any more but what comes. It returns those that it has
// opened with an error too.
func (r *replica) openUpstream(ctx context.Context) (logs []Log, err error) {
	for _, name := range r.part.Upstream {
		log, err := r.member.cfg.Open(ctx, name, nil)
		if err != nil {
			return logs, fmt.Errorf("opening the log of %q upstream: %w", name, err)
		}
		logs = append(logs, log)
	}
	return logs, nil
}

// follow reads the log until this member owns the part, which is nil. The reader
// may then still have to let go of the log.
func (r *replica) follow(ctx context.Context, log Log, e *engine.Engine, reader *sync.WaitGroup) error {
	reading, stop := context.WithCancel(ctx)
	defer stop()
	w := &watch{}
	ended := make(chan error, 1)
	reader.Go(func() {
		err := log.Follow(reading, e.Standing().Position+1, func(c journal.Commit) error {
			if err := e.Follow(c); err != nil {
				return err
			}
			w.heard.Store(true)
			if r.inherits(e) {
				if err := r.take(ctx, e); err != nil {
					return err
				}
				ended <- errLeads // at once
				return errLeads
			}
			return nil
		})
		if !errors.Is(err, errLeads) {
			ended <- err
		}
	})
	over := func(err error) error {
		if errors.Is(err, errLeads) {
			return nil
		}
		return err
	}
	ticker := time.NewTicker(lookEvery)
	defer ticker.Stop()
	for {
		select {
		case err := <-ended:
			return over(err)
		case now := <-ticker.C:
			switch {
			case !r.wanted():
				stop()
				if err := over(<-ended); err == nil {
					return nil
				}
				return errAway
			case r.takesOver(w, now), r.inherits(e):
				stop()
				if err := <-ended; !errors.Is(err, context.Canceled) {
					return over(err)
				}
				s := e.Standing()
				ok, err := fits(ctx, log, s.At())
				if err == nil && !ok { // commits of others have the numbers of those that were read
					err = engine.ErrRewritten
				}
				if err != nil {
					return fmt.Errorf("the log up to commit %d: %w", s.Position, err)
				}
				return r.take(ctx, e)
			}
		}
	}
}

// take makes this member the owner. The engine counts as written at once what
// says so, and another member may have been faster: until it is known, this one
// says how far it has read.
func (r *replica) take(ctx context.Context, e *engine.Engine) error {
	s := e.Standing()
	r.mu.Lock()
	r.sure = s
	r.mu.Unlock()
	return e.Lead(ctx)
}

// inherits reports whether this member is the one to take a part that was
// released: for it, or for nobody and it comes first without who has let go.
func (r *replica) inherits(e *engine.Engine) bool {
	source := r.member.cfg.Engine.Source
	heir, from, free := e.Free()
	if !free || heir != "" {
		return free && heir == source
	}
	for _, m := range *r.order.Load() {
		if m == source || m != from {
			return m == source
		}
	}
	return false
}

// watch measures how long nothing was heard of an owner. What counts is time in
// which this process looked: if it was stopped itself, that says nothing. The
// caller chooses the clock: by that of roster.present, time in which this process
// was cut off does not count either.
type watch struct {
	heard  atomic.Bool // a commit has come since the last look
	beat   time.Time   // the last one that was heard
	looked time.Time
	silent time.Duration
}

func (w *watch) look(beat, now time.Time) time.Duration {
	if !w.looked.IsZero() {
		w.silent += min(now.Sub(w.looked), 2*lookEvery)
	}
	w.looked = now
	if w.heard.Swap(false) || beat.After(w.beat) {
		w.beat, w.silent = beat, 0
	}
	return w.silent
}

// takesOver reports whether this member should take over a part because nothing
// is heard of its owner: the first in the order after the roster's patience, the next
// ones each a little later, so that they do not race.
func (r *replica) takesOver(w *watch, now time.Time) bool {
	m := r.member
	beat := time.Time{}
	owner, owned := m.roster.owner(r.part.Name, now)
	if owned {
		beat = owner.Heard
	}
	silent := w.look(beat, m.roster.present(now))
	at := r.place()
	if before := slices.Index(*r.order.Load(), owner.Source); owned && before >= 0 && before < at {
		at-- // the one that is silent does not come before us
	}
	return at >= 0 && silent > m.roster.patience(now)*time.Duration(2+at)/2
}

// keep returns the first commit of the part's log that some part downstream has
// still to read, as far as their owners have said.
func (r *replica) keep() uint64 {
	first := ^uint64(0)
	now := time.Now()
	for _, down := range r.part.Downstream {
		next := uint64(1)
		if s, ok := r.member.roster.owner(down, now); ok {
			if at := s.cursor(r.part.Name); r.holds(at) {
				next = at.Position + 1
			}
		}
		first = min(first, next)
	}
	return first
}

// state is what telemetry says of the part beyond its rows.
func (r *replica) state(int) *telemetry.RegionState {
	r.mu.Lock()
	role, position, stopped := r.role, r.sure.Position, r.stopped
	r.mu.Unlock()
	if role != Owner {
		return nil // of who lets it go: the next one knows
	}
	s := &telemetry.RegionState{Position: position, Stopped: stopped}
	for _, other := range r.member.roster.of(r.part.Name, time.Now()) {
		if other.Role != Standby {
			continue
		}
		s.Standbys++
		lag := position - min(other.Position, position)
		if s.Lag == nil || lag < *s.Lag {
			s.Lag = &lag
		}
	}
	return s
}
