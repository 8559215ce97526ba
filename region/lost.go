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
	"github.com/pnagent/pnagent/journal"
)

// A server that loses power can lose the end of a log and give its numbers out
// again. Each entry has the mark of what is before it, and each cursor into a log
// has the mark of what was read, so it is found out by the next entry at the
// latest. Then the part halts, and its owner looks for the last commit that the
// log has in common with the one that was read:
//
//   - If no token has arrived since then, the log is read again from there on. That
//     puts each token once.
//   - Otherwise tokens are here that the part upstream has too, because it has lost
//     the commits with which they left. No reading of the log mends that, and to
//     read on behind the cursor would pass over what was written since. So the part
//     stands still, and says why, until the log fits or Config.Again says that
//     tokens may come again.

// errMended ends a session whose part reads an upstream log again.
var errMended = errors.New("an upstream log that has lost commits is read again from the last one in common")

// standEvery is how often a part that stands still looks at its upstream logs, and
// fitWithin how long one may take to answer.
const (
	standEvery = time.Second
	fitWithin  = 10 * time.Second
)

// rewritten reports whether an error says that a log is not the one that was read.
func rewritten(err error) bool {
	return errors.Is(err, engine.ErrRewritten) || errors.Is(err, journal.ErrAhead)
}

// fits reports whether a log holds what was read up to a cursor, and can be read
// on from there. The error is that of a log that does not answer.
func fits(ctx context.Context, log Log, at engine.Cursor) (bool, error) {
	if at.Mark == 0 && at.Position > 0 {
		return true, nil // of a version that wrote no marks
	}
	ctx, cancel := context.WithTimeout(ctx, fitWithin)
	defer cancel()
	if at.Position > 0 {
		switch _, upTo, err := entryAt(ctx, log, at.Position); {
		case errors.Is(err, journal.ErrAhead):
			return false, nil
		case err == nil && upTo != 0:
			return upTo == at.Mark, nil
		case err != nil && !errors.Is(err, journal.ErrCovered):
			return false, err
		}
	}
	// The last entry that was read is removed, or has no mark: the next one says it.
	switch before, _, err := entryAt(ctx, log, at.Position+1); {
	case errors.Is(err, journal.ErrAhead):
		return true, nil // there is none
	case errors.Is(err, journal.ErrCovered):
		return false, nil
	default:
		return err == nil && (before == 0 || before == at.Mark), err
	}
}

// entryAt returns the marks in an entry of a log and up to it, as engine.Linked
// does; ErrAhead if there is no such entry.
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

// stand waits until the upstream logs of a part that has halted can be read on,
// which is errMended, or until ctx ends. Every other error is that of the part's
// own log.
func (r *replica) stand(ctx context.Context, e *engine.Engine, upstream []Log) error {
	ticker := time.NewTicker(standEvery)
	defer ticker.Stop()
	for told := ""; ; {
		s := e.Standing()
		own, err := fits(ctx, r.log, s.At()) // only this goroutine sets the log
		reason := "the part's own log does not answer"
		if err == nil && !own {
			return fmt.Errorf("the part's own log: %w", engine.ErrRewritten) // what it holds may fit the others
		}
		if err == nil {
			reason, err = r.mend(ctx, e, upstream)
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
			return errMended
		}
		if r.halt(reason); reason != told {
			r.member.cfg.Log.Error("the part stands still", "part", r.part.Name, "reason", reason)
			told = reason
		}
		select {
		case <-ctx.Done():
			return nil
		case <-ticker.C:
		}
	}
}

// mend has every upstream log that is not the one that was read be read again from
// the last commit in common, where that is right. If it is not, it returns the
// reason.
func (r *replica) mend(ctx context.Context, e *engine.Engine, upstream []Log) (reason string, err error) {
	for i, log := range upstream {
		known := e.Known(i)
		now, name := known[0], r.part.Upstream[i]
		var common engine.Point
		var ok bool
		var err error
		for _, common = range known {
			if common != now && common.Position > 0 && common.Mark == 0 {
				continue // of a version that wrote no marks: nothing says that it fits
			}
			if ok, err = fits(ctx, log, common.Cursor); ok || err != nil {
				break
			}
		}
		switch {
		case err != nil:
			return fmt.Sprintf("the log of %q does not answer: %v", name, err), nil
		case !ok:
			return fmt.Sprintf("the log of %q has lost commits of those up to %d, which were read; none is known that it has still", name, now.Position), nil
		case common.Cursor == now.Cursor:
		case common.Tokens == now.Tokens || r.member.cfg.Again:
			r.member.cfg.Log.Warn("an upstream log has lost commits and is read again", "part", r.part.Name, "upstream", name,
				"read", now.Position, "from", common.Position+1, "tokens", now.Tokens-common.Tokens)
			if err := e.Rebind(ctx, i, common); err != nil {
				return "", err
			}
		default:
			return fmt.Sprintf("the log of %q has lost commits between %d and %d, with which %d tokens came that it has still",
				name, common.Position, now.Position, now.Tokens-common.Tokens), nil
		}
	}
	return "", nil
}

// halt notes why the part stands still, and has the others hear; "" if it does not.
func (r *replica) halt(reason string) {
	text := strings.ToValidUTF8(reason[:min(len(reason), maxReason)], "")
	r.mu.Lock()
	r.stopped = strings.Map(func(c rune) rune {
		if unicode.IsControl(c) {
			return ' '
		}
		return c
	}, text)
	r.mu.Unlock()
	r.member.tell()
}

// holds reports whether what the owner of a part downstream has read is what is in
// the log of this part. If it is not, that owner has still to read the whole log.
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
