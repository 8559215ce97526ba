// SPDX-License-Identifier: Apache-2.0

package region

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"time"
	"unicode"

	"github.com/pnagent/pnagent/engine"
	"github.com/pnagent/pnagent/engine/journal"
)

// A server that loses power can lose the end of a log and assign its numbers
// again. Each entry has the mark of all entries before it, and each cursor into
// a log has the mark of the entries that were read. So the loss is noticed at
// the next entry at the latest. Then the part stops, and its owner looks for
// the last commit in common with the log that was read:
//
//   - If no token has arrived since that commit, the owner reads the log again
//     from there. Each token arrives once.
//   - Otherwise both parts have the same tokens, because the upstream part has
//     lost the commits with which they left. Reading again would duplicate
//     them, and continuing would skip what was written since. So the part
//     stops and publishes the reason until the log fits or Config.Again
//     permits that tokens arrive twice.

// errRewound ends a session whose part reads an upstream log again.
var errRewound = errors.New("an upstream log that has lost commits is read again from the last commit in common")

// stoppedCheckEvery is how often a stopped part checks its upstream
// logs, and fitWithin how long one may take to answer.
const (
	stoppedCheckEvery = time.Second
	fitWithin         = 10 * time.Second
)

// rewritten reports whether an error means that a log is not the one that was read.
func rewritten(err error) bool {
	return errors.Is(err, engine.ErrRewritten) || errors.Is(err, journal.ErrAhead)
}

// placement is where a log has the end of what was read of it.
type placement int

const (
	differs placement = iota // it does not have it
	removed                  // it was removed, and the next entry too
	present                  // it has it, as far as that can be known, and can be read from there
)

// fits reports whether a log holds what was read up to a cursor and can be read
// from there. The error is that of a log that does not answer.
func fits(ctx context.Context, log Log, at engine.Cursor) (bool, error) {
	where, err := placed(ctx, log, at)
	return where == present, err
}

// placed compares a log with what was read of it up to a cursor.
func placed(ctx context.Context, log Log, at engine.Cursor) (placement, error) {
	if at.Mark == 0 && at.Position > 0 {
		return present, nil // nothing shows the opposite
	}
	ctx, cancel := context.WithTimeout(ctx, fitWithin)
	defer cancel()
	if at.Position > 0 {
		switch _, upTo, err := entryAt(ctx, log, at.Position); {
		case errors.Is(err, journal.ErrAhead):
			return differs, nil
		case err == nil && upTo != 0:
			return presentIf(upTo == at.Mark), nil
		case err != nil && !errors.Is(err, journal.ErrCovered):
			return differs, err
		}
	}
	// The last entry that was read is removed, or is the first one, which has no mark: the next one holds it.
	switch before, _, err := entryAt(ctx, log, at.Position+1); {
	case errors.Is(err, journal.ErrAhead):
		return present, nil // there is no next entry
	case errors.Is(err, journal.ErrCovered):
		return removed, nil
	default:
		return presentIf(err == nil && (before == 0 || before == at.Mark)), err
	}
}

func presentIf(same bool) placement {
	if same {
		return present
	}
	return differs
}

// entryAt returns the marks before and up to an entry of a log, as
// engine.Linked does; ErrAhead if there is no such entry.
func entryAt(ctx context.Context, log Log, number uint64) (before, upTo engine.Mark, err error) {
	for c, err := range log.Read(ctx, number) {
		if err != nil {
			return 0, 0, err
		}
		before, upTo, _ = engine.Linked(c.Payload)
		return before, upTo, nil
	}
	return 0, 0, journal.ErrAhead
}

// awaitFit waits until the upstream logs of a stopped part can be read on, and
// then returns errRewound; nil if ctx ends. Any other error is one of the
// part's own log.
func (r *replica) awaitFit(ctx context.Context, e *engine.Engine, upstream []Log) error {
	ticker := time.NewTicker(stoppedCheckEvery)
	defer ticker.Stop()
	for logged := ""; ; {
		s := e.Standing()
		own, err := fits(ctx, r.log, s.At()) // only this goroutine sets the log
		reason := "the part's own log does not answer"
		if err == nil && !own {
			return fmt.Errorf("the part's own log: %w", engine.ErrRewritten) // what it still holds may fit the upstream logs
		}
		if err == nil {
			err = r.alone(ctx, s.Position)
		}
		if errors.Is(err, journal.ErrNotLast) {
			return err
		}
		if err == nil {
			reason, err = r.rewind(ctx, e, upstream)
		} else {
			err = nil
		}
		switch {
		case ctx.Err() != nil:
			return nil
		case err != nil:
			return err
		case reason == "":
			if err := e.Release(ctx, r.member.cfg.Engine.Source); err != nil {
				return err
			}
			return errRewound
		}
		r.halt(reason)
		if reason != logged {
			r.member.cfg.Log.Error("the part is stopped", "part", r.part.Name, "reason", reason)
			logged = reason
		}
		select {
		case <-ctx.Done():
			return nil
		case <-ticker.C:
		}
	}
}

