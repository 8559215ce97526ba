// SPDX-License-Identifier: Apache-2.0

package region

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"time"

	"github.com/pnagent/pnagent/engine"
	"github.com/pnagent/pnagent/journal"
)

// lead plays the part until ctx ends, the log refuses a commit, another member
// owns the part, or it is to be another's. upstream are the logs of the upstream
// parts.
func (r *replica) lead(ctx context.Context, e *engine.Engine, upstream []Log) error {
	r.become(Owner, e) // it has written nothing that is not confirmed
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
			case playing.Err() != nil: // it was told to end
			case rewritten(err):
				halt(err)
			default:
				guard(err)
			}
		})
	}
	tasks.Go(func() { guard(r.confirm(leading, e)) })
	tasks.Go(func() { guard(r.watchOthers(leading, e.Standing().Epoch)) })
	end := make(chan func(context.Context) error, 1)
	tasks.Go(func() {
		said, err := engine.Serve(e, r.member.cfg.Conn, r.member.cfg.Subjects, r.member.cfg.Interval, r.member.cfg.Log)
		guard(err)
		end <- said
	})
	err := <-ran
	cause := context.Cause(playing)
	if err == nil && rewritten(cause) {
		log.Warn("the part halts", "reason", cause)
		err, cause = r.stand(leading, e, upstream), context.Cause(leading)
	}
	stop(nil)
	if err == nil {
		err = r.release(ctx, e, cause)
	}
	r.become(Away, nil) // the others need not wait for the last words
	leaving, cancel := context.WithTimeout(context.WithoutCancel(ctx), releaseWithin)
	defer cancel()
	if said := <-end; said != nil {
		if failed := said(leaving); failed != nil {
			log.Debug("last words", "err", failed)
		}
	}
	log.Info("this process does not own the part any more", "reason", err)
	return err
}

// handOver is the cause for which an owner lets a part go to another member.
type handOver struct{ heir string }

func (h handOver) Error() string { return "the part is for " + h.heir }

// release lets the part go that has been played to an end without an error.
// cause is why that ended; nil if the firings are done.
func (r *replica) release(ctx context.Context, e *engine.Engine, cause error) error {
	leaving, cancel := context.WithTimeout(context.WithoutCancel(ctx), releaseWithin)
	defer cancel()
	var to handOver
	switch {
	case errors.As(cause, &to), cause == nil, ctx.Err() != nil:
	case errors.Is(cause, errLost): // or another owner has read it, who has replaced this one: then it can release nothing
	default:
		return cause // deposed, or the log of another part can not be read
	}
	if ctx.Err() != nil || cause == nil { // before the release, after which nothing is counted
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

// confirm keeps account of what cannot be lost any more. It asks for what was
// written a look ago: an owner that writes much has heard of that by then, without
// having asked.
func (r *replica) confirm(ctx context.Context, e *engine.Engine) error {
	ticker := time.NewTicker(lookEvery)
	defer ticker.Stop()
	for {
		s := e.Standing()
		select {
		case <-ctx.Done():
			return nil
		case <-ticker.C:
		}
		if err := e.Confirm(ctx, s); err != nil {
			return err
		}
		r.mu.Lock()
		r.sure = s
		r.mu.Unlock()
	}
}

// watchOthers ends when another member owns the part in a higher epoch, when one
// should that follows it closely, or when this one does not even hear itself: it
// can be told nothing, and the others hear it and wait.
func (r *replica) watchOthers(ctx context.Context, epoch uint64) error {
	ticker := time.NewTicker(lookEvery)
	defer ticker.Stop()
	looks := 0 // while another one should own the part
	var self watch
	for {
		select {
		case <-ctx.Done():
			return nil
		case now := <-ticker.C:
			if o, ok := r.member.roster.owner(r.part.Name, now); ok && o.Epoch > epoch {
				return fmt.Errorf("%w: %q in epoch %d", errDeposed, o.Source, o.Epoch)
			}
			roster, me := r.member.roster, r.member.cfg.Engine.Source
			if self.look(roster.heard(me), now) > goneTimes*roster.patience(now) {
				return errDeaf
			}
			heir, behind := r.betterOwner(now)
			if heir == "" {
				looks = 0
				continue
			}
			if looks++; behind <= closely<<min(time.Duration(looks)*lookEvery/time.Second, closelyDoubled) {
				return handOver{heir}
			}
		}
	}
}

// closely is how many commits a member may be behind that a part is handed to:
// nobody plays until it has read them. After each second that it does not come
// as close it is twice as many, because an owner that is busy enough could stay
// ahead for ever; after closelyDoubled seconds it is any number.
const (
	closely        = 1000
	closelyDoubled = 50
)

// betterOwner returns the member that is to have the part instead of this one,
// and how many commits it is behind; "" if there is none, or if it is not ready.
func (r *replica) betterOwner(now time.Time) (heir string, behind uint64) {
	order := *r.order.Load()
	if !r.member.cfg.Balance || len(order) == 0 || order[0] == r.member.cfg.Engine.Source {
		return "", 0
	}
	r.mu.Lock()
	position := r.sure.Position
	r.mu.Unlock()
	for _, s := range r.member.roster.of(r.part.Name, now) {
		if s.Source == order[0] && s.Role == Standby && now.Sub(s.Since) >= goneTimes*r.member.roster.patience(now) {
			return s.Source, position - min(s.Position, position)
		}
	}
	return "", 0
}

// Of cursors that move although nothing arrives.
const (
	cursorEvery = time.Second
	cursorAfter = 4096 // commits
)

// readUpstream hands the engine what comes from an upstream part.
func (r *replica) readUpstream(ctx context.Context, e *engine.Engine, index int, log Log) error {
	up := engine.Upstream{Plan: r.part.Plan}
	up.At = e.Standing().Cursors[index]
	told, at := up.At.Position, time.Now()
	err := log.Follow(ctx, told+1, func(c journal.Commit) error {
		tokens, err := up.Read(c)
		if err != nil {
			return err
		}
		if up.Begun() {
			return nil // of a commit in several entries, none of which may be left behind
		}
		mine := e.Mine(tokens)
		if len(mine) == 0 && c.Sequence-told < cursorAfter && (up.Quiet() || time.Since(at) < cursorEvery) {
			return nil // or else parts that put tokens into each other would tell each other for ever what they have read
		}
		told, at = c.Sequence, time.Now()
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
