// SPDX-License-Identifier: Apache-2.0

package region

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"time"

	"github.com/nats-io/nats.go"

	"github.com/pnagent/pnagent/engine"
	"github.com/pnagent/pnagent/engine/journal"
)

// lead plays the part until ctx ends, the log rejects a commit, another member
// owns the part, or the part is to move. upstream are the logs of the upstream
// parts.
func (r *replica) lead(ctx context.Context, e *engine.Engine, upstream []Log) error {
	r.become(Owner, e) // everything that it has written is confirmed
	r.led = e.Standing().Epoch
	log := r.member.cfg.Log.With("part", r.part.Name, "epoch", r.led)
	log.Info("this process owns the part")
	leading, stop := context.WithCancelCause(ctx)
	defer stop(nil)
	playing, halt := context.WithCancelCause(leading)
	defer halt(nil)
	var tasks sync.WaitGroup
	defer tasks.Wait()
	guard := func(err error) {
		if err != nil && leading.Err() == nil {
			stop(err)
		}
	}
	ran := make(chan error, 1)
	go func() { ran <- e.Run(playing) }()
	for i, log := range upstream {
		tasks.Go(func() {
			switch err := r.readUpstream(playing, e, i, log); {
			case playing.Err() != nil: // this process ended the reading
			case rewritten(err), errors.Is(err, errLost):
				halt(err)
			default:
				guard(err)
			}
		})
	}
	tasks.Go(func() { guard(r.confirm(leading, e)) })
	tasks.Go(func() { guard(r.watchOthers(leading, e, e.Standing().Epoch)) })
	end := make(chan func(context.Context) error, 1)
	tasks.Go(func() {
		leave, err := engine.Serve(e, r.member.cfg.Conn, r.member.cfg.Subjects, r.member.cfg.Interval, r.member.cfg.Log)
		guard(err)
		end <- leave
	})
	err := <-ran
	cause := context.Cause(playing)
	if err == nil && (rewritten(cause) || errors.Is(cause, errLost)) {
		log.Warn("the part halts", "reason", cause)
		err, cause = r.awaitFit(leading, e, upstream), context.Cause(leading)
	}
	stop(nil)
	if err == nil {
		err = r.release(ctx, e, cause)
	}
	r.remember(e)
	r.become(Away, nil) // the other members need not wait for the final snapshot
	leaving, cancel := context.WithTimeout(context.WithoutCancel(ctx), releaseWithin)
	defer cancel()
	if leave := <-end; leave != nil {
		if failed := leave(leaving); failed != nil {
			log.Debug("the final snapshot was not published", "err", failed)
		}
	}
	log.Info("this process no longer owns the part", "reason", err)
	return err
}

// handOver is the cause for which an owner releases a part to another member.
type handOver struct{ heir string }

func (h handOver) Error() string { return "the part moves to " + h.heir }

// release releases the part if it has been played to an end without an error.
// cause is the reason for the end; nil if the firings are done.
func (r *replica) release(ctx context.Context, e *engine.Engine, cause error) error {
	leaving, cancel := context.WithTimeout(context.WithoutCancel(ctx), releaseWithin)
	defer cancel()
	var to handOver
	switch {
	case errors.As(cause, &to), cause == nil, ctx.Err() != nil:
	default:
		return cause // replaced, or the log of another part cannot be read
	}
	if ctx.Err() != nil || cause == nil { // nothing is counted after the release
		var err error
		if r.report, err = e.Report(leaving); err != nil {
			return fmt.Errorf("reporting: %w", err)
		}
	}
	if err := e.Release(leaving, to.heir); err != nil {
		return err
	}
	if cause == nil {
		return errDone
	}
	return cause
}

// confirm records what can no longer be lost, after each commit. It confirms the standing of
// confirmAfter ago: by then a busy owner already has that confirmation and sends no request.
func (r *replica) confirm(ctx context.Context, e *engine.Engine) error {
	for {
		select {
		case <-ctx.Done():
			return nil
		case <-r.wrote:
		}
		s := e.Standing()
		err := pause(ctx, confirmAfter)
		if err == nil {
			err = e.Confirm(ctx, s)
		}
		if err != nil {
			return err // guard ignores that of ctx
		}
		r.mu.Lock()
		r.sure = s
		r.mu.Unlock()
	}
}

