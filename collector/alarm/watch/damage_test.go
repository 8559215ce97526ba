// SPDX-License-Identifier: Apache-2.0

package watch

import (
	"bytes"
	"log/slog"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/pnagent/pnagent/collector/alarm"
	"github.com/pnagent/pnagent/collector/alarm/alarmtest"
	"github.com/pnagent/pnagent/collector/merge"
)

const damagedPlaces = 8

// key identifies the condition of an alarm.
type key struct {
	kind         alarm.Kind
	net, subject string
}

func keyOf(a *alarm.Alarm) key { return key{a.Kind, a.Net, a.Subject} }

// damagedFiles are the files of a sidecar with alarms, of which one is over and three are
// acknowledged.
type damagedFiles struct {
	dir          string
	state, notes []byte
	now          int64
	view         *merge.View
	before       *alarm.ActiveSet
	used         map[uint32]key // all indices that were ever given
	acked        map[key]int64  // when the acknowledged alarms were raised
}

func newDamagedFiles(t *testing.T) *damagedFiles {
	f := &damagedFiles{dir: t.TempDir(), now: time.Now().UnixMicro(), used: map[uint32]key{}, acked: map[key]int64{}}
	w := New(f.config())
	net := alarmtest.Wide("orders", damagedPlaces+1, f.now-3600e6)
	w.work(alarmtest.ViewOf(net), f.now)
	for _, a := range w.State().Active {
		f.used[a.Index] = keyOf(&a)
	}
	net = alarmtest.Moved(net, 0)
	for i := range damagedPlaces {
		net.Rows.Places[i].Tokens, net.Rows.Places[i].Oldest = 1, f.now-3600e6
	}
	f.view = alarmtest.ViewOf(net)
	w.work(f.view, f.now+1e6)
	w.work(f.view, f.now+62e6)
	f.before = w.State()
	for _, a := range f.before.Active[2:5] {
		if err := w.core.Acknowledge([]uint32{a.Index}, alarm.Ack{At: f.now, By: "ada", Comment: "the bank is informed"}, false); err != nil {
			t.Fatal(err)
		}
		f.acked[keyOf(&a)] = a.Raised
	}
	w.takeNotes(true, f.now+62e6)
	w.finish()
	var err1, err2 error
	f.state, err1 = os.ReadFile(f.config().StateFile)
	f.notes, err2 = os.ReadFile(f.config().NotesFile)
	if err1 != nil || err2 != nil || len(f.before.Active) != damagedPlaces || len(f.used) != damagedPlaces+1 {
		t.Fatal(err1, err2, len(f.before.Active), len(f.used))
	}
	return f
}

func (f *damagedFiles) config() Config {
	return Config{StateFile: filepath.Join(f.dir, "alarms.state"), NotesFile: filepath.Join(f.dir, "alarms.notes"), ForgetAfter: time.Hour}
}

