// SPDX-License-Identifier: Apache-2.0

package region

import (
	"context"
	"errors"
	"fmt"
	"io"
	"time"

	"github.com/pnagent/pnagent/engine"
	"github.com/pnagent/pnagent/engine/journal"
)

// A log goes back if its stream is removed or purged, if an older copy of it is
// restored, or if its server loses power. No member begins or plays a log that
// lacks what an owner has confirmed, as far as a running member knows: see
// Known. The part is stopped with the reason until the log is there again, or
// Config.Again accepts what it holds.

// setback ends a session whose log lacks commits that are known. It is the reason.
type setback string

func (s setback) Error() string { return string(s) }

// Unwrap returns engine.ErrRewritten.
func (setback) Unwrap() error { return engine.ErrRewritten }

// setbackAfter is how long a log must lack commits until that counts: the
// leader of a stream may have just changed. Until then, setbackEvery is how
// often the log is read again.
const (
	setbackAfter = 5 * time.Second
	setbackEvery = 250 * time.Millisecond
)

// open opens the log of the part. It creates the log only if no other member
// knows a commit of it, or that is accepted.
func (r *replica) open(ctx context.Context) (Log, error) {
	m := r.member
	log, missing, err := r.look(ctx, m.cfg.Again)
	if err != nil || !missing && (m.cfg.Again || log.Last() > 0) {
		return log, err
	}
	if err := r.awaitBeats(ctx); err != nil {
		return log, err
	}
	k, ok := m.roster.knownOf(r.part.Name)
	if ok { // its owner may have begun the log since this member looked
		if !missing {
			_ = log.Close() // nothing was read or written
		}
		log, missing, err = r.look(ctx, false)
		if err != nil || !missing && log.Last() > 0 {
			return log, err
		}
	}
	if ok && !missing { // an engine finds that a log is older than its snapshot
		var upTo uint64
		upTo, err = snapshotOf(ctx, log)
		if err != nil {
			return log, fmt.Errorf("reading the log's snapshot: %w", err)
		}
		ok = upTo == 0
	}
	if ok {
		found := "it has no commit"
		if missing {
			found = "it does not exist"
		}
		return log, r.lost(&k, found)
	}
	if !missing {
		return log, nil
	}
	log, _, err = r.look(ctx, true)
	return log, err
}

// openUpstream opens the log of another part. It creates the log only if no other member
// knows a commit of it, or that is accepted.
func (r *replica) openUpstream(ctx context.Context, part string) (Log, error) {
	m := r.member
	log, err := m.cfg.Open(ctx, part, m.cfg.Again, nil)
	if !errors.Is(err, journal.ErrMissing) {
		return log, err
	}
	if err := r.awaitBeats(ctx); err != nil {
		return nil, err
	}
	_, known := m.roster.knownOf(part)
	return m.cfg.Open(ctx, part, !known, nil)
}

// awaitBeats waits until this member has received beats for long enough to know what the others know.
func (r *replica) awaitBeats(ctx context.Context) error {
	for !r.member.roster.informed(time.Now()) {
		select {
		case <-r.roused: // by a beat
		case <-ctx.Done():
			return ctx.Err()
		}
	}
	return nil
}

// look opens the log of the part. missing reports that there is none.
func (r *replica) look(ctx context.Context, create bool) (log Log, missing bool, err error) {
	log, err = r.member.cfg.Open(ctx, r.part.Name, create, r.keep)
	switch {
	case errors.Is(err, journal.ErrMissing):
		return nil, true, nil
	case err != nil:
		return nil, false, fmt.Errorf("opening the log: %w", err)
	}
	return log, false, nil
}

// lost returns the error for a log that lacks a commit that is known.
func (r *replica) lost(k *Known, found string) error {
	return setback(fmt.Sprintf("the log of %q has lost commits: %s; %q had confirmed commit %d in epoch %d. Restore the log, or accept the loss with --journal.again",
		r.part.Name, found, k.Owner, k.Position, k.Epoch))
}

// whole returns an error if the log lacks a commit that is known for longer than
// patience. The engine has read the log.
func (r *replica) whole(ctx context.Context, log Log, e *engine.Engine, patience time.Duration) error {
	for began := time.Now(); ; {
		k, ok := r.member.roster.knownOf(r.part.Name)
		if !ok || r.member.cfg.Again {
			return nil
		}
		found, err := lacks(ctx, log, &k, e.Standing().Since)
		switch {
		case err != nil:
			return fmt.Errorf("the log up to commit %d: %w", k.Position, err)
		case found == "":
			return nil
		case time.Since(began) >= patience:
			return r.lost(&k, found)
		}
		if err := pause(ctx, setbackEvery); err != nil {
			return err
		}
	}
}

