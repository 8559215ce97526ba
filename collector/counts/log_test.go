// SPDX-License-Identifier: Apache-2.0

package counts

import (
	"bytes"
	"errors"
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/pnagent/pnagent/collector/merge"
)

// text is a file in memory. Its operations fail from the number failAt on, if that is not 0; the
// one with that number may have done a part.
type text struct {
	now, synced []byte // synced lasts through a power loss
	ops, failAt int
}

var errPower = errors.New("no power")

func (f *text) op() error {
	if f.ops++; f.failAt != 0 && f.ops >= f.failAt {
		return errPower
	}
	return nil
}

func (f *text) replace(_ string, content []byte) error {
	if err := f.op(); err != nil {
		return err
	}
	f.now, f.synced = bytes.Clone(content), bytes.Clone(content)
	return nil
}

func (f *text) appendTo(string) (file, error) { return f, f.op() }
func (f *text) remove(string) error           { return f.op() }
func (f *text) truncate(string) error         { return f.op() }
func (f *text) Close() error                  { return nil }

func (f *text) Write(p []byte) (int, error) {
	err := f.op()
	if err != nil && f.ops == f.failAt {
		p = p[:len(p)/3]
	} else if err != nil {
		return 0, err
	}
	f.now = append(f.now, p...)
	return len(p), err
}

func (f *text) Sync() error {
	err := f.op()
	if err == nil {
		f.synced = bytes.Clone(f.now)
	}
	return err
}

// powerLoss returns what is there after the next boot: of what was not synced, each sector of 16
// bytes or zeros, or nothing at all.
func (f *text) powerLoss(r *rand.Rand) []byte {
	out := bytes.Clone(f.synced)
	if r.IntN(4) == 0 {
		return out
	}
	for k := len(f.synced); k < len(f.now); k += 16 {
		sector := f.now[k:min(k+16, len(f.now))]
		if r.IntN(2) == 0 {
			sector = make([]byte, len(sector))
		}
		out = append(out, sector...)
	}
	return out[:len(out)-r.IntN(len(out)-len(f.synced)+1)]
}

// A process that is killed, or loses its power, at any operation leaves all frames that were
// reported as kept, in order, and perhaps the one that it was writing; never a part of one.
//
//promise:durable kill power
func TestAKillAtAnyOperationLeavesWholeFrames(t *testing.T) {
	frames := func() (all []merge.Frame) {
		for i := range 3 {
			all = append(all, begins(fmt.Sprint("state ", i)))
			for k := range 4 {
				all = append(all, adds(fmt.Sprint(i, " shown ", k, strings.Repeat(" row", 1+30*k))))
			}
		}
		return all
	}()
	ops := 0
	for failAt := 0; failAt <= ops; failAt++ {
		disk := &text{failAt: failAt}
		l := log{files: disk}
		var reported, next []string // the log, and what it is with the frame being written
		for _, f := range frames {
			next = append(append([]string{}, reported...), string(f.Records))
			if f.First {
				next = []string{string(f.Records)}
			}
			if err := l.add(Header{}, f); err != nil {
				break
			}
			reported = next
		}
		if failAt == 0 {
			ops = disk.ops
		}
		for seed := range uint64(40) {
			now := disk.now
			if seed > 0 {
				now = disk.powerLoss(rand.New(rand.NewPCG(1, seed)))
			}
			k, _, err := parse(now)
			if len(reported) == 0 && errors.Is(err, errNotKept) {
				continue
			}
			if err != nil {
				t.Fatalf("operation %d, seed %d: %v", failAt, seed, err)
			}
			if got := texts(k.frames); got != strings.Join(reported, "|") && got != strings.Join(next, "|") {
				t.Errorf("operation %d, seed %d: %q; want %q", failAt, seed, got, reported)
			}
		}
	}
	if ops < 30 {
		t.Errorf("%d operations", ops)
	}
}

// Each byte at which a kill can end the file, and each bit that may change later.
func TestALogAtEachByte(t *testing.T) {
	disk := &text{}
	l := log{files: disk}
	sizes := []int{}
	want := []string{"counted", "shown", "shown more", "shown most"}
	for i, records := range want {
		if err := l.add(Header{Source: "a"}, merge.Frame{First: i == 0, Records: []byte(records)}); err != nil {
			t.Fatal(err)
		}
		sizes = append(sizes, len(disk.now))
	}
	for n := range disk.now {
		k, torn, err := parse(disk.now[:n])
		whole := 0
		for whole < len(sizes) && sizes[whole] <= n {
			whole++
		}
		switch {
		case whole == 0 && !errors.Is(err, ErrState):
			t.Errorf("%d bytes: %v; want that there is no state", n, err)
		case whole > 0 && (err != nil || texts(k.frames) != strings.Join(want[:whole], "|") || (torn == nil) != (n == sizes[whole-1])):
			t.Errorf("%d bytes: %v, torn %v; want %d frames", n, err, torn, whole)
		}
		bad := bytes.Clone(disk.now)
		bad[n] ^= 1
		if k, _, err = parse(bad); n < sizes[2] && err == nil || n >= sizes[2] && (err != nil || len(k.frames) != 3) {
			t.Errorf("byte %d changed: %v", n, err)
		} else if n < sizes[2] && n > 40 && !strings.Contains(err.Error(), "damaged at byte") {
			t.Errorf("byte %d changed: %v; want the byte of the damage", n, err)
		}
	}
}
