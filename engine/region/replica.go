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
	"github.com/pnagent/pnagent/engine/journal"
	"github.com/pnagent/pnagent/telemetry"
)

// replica is the state of one part in this process.
type replica struct {
	member *Member
	part   *Part
	roused chan struct{}            // has an element when the part must be looked at
	wrote  chan struct{}            // has an element when an owner has written
	order  atomic.Pointer[[]string] // members that should own the part, best first
	report *engine.Report           // of the last epoch in which it was owned; after run

	mu      sync.Mutex
	role    Role
	engine  *engine.Engine  // nil while Away
	log     Log             // of the part, while it is followed or led
	sure    engine.Standing // what can no longer be lost; only for an owner, or a member that is taking over
	stopped string          // why the part is stopped; "" if it is not

	led   uint64                      // the last epoch in which this process owned the part; of run
	at    atomic.Uint64               // the last commit that the part had when it stopped
	ended *engine.Engine              // that played the part in that epoch, until the part is followed again; of run
	shown func(context.Context) error // ends the publishing that show has started; nil if there is none; of run
}

// Reasons for the end of a session without a fault.
var (
	errLeads   = errors.New("this member owns the part")
	errAway    = errors.New("others follow the part")
	errFaster  = errors.New("another process was faster")
	errDone    = errors.New("the firings are done")
	errDeposed = errors.New("another member owns the part in a higher epoch")
	errCutOff  = errors.New("nothing is received from NATS, not even this member's own beats")
)

// ErrUnusable is wrapped by an error of Config.Open that no retry resolves,
// such as a stream with invalid settings. Run returns it.
var ErrUnusable = errors.New("the log cannot be used")

// errLost reports commits of an upstream log that were removed before the part
// has read them: the log was purged, or another owner of the part has read them.
var errLost = errors.New("commits and their tokens were removed before they were read")

// How long a replica waits before its next session: longer after each that
// failed before the log was followed.
const (
	retryAfter = 50 * time.Millisecond
	retryMost  = 2 * time.Second
)

func newReplica(m *Member, p *Part) *replica {
	r := &replica{member: m, part: p, role: Away, roused: make(chan struct{}, 1), wrote: make(chan struct{}, 1)}
	r.order.Store(new([]string))
	return r
}

// run follows and leads the part in sessions until ctx ends, the firings are
// done, or the part cannot be played.
func (r *replica) run(ctx context.Context) error {
	defer r.hide(ctx)
	limited := limiter{log: r.member.cfg.Log.With("part", r.part.Name)}
	failed := 0 // sessions in a row with a fatal error
	for wait := retryAfter; ctx.Err() == nil; {
		followed, err := false, errAway
		if r.wanted() {
			followed, err = r.session(ctx)
		}
		r.become(Away, nil)
		switch {
		case rewritten(err):
			r.stop(ctx, err, followed)
		case errors.Is(err, errAway):
			r.halt("") // others can read the log
		}
		wait = min(2*wait, retryMost)
		if followed || errors.Is(err, errAway) {
			wait = retryAfter
		}
		switch {
		case ctx.Err() != nil, errors.Is(err, errDone):
			return nil // the end of the last session is logged
		case fatal(err) && (final(err) || failed >= fatalTimes-1):
			return fmt.Errorf("part %q: %w", r.part.Name, err)
		case errors.As(err, new(handOver)):
			limited.log.Info("the part was handed over", "reason", err)
		case errors.Is(err, errRewound), errors.Is(err, errRenewed):
			limited.log.Info("the part continues", "reason", err)
		case errors.Is(err, errFaster):
			limited.log.Info("the part is followed again", "reason", err)
		case err != nil && !errors.Is(err, errAway) && !errors.As(err, new(setback)):
			limited.warn("the part is followed again", err, time.Now())
		}
		if fatal(err) {
			failed++
		} else if followed {
			failed = 0
		}
		if errors.Is(err, errAway) {
			r.awaitWanted(ctx)
		} else {
			_ = pause(ctx, wait) // the loop ends with ctx
		}
	}
	return nil
}