// watchOthers returns when another member owns the part in a higher epoch, or a
// member that should own it follows closely. It also returns when this member
// does not receive its own beats: then it receives no others either, and the
// other members receive its beats and wait. It looks when a beat has arrived, or is late.
func (r *replica) watchOthers(ctx context.Context, e *engine.Engine, epoch uint64) error {
	var self watch
	late := time.NewTimer(self.next())
	defer late.Stop()
	var better time.Time // since then another member should own the part
	heeded := ""
	connected := r.member.cfg.Conn.StatusChanged(nats.CONNECTED)
	defer func(c chan nats.Status) { r.member.cfg.Conn.RemoveStatusListener(c) }(connected)
	for ; ; late.Reset(self.next()) {
		select {
		case <-ctx.Done():
			return nil
		case _, open := <-connected: // the server may have lost the end of the log
			if !open {
				connected = nil
			}
			if err := r.holdsOwn(ctx); err != nil {
				return err
			}
			continue
		case <-r.roused:
		case <-late.C:
		}
		now := time.Now()
		if o, ok := r.member.roster.owner(r.part.Name, now); ok && o.Epoch > epoch {
			return fmt.Errorf("%w: %q in epoch %d", errDeposed, o.Source, o.Epoch)
		}
		roster, me := r.member.roster, r.member.cfg.Engine.Source
		if self.look(roster.lastBeat(me), now) > goneTimes*roster.silenceLimit(now) {
			return errCutOff
		}
		why := r.stoppedPeer(now)
		if why != heeded && why != "" {
			if err := r.heed(ctx, e, why); err != nil {
				return err
			}
		}
		heeded = why
		heir, behind := r.betterOwner(now)
		switch {
		case heir == "":
			better = time.Time{}
		case better.IsZero():
			better = now
			fallthrough
		default:
			if behind <= maxBehind<<min(now.Sub(better)/time.Second, maxBehindDoubled) {
				return handOver{heir}
			}
		}
	}
}

// maxBehind is how many commits a member may be behind to be handed a part:
// until it has read them, no member plays the part. The limit doubles each
// second, because a busy owner could stay ahead forever. After maxBehindDoubled
// seconds there is none.
const (
	maxBehind        = 1000
	maxBehindDoubled = 50
)

// betterOwner returns the member that should own the part instead of this one,
// and how many commits it is behind; "" if there is none or it is not ready.
func (r *replica) betterOwner(now time.Time) (heir string, behind uint64) {
	order := *r.order.Load()
	if !r.member.cfg.Balance || len(order) == 0 || order[0] == r.member.cfg.Engine.Source {
		return "", 0
	}
	r.mu.Lock()
	position := r.sure.Position
	r.mu.Unlock()
	for _, s := range r.member.roster.of(r.part.Name, now) {
		if s.Source == order[0] && s.Role == Standby && now.Sub(s.Since) >= goneTimes*r.member.roster.silenceLimit(now) {
			return s.Source, position - min(s.Position, position)
		}
	}
	return "", 0
}

// Limits after which a cursor moves although no token arrives.
const (
	cursorEvery = time.Second
	cursorAfter = 4096 // commits
)

// readUpstream passes the engine the tokens that arrive from an upstream part.
func (r *replica) readUpstream(ctx context.Context, e *engine.Engine, index int, log Log) error {
	up := engine.Upstream{Plan: r.part.Plan}
	up.At = e.Standing().Cursors[index]
	recorded, at := up.At.Position, time.Now()
	err := log.Follow(ctx, recorded+1, func(c journal.Commit) error {
		tokens, err := up.Read(c)
		if err != nil {
			return err
		}
		if up.Begun() {
			return nil // the commit has more entries, and all belong together
		}
		mine := e.Mine(tokens)
		if len(mine) == 0 && c.Sequence-recorded < cursorAfter && (up.Quiet() || time.Since(at) < cursorEvery) {
			return nil // otherwise parts that put tokens into each other would record each other's cursors forever
		}
		recorded, at = c.Sequence, time.Now()
		return e.Arrive(ctx, index, up.At, mine)
	})
	if errors.Is(err, journal.ErrCovered) {
		err = fmt.Errorf("%w: %w", errLost, err)
	}
	if err != nil {
		return fmt.Errorf("reading the log of %q upstream: %w", r.part.Upstream[index], err)
	}
	return nil
}
