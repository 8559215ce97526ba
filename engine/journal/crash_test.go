// SPDX-License-Identifier: Apache-2.0

package journal

import (
	"bytes"
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"hash/fnv"
	"io"
	"math/rand/v2"
	"testing"
	"time"

	"github.com/pnagent/pnagent/internal/seeds"
)

// errPower reports that the power was lost: from then on every operation fails.
var errPower = errors.New("power lost")

// model is a simple record of what a journal must hold.
type model struct {
	commits [][]byte // all that were ever passed to Append, by sequence - 1
	last    uint64   // accepted by Append
	durable uint64   // acknowledged as durable
	newest  uint64   // the last commit in it
	now     int64
}

// fold returns the state after the commits up to a number, which a snapshot
// holds.
func (m *model) fold(upTo uint64) []byte {
	h := fnv.New64a()
	for _, c := range m.commits[:upTo] {
		fmt.Fprintf(h, "%d:%x;", len(c), c)
	}
	return bytes.Repeat(binary.BigEndian.AppendUint64(nil, h.Sum64()), int(upTo%40))
}

// check reads the whole journal and compares it with the model.
func (m *model) check(t testing.TB, f *File) {
	t.Helper()
	ctx := context.Background()
	upTo, err := f.LoadSnapshot(ctx, func(r io.Reader) error {
		got, err := io.ReadAll(r)
		if err == nil && !bytes.Equal(got, m.fold(f.newest)) {
			t.Fatalf("the snapshot up to commit %d holds another state", f.newest)
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	next := upTo + 1
	for c, err := range f.Read(ctx, next) {
		if err != nil {
			t.Fatal(err)
		}
		if c.Sequence != next {
			t.Fatalf("commit %d follows %d", c.Sequence, next-1)
		}
		if want := m.commits[next-1]; !bytes.Equal(c.Payload, want) {
			t.Fatalf("commit %d is %x, want %x", next, c.Payload, want)
		}
		next++
	}
	if next-1 != f.Last() {
		t.Fatalf("the commits end with %d, want %d", next-1, f.Last())
	}
}

// powerLost loses the data that is only in memory.
func (m *model) powerLost(dir *memDir, rng *rand.Rand) *memDir {
	m.last = m.durable
	return dir.powerLoss(rng)
}

// recovered checks a journal that was opened after a crash, and removes from
// the model the commits that the crash has lost.
func (m *model) recovered(t testing.TB, f *File) {
	t.Helper()
	last := f.Last()
	if last < m.last || last > uint64(len(m.commits)) {
		t.Fatalf("after the crash the last commit is %d; %d was durable, %d were appended", last, m.last, len(m.commits))
	}
	if f.Durable() != last {
		t.Fatalf("after Open, %d of %d commits are durable", f.Durable(), last)
	}
	m.check(t, f)
	m.commits = m.commits[:last]
	m.last, m.durable, m.newest = last, last, f.newest
}

// step does one random operation and returns the error of the disk.
func (m *model) step(t testing.TB, f *File, rng *rand.Rand) error {
	t.Helper()
	ctx := context.Background()
	m.now += rng.Int64N(60_000)
	switch k := rng.IntN(20); {
	case k < 11:
		return m.append(t, f, rng)
	case k < 15:
		if err := f.Sync(ctx, m.now); err != nil {
			return err
		}
	case k < 17 && m.last > 0:
		upTo := max(m.newest, 1) + rng.Uint64N(m.last-max(m.newest, 1)+1)
		err := f.SaveSnapshot(ctx, upTo, func(w io.Writer) error {
			_, err := w.Write(m.fold(upTo))
			return err
		})
		if err != nil {
			return err
		}
		m.newest = upTo
	case k < 18:
		m.check(t, f)
	case k < 19:
		if n, err := f.Append(ctx, m.last+1+rng.Uint64N(3), []byte("from elsewhere")); !errors.Is(err, ErrNotLast) || n != m.last {
			t.Fatalf("append after a commit other than %d: %d, %v", m.last, n, err)
		}
	}
	m.durable = f.Durable()
	return nil
}

func (m *model) append(t testing.TB, f *File, rng *rand.Rand) error {
	t.Helper()
	var group [][]byte
	for range 1 + rng.IntN(4) {
		c := make([]byte, []int{0, 3, 40, 150}[rng.IntN(4)])
		for i := range c {
			c[i] = byte(rng.Uint32())
		}
		group = append(group, c)
	}
	m.commits = append(m.commits[:m.last], group...)
	last, err := f.Append(context.Background(), m.last, group...)
	if err != nil {
		return err
	}
	if last != m.last+uint64(len(group)) || f.Last() != last {
		t.Fatalf("append of %d commits after %d: last is %d", len(group), m.last, last)
	}
	m.last = last
	if f.options.Mode == SyncAlways && f.Durable() != last {
		t.Fatalf("with fsync always, %d of %d commits are durable", f.Durable(), last)
	}
	m.durable = f.Durable()
	return nil
}

// stopped checks that a journal rejects everything after an error of the disk.
func (m *model) stopped(t testing.TB, f *File, cause error) {
	t.Helper()
	durable := f.Durable()
	if durable > m.last {
		t.Fatalf("Durable returns %d, but %d commits were accepted", durable, m.last)
	}
	m.durable = max(m.durable, durable)
	ctx := context.Background()
	_, err := f.Append(ctx, f.Last(), []byte("more"))
	for _, err := range []error{err, f.Sync(ctx, m.now+1e9), f.SaveSnapshot(ctx, f.Last(), func(io.Writer) error { return nil }), f.Close()} {
		if !errors.Is(err, ErrStopped) || !errors.Is(err, cause) {
			t.Fatalf("after %v the journal returns %v", cause, err)
		}
	}
	if f.Durable() != durable {
		t.Fatal("a stopped journal acknowledges commits")
	}
}

func randomOptions(rng *rand.Rand) Options {
	o, _ := Options{Mode: SyncMode(rng.IntN(3)), Interval: 100 * time.Millisecond, SegmentBytes: []int64{1, 100, 600, 1 << 20}[rng.IntN(4)]}.checked()
	return o
}

// live opens the journal and uses it until the power is lost or the steps are
// done. done is false if the power was lost.
func (m *model) live(t testing.TB, dir *memDir, rng *rand.Rand, steps int) (done bool) {
	t.Helper()
	f, _, err := openIn(dir, randomOptions(rng))
	if errors.Is(err, errPower) {
		return false
	}
	if err != nil {
		t.Fatalf("the journal cannot be opened after a crash: %v", err)
	}
	m.recovered(t, f)
	for range steps {
		if err := m.step(t, f, rng); errors.Is(err, errPower) {
			if errors.Is(err, ErrStopped) {
				m.stopped(t, f, errPower)
			}
			return false
		} else if err != nil {
			t.Fatal(err)
		}
	}
	if err := f.Close(); err != nil {
		if !errors.Is(err, errPower) {
			t.Fatal(err)
		}
		return false
	}
	m.durable = m.last
	return true
}

// outOfPower returns a fault that fails the nth operation and all later ones.
func outOfPower(n int) func(string) error {
	return func(string) error {
		if n--; n < 0 {
			return errPower
		}
		return nil
	}
}

// The power is lost before each operation in turn that changes the disk, while
// the journal is used and while it is opened afterwards.
//
//promise:durable power
func TestAPowerLossAtEveryOperationLosesNothingDurable(t *testing.T) {
	lost := 0
	for s := range seeds.Of(1, 12, 1, 2) {
		for n, done := 0, false; !done; n++ {
			for v := range uint64(3) {
				m := &model{}
				dir := newMemDir()
				dir.fault = outOfPower(n)
				done = m.live(t, dir, rand.New(rand.NewPCG(s, 0)), 40)
				rng := rand.New(rand.NewPCG(s, v))
				dir = m.powerLost(dir, rng)
				dir.fault = outOfPower(int(v) * 4)
				m.live(t, dir, rng, 5)
				m.live(t, m.powerLost(dir, rng), rng, 20)
				lost++
			}
		}
	}
	t.Logf("%d power losses", 2*lost)
}

// A killed process loses nothing that Append accepted. A power loss in a later
// process loses nothing that was durable.
//
//promise:durable kill power none
func TestManyRunsWithKillsAndPowerLosses(t *testing.T) {
	for s := range seeds.Of(20, 500, 72, 164, 125, 166, 20, 22, 32, 35, 51, 135, 184, 201, 227) {
		rng := rand.New(rand.NewPCG(s, 7))
		m := &model{}
		dir := newMemDir()
		for range 8 {
			dir.fault = outOfPower(rng.IntN(120))
			m.live(t, dir, rng, 60)
			if rng.IntN(2) == 0 {
				dir = dir.kill()
			} else {
				dir = m.powerLost(dir, rng)
			}
		}
	}
}

// The disk fails once and then works again: a failed sync has dropped the pages
// that it could not write. The journal must stop; the process that opens it
// next must not treat as durable what is only in memory.
//
//promise:durable disk
//promise:refused disk
func TestAfterAFailedSyncOrAFullDiskNothingIsAcknowledgedThatIsNotThere(t *testing.T) {
	n, stopped := 0, map[string]int{}
	for s := range seeds.Of(40, 1500, 47) {
		n++
		rng := rand.New(rand.NewPCG(s, 3))
		m := &model{}
		dir := newMemDir()
		for range 6 {
			f, _, err := openIn(dir, randomOptions(rng))
			if err != nil {
				t.Fatalf("seed %d: %v", s, err)
			}
			m.recovered(t, f)
			bad, at := []string{"write", "sync", "create", "rename"}[rng.IntN(4)], rng.IntN(15)
			cause := map[string]error{"write": errFull, "sync": errDropped, "create": errFull, "rename": errFull}[bad]
			dir.fault = func(op string) error {
				if op == bad {
					if at--; at == -1 {
						return cause
					}
				}
				return nil
			}
			for range 30 {
				if err = m.step(t, f, rng); err != nil {
					break
				}
			}
			switch {
			case err != nil && !errors.Is(err, cause):
				t.Fatalf("seed %d: %v", s, err)
			case errors.Is(err, ErrStopped):
				stopped[bad]++
				m.stopped(t, f, cause)
			}
			dir = dir.kill()
			if rng.IntN(2) == 0 {
				dir = m.powerLost(dir, rng)
			}
		}
	}
	for _, bad := range []string{"write", "sync", "create", "rename"} {
		if n > 1 && stopped[bad] == 0 {
			t.Errorf("no journal was stopped by %s", bad)
		}
	}
	t.Logf("stopped by %v", stopped)
}

//promise:durable disk
func TestAFullDiskDuringASnapshotLeavesAllAsItWas(t *testing.T) {
	ctx := context.Background()
	dir := newMemDir()
	o, _ := Options{}.checked()
	f, _, err := openIn(dir, o)
	if err != nil {
		t.Fatal(err)
	}
	last, err := f.Append(ctx, 0, []byte("a"), []byte("b"))
	if err != nil {
		t.Fatal(err)
	}
	dir.fault = func(op string) error {
		if op == "write" {
			return errFull
		}
		return nil
	}
	err = f.SaveSnapshot(ctx, last, func(w io.Writer) error { _, err := w.Write([]byte("ab")); return err })
	if !errors.Is(err, errFull) || errors.Is(err, ErrStopped) {
		t.Fatalf("saving on a full disk: %v", err)
	}
	dir.fault = func(string) error { return nil }
	if names, _ := dir.names(); len(names) != 1 {
		t.Errorf("left behind: %q", names)
	}
	if last, err = f.Append(ctx, last, []byte("c")); err != nil || last != 3 {
		t.Fatalf("append after that: %d, %v", last, err)
	}
	if err := f.Close(); err != nil {
		t.Fatal(err)
	}
	m := &model{last: 3, commits: [][]byte{[]byte("a"), []byte("b"), []byte("c")}}
	f, warnings, err := openIn(dir, o)
	if err != nil || len(warnings) != 0 {
		t.Fatal(warnings, err)
	}
	m.recovered(t, f)
}