// awaitWanted waits until the part is one for this member, or ctx ends.
func (r *replica) awaitWanted(ctx context.Context) {
	for !r.wanted() {
		select {
		case <-ctx.Done():
			return
		case <-r.roused:
		}
	}
}

// rank sets the order of the members for the part.
func (r *replica) rank(order []string) {
	if !slices.Equal(*r.order.Swap(&order), order) {
		wake(r.roused)
	}
}

// wake puts an element into a channel that holds one.
func wake(c chan struct{}) {
	select {
	case c <- struct{}{}:
	default:
	}
}

// fatalTimes is how many sessions in a row must find a log damaged before the
// part is given up. One replica of a log may be wrong, and
// each session reads from another one.
const fatalTimes = 5

// final reports whether an error does not depend on the content of a log, so
// that reading it again does not help.
func final(err error) bool {
	return errors.Is(err, engine.ErrConfig) || errors.Is(err, ErrUnusable) || errors.Is(err, nats.ErrConnectionClosed)
}

// fatal reports whether retrying cannot help: the log is of another plan or
// damaged. All other errors are those of servers and
// connections, which recover, and of owners that were replaced.
func fatal(err error) bool {
	return slices.ContainsFunc([]error{engine.ErrConfig, engine.ErrJournal, engine.ErrReplay, ErrUnusable, nats.ErrConnectionClosed},
		func(cause error) bool { return errors.Is(err, cause) })
}

// wanted reports whether this member should own the part or be a standby.
func (r *replica) wanted() bool {
	at := r.place()
	n := r.member.cfg.Standbys
	return at >= 0 && (n == 0 || at <= n)
}

// place returns this member's place in the order for the part; -1 if it has
// none yet.
func (r *replica) place() int {
	return slices.Index(*r.order.Load(), r.member.cfg.Engine.Source)
}

// become sets and publishes the role of this process for the part. What a new
// owner has read and written is confirmed. An unconfirmed cursor must never be
// published, because the log before it is removed.
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
	r.member.beatNow()
}

// status returns the entry for the part in this member's beats.
func (r *replica) status() BeatPart {
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
	b.Epoch = s.Epoch
	b.Position = s.Position
	b.Chain = s.Chain
	b.Round = s.Round
	b.Since = s.Since
	if r.role == Owner && len(s.Cursors) > 0 {
		b.Cursors, b.Marks = make(map[string]uint64, len(s.Cursors)), make(map[string]engine.Mark, len(s.Cursors))
		for i, c := range s.Cursors {
			b.Cursors[r.part.Upstream[i]], b.Marks[r.part.Upstream[i]] = c.Position, c.Mark
		}
	}
	return b
}

// use sets the log of the part; nil for none.
func (r *replica) use(log Log) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.log = log
}