// start starts the next process with these files. A moment later it has an alarm for each
// place, and a new one. It returns how many of them have the index of before.
func (f *damagedFiles) start(t *testing.T, what string, state, notes []byte) (w *Watcher, same, acked int) {
	t.Helper()
	for path, text := range map[string][]byte{f.config().StateFile: state, f.config().NotesFile: notes} {
		if err := os.WriteFile(path, text, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	w = New(f.config())
	now := f.now + 63e6
	w.core.Step(f.view, now)
	w.core.Step(alarmtest.ViewOf(f.view.Nets[0], alarmtest.Wide("more", 1, 1)), now+1e6)
	w.show()
	last := uint32(0)
	for i := range w.State().Active {
		a := &w.State().Active[i]
		switch of, is := f.used[a.Index]; {
		case is && of != keyOf(a):
			t.Fatalf("%s: index %d of %v is given to %v", what, a.Index, of, keyOf(a))
		case is:
			same++
		case a.Index <= last:
			t.Fatalf("%s: index %d after %d", what, a.Index, last)
		}
		last = a.Index
		if a.Ack != nil {
			acked++
			if raised, is := f.acked[keyOf(a)]; !is || raised != a.Raised {
				t.Fatalf("%s: the acknowledgement of another alarm is at %v of %d", what, keyOf(a), a.Raised)
			}
		}
	}
	for index := range f.used {
		if same < damagedPlaces && last <= index {
			t.Fatalf("%s: the last index is %d; %d was used before", what, last, index)
		}
	}
	return w, same, acked
}

// One flipped bit of a file changes nothing: the checksum shows which it is. The file is kept
// as it was found.
func TestAFlippedBitChangesNothing(t *testing.T) {
	f := newDamagedFiles(t)
	for name, whole := range map[string][]byte{"alarms.state": f.state, "alarms.notes": f.notes} {
		for bit := 0; bit < 8*len(whole); bit += 29 {
			damaged := bytes.Clone(whole)
			damaged[bit/8] ^= 1 << (bit % 8)
			state, notes := damaged, f.notes
			if name == "alarms.notes" {
				state, notes = f.state, damaged
			}
			w, same, acked := f.start(t, name, state, notes)
			if same != damagedPlaces || acked != len(f.acked) || w.Counters().Damaged.State+w.Counters().Damaged.Notes != 1 {
				t.Fatalf("%s, bit %d: %d of %d alarms have their index, %d of %d acknowledgements, %+v", name, bit, same, damagedPlaces, acked, len(f.acked), w.Counters().Damaged)
			}
			if kept, err := os.ReadFile(filepath.Join(f.dir, name+damagedSuffix)); err != nil || !bytes.Equal(kept, damaged) {
				t.Fatalf("%s, bit %d: kept is %d bytes, %v", name, bit, len(kept), err)
			}
		}
	}
}

// Whatever else is damaged: no index is given to two alarms, and no acknowledgement moves to
// another one.
//
//promise:damage damage
//promise:clears damage
func TestNoDamageGivesAnIndexTwice(t *testing.T) {
	f := newDamagedFiles(t)
	check := func(what string, damaged []byte) {
		t.Helper()
		f.start(t, what, damaged, f.notes)
	}
	none := alarm.Noted{}
	for i := 0; i < len(f.state); i += 11 {
		for _, with := range []byte{0, '9', '1', ' ', '\n', 0xff} {
			damaged := bytes.Clone(f.state)
			damaged[i] = with
			check("a byte", damaged)
		}
	}
	for i := 0; i < len(f.state); i += 48 {
		damaged := bytes.Clone(f.state)
		clear(damaged[i:min(i+64, len(damaged))])
		check("a hole", damaged)
		check("a torn file", f.state[:i])
		f.start(t, "a hole, without notes", damaged, none.File())
	}
}

// A state file that is gone, beside notes that are there, is no reason to use an index again.
func TestWithoutAStateTheNotesHaveIndices(t *testing.T) {
	f := newDamagedFiles(t)
	if err := os.Remove(f.config().StateFile); err != nil {
		t.Fatal(err)
	}
	var log strings.Builder
	cfg := f.config()
	cfg.Log = slog.New(slog.NewTextHandler(&log, nil))
	w := New(cfg)
	w.core.Step(f.view, f.now+63e6)
	w.show()
	for _, a := range w.State().Active {
		if of, is := f.used[a.Index]; is && of == (key{alarm.TokenStuck, "orders", "p8"}) || a.Ack != nil {
			t.Errorf("index %d of %v is used again, or %+v is its acknowledgement", a.Index, of, a.Ack)
		}
	}
}

// Without a change, and without a file, a View costs no state.
func TestNoStateIsMadeThatIsNotWritten(t *testing.T) {
	for what, path := range map[string]string{"no file": "", "no change": filepath.Join(t.TempDir(), "alarms.state")} {
		w := New(Config{StateFile: path})
		w.work(alarmtest.ViewOf(alarmtest.Wide("n", 100, 1)), time.Now().UnixMicro())
		if n := len(w.State().Active); n != 100 {
			t.Fatalf("%d alarms", n)
		}
		w.confirm()
		w.save(false)
		if allocs := testing.AllocsPerRun(3, func() { w.save(false) }); allocs != 0 {
			t.Errorf("%s: %v allocations for a state", what, allocs)
		}
	}
}
