// SPDX-License-Identifier: Apache-2.0

package engine

import (
	"bytes"
	"context"
	"encoding/hex"
	"fmt"

	"github.com/pnagent/pnagent/engine/journal"
	"github.com/pnagent/pnagent/petri/split"
	"github.com/pnagent/pnagent/stats"
	"github.com/pnagent/pnagent/telemetry"
)

// Part is the share of one engine in a net that several engines play: some of
// its transitions with their places, or some of its instances. A part has a log
// and, at any time, one owner, which appends to it; other engines follow the
// log. One process takes over from another like this:
//
//	e, err := engine.New(cfg)       // reads the log
//	err = e.Follow(commit)          // follows it, commit by commit
//	err = e.Lead(ctx)               // becomes the owner, unless another process was faster
//	err = e.Run(ctx)                // plays until ctx ends or the log rejects a commit
//	err = e.Release(ctx, "")        // releases the part to any other process
//
// After an error of Lead, Run or Release the engine must be discarded: what it
// has played may not be in the log. The next engine starts from the log.
type Part struct {
	Name    string                               // of the part, in its log, its requests and the keys of its actions
	Cut     *split.Part                          // the transitions and places; nil for all
	Numbers []int32                              // the instances, rising; nil for all
	Plan    string                               // how the net is cut; a log of another plan is rejected
	State   func(net int) *telemetry.RegionState // what snapshots hold about the part besides its rows; nil for nothing
	Group   int                                  // firings that one commit may hold; 0 for all between two readings of the clock
}

// RoundOf is the distance of the commits whose mark an engine keeps until the
// next one. By them, two processes whose positions are never the same at one
// time can compare what they have read.
const RoundOf = 1024

// Standing is the progress of an engine of a part in its log.
type Standing struct {
	Position uint64   // the last commit that it has read or written
	Chain    string   // over all entries up to there: hex of SHA-256(entry), or of SHA-256(chain before, entry) if the entry has no mark
	Epoch    uint64   // the number of owners so far
	Owner    string   // the last one; "" before the first
	Released bool     // the owner has released the part
	Heir     string   // the source that it names as the next owner; "" for any
	Round    Mark     // of the log up to the last multiple of RoundOf commits; 0 if the engine has not read that commit
	Cursors  []Cursor // by upstream part: the commits of its log whose tokens have arrived
	Since    int64    // when the part began, microseconds since the Unix epoch
}

// checkPart checks a Config with a Part.
func (e *Engine) checkPart() error {
	cfg := &e.cfg
	if cfg.Part == nil {
		return nil
	}
	if len(cfg.Nets) != 1 || cfg.Journal == nil || cfg.Part.Name == "" || cfg.Part.Group < 0 {
		return fmt.Errorf("%w: part %q of %d nets, with a journal: %t, %d firings a commit; expected a name, one net, a journal, 0 or more firings",
			ErrConfig, cfg.Part.Name, len(cfg.Nets), cfg.Journal != nil, cfg.Part.Group)
	}
	if cfg.Dispatch != nil {
		return fmt.Errorf("%w: part %q with a dispatcher; a part's one worker plays its instances in turn", ErrConfig, cfg.Part.Name)
	}
	cfg.Workers = 1 // a log has one writer
	e.named = cfg.Nets[0].Tables.Net.ID
	return nil
}

// upstream returns how many parts put tokens into this one.
func (p *Part) upstream() int {
	if p == nil || p.Cut == nil {
		return 0
	}
	return len(p.Cut.Upstream)
}

func (p *Part) cut() *split.Part {
	if p == nil {
		return nil
	}
	return p.Cut
}

// Standing returns the engine's progress in its log.
func (e *Engine) Standing() Standing {
	r := e.recorder
	r.mu.Lock()
	defer r.mu.Unlock()
	return Standing{Position: r.last, Chain: hex.EncodeToString(r.chain[:]), Epoch: r.owns.Epoch, Owner: r.owns.Owner,
		Released: r.owns.Release, Heir: r.owns.Heir, Round: r.round, Cursors: r.cursors(), Since: r.head.Created}
}

// Confirm waits until what the engine had written by a standing can no longer
// be lost. The error is that of journal.Log.Confirm.
func (e *Engine) Confirm(ctx context.Context, s Standing) error {
	return e.recorder.log.Confirm(ctx, s.Position)
}

// Follow applies the next commit of the log, which another process has written.
// It is for an engine that does not run.
func (e *Engine) Follow(c journal.Commit) error {
	r := e.recorder
	r.mu.Lock()
	last := r.last
	r.mu.Unlock()
	if c.Sequence != last+1 {
		return fmt.Errorf("%w: commit %d after commit %d; expected commit %d", ErrReplay, c.Sequence, last, last+1)
	}
	if err := e.fold(c); err != nil {
		return fmt.Errorf("reading the journal: %s: %w", c.Place(), err)
	}
	return nil
}

// fold applies one commit of the log.
func (e *Engine) fold(c journal.Commit) error {
	r := e.recorder
	r.mu.Lock()
	defer r.mu.Unlock()
	if before, _, ok := Linked(c.Payload); ok && r.hash != nil && before != markOf(r.chain) {
		return ErrRewritten
	}
	r.last = c.Sequence
	r.grown += len(c.Payload)
	r.link(c.Payload)
	if c.Sequence == 1 {
		return nil // the header
	}
	commit, err := r.whole.add(c.Payload)
	if err != nil || commit == nil {
		return err
	}
	return e.replay(commit)
}