// session follows the part's log from its newest snapshot and leads the part
// when this member takes it over. followed reports whether it came to follow
// the log.
func (r *replica) session(ctx context.Context) (followed bool, err error) {
	m := r.member
	log, err := r.open(ctx)
	if log == nil {
		return false, err
	}
	r.use(log)
	defer func() {
		r.use(nil)
		_ = log.Close() // an owner has already waited for all its commits
	}()
	if err != nil {
		return false, err
	}
	upstream, err := r.openAllUpstream(ctx)
	defer func() {
		if fatal(err) && !final(err) || rewritten(err) {
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
	cfg.Journal, cfg.Part = newWritten(log, m.cfg.Conn, r.wrote), &part
	e, err := engine.Open(ctx, cfg)
	if errors.Is(err, journal.ErrAhead) {
		err = r.renew(ctx, log, fmt.Errorf("the log has lost commits that its newest snapshot holds: %w", err))
	}
	if errors.Is(err, journal.ErrCovered) {
		err = r.renew(ctx, log, r.gap(ctx, log, err))
	}
	if err == nil {
		err = r.whole(ctx, log, e, setbackAfter)
	}
	if err != nil {
		return false, faster(err)
	}
	r.hide(ctx)
	r.ended = nil
	r.become(Standby, e)
	var reader sync.WaitGroup
	defer reader.Wait()
	if err := r.follow(ctx, log, e, &reader); err != nil {
		return true, faster(err)
	}
	err = r.lead(ctx, e, upstream)
	r.ended = e
	return true, err
}

// faster marks an error of a member that has not owned the part, if another
// member has appended to the log.
func faster(err error) error {
	if errors.Is(err, journal.ErrNotLast) {
		return fmt.Errorf("%w: %w", errFaster, err)
	}
	return err
}

// openAllUpstream opens the logs of the upstream parts. With an error it also
// returns those that it has opened.
func (r *replica) openAllUpstream(ctx context.Context) (logs []Log, err error) {
	for _, name := range r.part.Upstream {
		log, err := r.openUpstream(ctx, name)
		if err != nil {
			return logs, fmt.Errorf("opening the log of %q upstream: %w", name, err)
		}
		logs = append(logs, log)
	}
	return logs, nil
}

// follow reads the log until this member owns the part, and then returns nil.
// The reader may still be releasing the log by then.
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
			w.commit.Store(true)
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
	late := time.NewTimer(w.next())
	defer late.Stop()
	for ; ; late.Reset(w.next()) {
		select {
		case err := <-ended:
			return over(err)
		case <-r.roused:
		case <-late.C:
		}
		now := time.Now()
		if !r.wanted() {
			stop()
			if err := over(<-ended); err == nil {
				return nil
			}
			return errAway
		}
		if !r.takesOver(w, now) && !r.inherits(e) {
			continue
		}
		stop()
		if err := <-ended; !errors.Is(err, context.Canceled) {
			return over(err)
		}
		return r.succeed(ctx, log, e)
	}
}

// succeed makes this member the owner after one that is silent or has left, if the log is the
// one that was read.
func (r *replica) succeed(ctx context.Context, log Log, e *engine.Engine) error {
	s := e.Standing()
	ok, err := fits(ctx, log, s.At())
	if err == nil && !ok { // other commits have the numbers of those that were read
		err = engine.ErrRewritten
	}
	if err != nil {
		return fmt.Errorf("the log up to commit %d: %w", s.Position, err)
	}
	if err := r.whole(ctx, log, e, 0); err != nil {
		return err
	}
	return r.take(ctx, e)
}

// take makes this member the owner. The engine counts its epoch as written at
// once, but another member may have been faster. Until the epoch is confirmed,
// this member publishes what it had read before.
func (r *replica) take(ctx context.Context, e *engine.Engine) error {
	s := e.Standing()
	r.mu.Lock()
	r.sure = s
	r.mu.Unlock()
	return e.Lead(ctx)
}

// inherits reports whether this member should take a released part: the release
// names it, or names no heir and this member is first in order without the
// previous owner.
func (r *replica) inherits(e *engine.Engine) bool {
	source := r.member.cfg.Engine.Source
	heir, from, free := e.Free()
	if !free || !r.member.roster.informed(time.Now()) {
		return false
	}
	if heir != "" {
		return heir == source
	}
	for _, m := range *r.order.Load() {
		if m == source || m != from {
			return m == source
		}
	}
	return false
}

// keep returns the first commit of the part's log that some downstream owner
// has not read, by what they have published.
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

// state returns what telemetry publishes about the part besides its rows.
func (r *replica) state(int) *telemetry.RegionState {
	r.mu.Lock()
	role, position, stopped := r.role, r.sure.Position, r.stopped
	r.mu.Unlock()
	if role == Away && stopped != "" { // see show
		return &telemetry.RegionState{Position: r.at.Load(), Stopped: stopped}
	}
	if role != Owner {
		return nil // the next owner publishes it
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