// lacks returns what a log, which began at since, has instead of a commit that
// is known; "" if it has that commit. A commit that was removed can be compared
// only by when the log began.
func lacks(ctx context.Context, log Log, k *Known, since int64) (found string, err error) {
	switch at, err := placed(ctx, log, k.at()); {
	case err != nil:
		return "", err
	case at == differs && log.Last() < k.Position:
		return fmt.Sprintf("it ends with commit %d", log.Last()), nil
	case at == differs, at == removed && k.Since != 0 && k.Since != since:
		return "it is another log", nil
	}
	return "", nil
}

// gap returns the error for a log of which commits were removed that no
// snapshot holds. err is that of reading the log. While another process owns
// the part, that may have saved a snapshot meanwhile.
func (r *replica) gap(ctx context.Context, log Log, err error) error {
	upTo, failed := snapshotOf(ctx, log)
	if failed != nil {
		return errors.Join(err, failed)
	}
	for _, failed := range log.Read(ctx, upTo+1) {
		if !errors.Is(failed, journal.ErrCovered) {
			return err // there is a newer snapshot now, or the log does not answer
		}
		break
	}
	return setback(fmt.Sprintf("the log of %q has lost commits: from commit %d of %d on, they were removed, and no snapshot holds them. Restore the log, or accept the loss with --journal.again",
		r.part.Name, upTo+1, log.Last()))
}

// snapshotOf returns the last commit in the newest snapshot of a log; 0 if there is none.
func snapshotOf(ctx context.Context, log Log) (upTo uint64, err error) {
	return log.LoadSnapshot(ctx, func(from io.Reader) error {
		_, err := io.Copy(io.Discard, from)
		return err
	})
}

// errRenewed ends a session that has renewed the log.
var errRenewed = errors.New("the part continues with the newest snapshot of its log, or begins again if there is none")

// renew makes a log that cannot be read end with its newest snapshot, if that is
// accepted. It does so when a second session in a row finds the same fault.
func (r *replica) renew(ctx context.Context, log Log, err error) error {
	_, owned := r.member.roster.owner(r.part.Name, time.Now())
	if !r.member.cfg.Again || owned || r.place() != 0 || reasonOf(err) != r.status().Stopped {
		return err
	}
	r.member.cfg.Log.Warn("the loss of commits is accepted", "part", r.part.Name, "reason", err)
	if err := log.Renew(ctx); err != nil {
		return fmt.Errorf("renewing the log: %w", err)
	}
	return errRenewed
}

// holdsOwn returns an error if the log of this owner lacks what it has confirmed.
func (r *replica) holdsOwn(ctx context.Context) error {
	r.mu.Lock()
	log, sure := r.log, r.sure
	r.mu.Unlock()
	ok, err := fits(ctx, log, sure.At())
	switch {
	case errors.Is(err, journal.ErrMissing):
		return fmt.Errorf("the part's own log: %w", err)
	case err != nil || ctx.Err() != nil:
		return nil //nolint:nilerr // the log does not answer now; the owner notices at its next commit
	case !ok:
		return fmt.Errorf("the part's own log up to commit %d: %w", sure.Position, engine.ErrRewritten)
	}
	return nil
}

// heed makes the owner act on members that cannot follow the part because its
// log has lost commits. If the log still holds what the owner has confirmed, a
// snapshot replaces what was removed before. Otherwise the owner stops.
func (r *replica) heed(ctx context.Context, e *engine.Engine, why string) error {
	if err := r.holdsOwn(ctx); err != nil {
		return err
	}
	r.member.cfg.Log.Warn("a snapshot is saved, because another member cannot read the log", "part", r.part.Name, "reason", why)
	return e.SaveSnapshot(ctx)
}

// remember records what this owner has confirmed since its last beat.
func (r *replica) remember(e *engine.Engine) {
	s := e.Standing()
	r.mu.Lock()
	if r.log.Durable() < s.Position {
		s = r.sure
	}
	r.mu.Unlock()
	r.member.roster.recall(Known{Part: r.part.Name, Owner: r.member.cfg.Engine.Source, Epoch: r.led, Position: s.Position, Chain: s.Chain, Since: s.Since})
}

// stoppedPeer returns why another member cannot follow the part; "" if there is
// no such member.
func (r *replica) stoppedPeer(now time.Time) string {
	for _, s := range r.member.roster.of(r.part.Name, now) {
		if s.Role == Away && s.Stopped != "" {
			return s.Stopped
		}
	}
	return ""
}

// pause waits for d, or until ctx ends, and then returns its error.
func pause(ctx context.Context, d time.Duration) error {
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-ctx.Done():
		return ctx.Err()
	case <-timer.C:
		return nil
	}
}