// Free reports whether the last owner has released the part, and returns that
// owner and the source that should be next; "" for any.
func (e *Engine) Free() (heir, from string, free bool) {
	r := e.recorder
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.owns.Heir, r.owns.Owner, r.owns.Release
}

// Lead makes the engine the owner of its part, if it has read the whole log.
// From then on the log rejects appends of the previous owner. The error wraps
// journal.ErrNotLast if another process has appended in the meantime.
func (e *Engine) Lead(ctx context.Context) error {
	if err := e.lead(ctx, e.Standing().Epoch+1); err != nil {
		return fmt.Errorf("taking over %q: %w", e.cfg.Part.Name, err)
	}
	return nil
}

// Release releases the part to heir, or to any process if heir is "". Run must
// have ended without an error. The engine changes nothing afterwards.
func (e *Engine) Release(ctx context.Context, heir string) error {
	if err := e.own(ctx, ownership{Epoch: e.Standing().Epoch, Owner: e.cfg.Source, Release: true, Heir: heir}); err != nil {
		return fmt.Errorf("releasing %q: %w", e.cfg.Part.Name, err)
	}
	return nil
}

// Arrive passes the engine tokens that an upstream part, by its index, has put
// into its places with the commits of its log up to a cursor. The commit that
// puts them into the marking records the cursor. Arrive blocks while too many
// tokens wait, until ctx or the engine ends.
func (e *Engine) Arrive(ctx context.Context, upstream int, upTo Cursor, tokens []split.Crossing) error {
	return e.workers[0].inbox.put(ctx, newArrival(upstream, upTo, tokens))
}

// Known returns points up to which the log of an upstream part, by its index,
// was read, the latest first: some of the last minutes, the last one at which
// tokens arrived, and the start.
func (e *Engine) Known(upstream int) []Point {
	e.recorder.mu.Lock()
	defer e.recorder.mu.Unlock()
	return e.recorder.readings[upstream].known()
}

// Rebind makes the next owner read the log of an upstream part again from a
// point that Known has returned. Run must have ended.
func (e *Engine) Rebind(ctx context.Context, upstream int, to Point) error {
	r, w := e.recorder, e.workers[0]
	w.rest.Lock()
	now := w.now()
	w.rest.Unlock()
	back := reach{cursor: to.Cursor, back: true}
	commit, _ := appendReach(appendTime(nil, now), nil, upstream, back)
	r.mu.Lock()
	err := r.writeParts(ctx, commit)
	if err == nil {
		r.readings[upstream].move(back, now)
	}
	r.mu.Unlock()
	if err != nil {
		return err
	}
	return r.confirm(ctx)
}

// Mine returns copies of the tokens that arrive in this part.
func (e *Engine) Mine(tokens []split.Crossing) []split.Crossing {
	var mine []split.Crossing
	for _, x := range tokens {
		if int(x.Place) < len(e.cfg.Part.Cut.Places) && e.cfg.Part.Cut.Places[x.Place] {
			x.Data = bytes.Clone(x.Data)
			mine = append(mine, x)
		}
	}
	return mine
}

// cursors returns the cursors into the upstream logs; the caller holds mu.
func (r *recorder) cursors() []Cursor {
	var all []Cursor
	for i := range r.readings {
		all = append(all, r.readings[i].Now.Cursor)
	}
	return all
}

// link makes the entry of the last commit the end of the chain. Only the log of a part has one.
func (r *recorder) link(entry []byte) {
	if r.hash == nil {
		return
	}
	r.hash.Reset()
	if len(entry) < partHead || entry[0] != 0 || entry[1]&linked == 0 {
		r.hash.Write(r.chain[:]) // a linked entry already holds the mark before it
	}
	r.hash.Write(entry)
	r.hash.Sum(r.chain[:0])
	if r.last%RoundOf == 0 {
		r.round = markOf(r.chain)
	}
}

// savePart returns the header before a snapshot of a part. The worker must be
// paused.
func (e *Engine) savePart() (*partHeader, error) {
	r := e.recorder
	counts, err := e.counts(0)
	if err != nil {
		return nil, err
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	p := &partHeader{Name: e.cfg.Part.Name, Plan: e.cfg.Part.Plan, Chain: append([]byte(nil), r.chain[:]...), Owns: r.owns, Counts: counts}
	for i := range r.readings {
		p.Readings = append(p.Readings, r.readings[i].clone())
	}
	return p, nil
}

// loadPart restores what savePart returned.
func (e *Engine) loadPart(p *partHeader) error {
	r := e.recorder
	if len(p.Chain) != len(r.chain) || len(p.Readings) != len(r.readings) {
		return fmt.Errorf("%w: a chain of %d bytes and %d cursors; expected %d and %d", ErrReplay, len(p.Chain), len(p.Readings), len(r.chain), len(r.readings))
	}
	if err := e.recount(0, p.Counts); err != nil {
		return err
	}
	copy(r.chain[:], p.Chain)
	copy(r.readings, p.Readings)
	r.owns = p.Owns
	return nil
}

// Followed adds the rows of a part as of now, by the log so far. It is for an
// engine that does not run; see Rows.
func (e *Engine) Followed(now int64, into *stats.Rows) {
	e.recorder.mu.Lock() // the log may be read meanwhile
	defer e.recorder.mu.Unlock()
	e.workers[0].look(0, now, e.InstanceName, into)
}

// Latest returns the time of the last commit that was read.
func (e *Engine) Latest() int64 {
	e.recorder.mu.Lock()
	defer e.recorder.mu.Unlock()
	return e.workers[0].last
}
