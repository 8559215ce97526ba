// SPDX-License-Identifier: Apache-2.0

package logs

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"iter"
	"sync"
	"testing"

	"github.com/nats-io/nats.go"

	engines "github.com/pnagent/pnagent/engine"
	"github.com/pnagent/pnagent/engine/journal"
	"github.com/pnagent/pnagent/engine/region"
	"github.com/pnagent/pnagent/telemetry"
)

// witness receives the announcements of all members of a fleet.
type witness struct {
	mu     sync.Mutex
	claims map[claim]bool
	bad    error
}

// claim is what a member said of a part.
type claim struct {
	source, part string
	role         region.Role
	epoch        uint64
	position     uint64
	chain        string
}

// witnessed starts a witness. A restart of the server does not end it.
func (f *fleet) witnessed() *witness {
	f.t.Helper()
	w := &witness{claims: map[claim]bool{}}
	sub, err := f.conn.Subscribe(region.Subject(telemetry.Subjects{}, f.id()), w.receive)
	if err != nil {
		f.t.Fatal(err)
	}
	f.t.Cleanup(func() { _ = sub.Unsubscribe() }) // fails only where the connection is closed
	return w
}

func (w *witness) receive(m *nats.Msg) {
	var b region.Beat
	err := json.Unmarshal(m.Data, &b)
	w.mu.Lock()
	defer w.mu.Unlock()
	w.bad = errors.Join(w.bad, err)
	for _, p := range b.Parts {
		if p.Role != region.Away && p.Position > 0 {
			w.claims[claim{b.Source, p.Part, p.Role, p.Epoch, p.Position, p.Chain}] = true
		}
	}
}

// beginning is a log of which nothing but the first commit is read.
type beginning struct{ region.Log }

func (b beginning) Read(ctx context.Context, from uint64) iter.Seq2[journal.Commit, error] {
	return func(yield func(journal.Commit, error) bool) {
		for c, err := range b.Log.Read(ctx, from) {
			yield(c, err)
			return
		}
	}
}

func (b beginning) LoadSnapshot(context.Context, func(io.Reader) error) (uint64, error) {
	return 0, nil
}

// history returns how a part stood after each commit of its log, by number.
func (f *fleet) history(part *region.Part) map[uint64]engines.Standing {
	f.t.Helper()
	cfg := f.config()
	log, err := cfg.Open(f.t.Context(), part.Name, true, nil)
	if err != nil {
		f.t.Fatal(err)
	}
	defer func() { _ = log.Close() }() // it was only read
	ec, p := cfg.Engine, part.Part
	ec.Journal, ec.Part = beginning{log}, &p
	e, err := engines.New(ec)
	if err != nil {
		f.t.Fatal(err)
	}
	all := map[uint64]engines.Standing{1: e.Standing()}
	for c, err := range log.Read(f.t.Context(), 2) {
		if err == nil {
			err = e.Follow(c)
		}
		if err != nil {
			f.t.Fatalf("part %q: %v", part.Name, err)
		}
		all[c.Sequence] = e.Standing()
	}
	return all
}

// judge compares the announcements with the logs after all members have ended: epochs
// increase by one, each with one owner; an owner owned the part at each announced
// commit; and standbys had the same log. So no instance had two owners.
func (w *witness) judge(t *testing.T, f *fleet) {
	t.Helper()
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.bad != nil {
		t.Error(w.bad)
	}
	claims, moves := 0, 0
	for i := range f.all {
		part := &f.all[i]
		history := f.history(part)
		for n := uint64(2); n <= uint64(len(history)); n++ {
			before, after := history[n-1], history[n]
			switch {
			case after.Epoch == before.Epoch && (after.Owner == before.Owner || before.Epoch == 0):
			case after.Epoch == before.Epoch+1:
				moves++
			default:
				t.Errorf("part %q, commit %d: epoch %d of %q after epoch %d of %q", part.Name, n, after.Epoch, after.Owner, before.Epoch, before.Owner)
			}
		}
		for c := range w.claims {
			if c.part != part.Name {
				continue
			}
			claims++
			if err := c.agrees(history); err != nil {
				t.Error(err)
			}
		}
	}
	t.Logf("%d different claims, %d owners of %d parts", claims, moves, len(f.all))
	if claims == 0 || moves < len(f.all) {
		t.Error("not enough was received")
	}
}

func (c claim) agrees(history map[uint64]engines.Standing) error {
	at, ok := history[c.position]
	switch {
	case !ok:
		return fmt.Errorf("%+v: the log ends before", c)
	case at.Chain != c.chain:
		return fmt.Errorf("%+v: the log is another: %+v", c, at)
	case at.Epoch != c.epoch:
		return fmt.Errorf("%+v: in the log it was %+v", c, at)
	case c.role == region.Owner && at.Owner != c.source:
		return fmt.Errorf("%+v: in the log the owner was %+v", c, at)
	}
	return nil
}