// alone returns ErrNotLast if another process has appended to the part's own log
// after a commit.
func (r *replica) alone(ctx context.Context, last uint64) error {
	switch _, _, err := entryAt(ctx, r.log, last+1); {
	case errors.Is(err, journal.ErrAhead):
		return nil
	case err == nil, errors.Is(err, journal.ErrCovered):
		return fmt.Errorf("the part's own log after commit %d: %w", last, journal.ErrNotLast)
	default:
		return err
	}
}

// rewind makes the part read every upstream log that has lost commits again
// from the last commit in common. It returns the reason if that is not safe.
func (r *replica) rewind(ctx context.Context, e *engine.Engine, upstream []Log) (reason string, err error) {
	for i, log := range upstream {
		known := e.Known(i)
		now, name := known[0], r.part.Upstream[i]
		var common engine.Point
		var ok bool
		var err error
		for _, common = range known {
			if common != now && common.Position > 0 && common.Mark == 0 {
				continue // it cannot be checked
			}
			if ok, err = fits(ctx, log, common.Cursor); ok || err != nil {
				break
			}
		}
		if err == nil && !ok && r.member.cfg.Again {
			common, err = oldest(ctx, log)
			ok = err == nil
		}
		switch {
		case err != nil:
			return fmt.Sprintf("the log of %q does not answer: %v", name, err), nil
		case !ok && unread(ctx, log, now.Cursor):
			return fmt.Sprintf("the log of %q has lost commits: those after %d were removed before they were read", name, now.Position), nil
		case !ok:
			return fmt.Sprintf("the log of %q has lost commits up to %d that were read; no commit in common is known", name, now.Position), nil
		case common.Cursor == now.Cursor:
		case common.Tokens == now.Tokens || r.member.cfg.Again:
			r.member.cfg.Log.Warn("an upstream log has lost commits and is read again", "part", r.part.Name, "upstream", name,
				"read", now.Position, "from", common.Position+1, "tokens", now.Tokens-min(common.Tokens, now.Tokens))
			if err := e.Rebind(ctx, i, common); err != nil {
				return "", err
			}
		default:
			return fmt.Sprintf("the log of %q has lost commits between %d and %d, and its part has the %d tokens that came with them again",
				name, common.Position, now.Position, now.Tokens-common.Tokens), nil
		}
	}
	return "", nil
}

// unread reports whether the commits after a cursor were removed.
func unread(ctx context.Context, log Log, at engine.Cursor) bool {
	where, err := placed(ctx, log, at)
	return err == nil && where == removed
}

// oldest returns the position before the first commit that a log still has, for
// a part that accepts what was lost before it.
func oldest(ctx context.Context, log Log) (engine.Point, error) {
	first, err := log.First(ctx)
	if err != nil || first <= 1 {
		return engine.Point{}, err
	}
	before, _, err := entryAt(ctx, log, first)
	if errors.Is(err, journal.ErrAhead) { // the log is empty
		err = nil
	}
	return engine.Point{Cursor: engine.Cursor{Position: first - 1, Mark: before}}, err
}

// halt publishes why the part is stopped; "" if it is not.
func (r *replica) halt(reason string) {
	r.mu.Lock()
	r.stopped = printable(reason)
	r.mu.Unlock()
	r.member.beatNow()
}

func reasonOf(err error) string { return printable(err.Error()) }

// printable returns a reason as telemetry allows it.
func printable(reason string) string {
	text := strings.ToValidUTF8(reason[:min(len(reason), maxReason)], "")
	return strings.Map(func(c rune) rune {
		if unicode.IsControl(c) {
			return ' '
		}
		return c
	}, text)
}

// holds reports whether this part's log contains what the owner of a downstream
// part has read. If not, that owner must read the whole log.
func (r *replica) holds(at engine.Cursor) bool {
	r.mu.Lock()
	log := r.log
	r.mu.Unlock()
	if log == nil {
		return false
	}
	ok, err := fits(context.Background(), log, at)
	return ok && err == nil
}
