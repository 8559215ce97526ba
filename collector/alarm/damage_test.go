// SPDX-License-Identifier: Apache-2.0

package alarm

import (
	"bytes"
	"log/slog"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/pnagent/pnagent/collector/merge"
)

const damagedPlaces = 8

// damagedFiles are the files of a sidecar with alarms, of which one is over and three are
// acknowledged.
type damagedFiles struct {
	dir          string
	state, notes []byte
	now          int64
	view         *merge.View
	before       *ActiveSet
	used         map[uint32]key // all indices that were ever given
	acked        map[key]int64  // when the acknowledged alarms were raised
}

func newDamagedFiles(t *testing.T) *damagedFiles {
	f := &damagedFiles{dir: t.TempDir(), now: time.Now().UnixMicro(), used: map[uint32]key{}, acked: map[key]int64{}}
	w := New(f.config())
	net := wide("orders", damagedPlaces+1, f.now-3600e6)
	w.work(viewOf(net), f.now)
	for _, a := range w.State().Active {
		f.used[a.Index] = a.key()
	}
	net = moved(net, 0)
	for i := range damagedPlaces {
		net.Rows.Places[i].Tokens, net.Rows.Places[i].Oldest = 1, f.now-3600e6
	}
	f.view = viewOf(net)
	w.work(f.view, f.now+1e6)
	w.work(f.view, f.now+62e6)
	f.before = w.State()
	for _, a := range f.before.Active[2:5] {
		w.coordinator.notes.acknowledge(&a, Ack{At: f.now, By: "ada", Comment: "the bank is informed"}, false)
		f.acked[a.key()] = a.Raised
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
	w.coordinator.machine.Step(f.view, now)
	w.coordinator.machine.Step(viewOf(f.view.Nets[0], wide("more", 1, 1)), now+1e6)
	w.show()
	last := uint32(0)
	for i := range w.State().Active {
		a := &w.State().Active[i]
		switch of, is := f.used[a.Index]; {
		case is && of != a.key():
			t.Fatalf("%s: index %d of %v is given to %v", what, a.Index, of, a.key())
		case is:
			same++
		case a.Index <= last:
			t.Fatalf("%s: index %d after %d", what, a.Index, last)
		}
		last = a.Index
		if a.Ack != nil {
			acked++
			if raised, is := f.acked[a.key()]; !is || raised != a.Raised {
				t.Fatalf("%s: the acknowledgement of another alarm is at %v of %d", what, a.key(), a.Raised)
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
func TestNoDamageGivesAnIndexTwice(t *testing.T) {
	f := newDamagedFiles(t)
	check := func(what string, damaged []byte) {
		t.Helper()
		f.start(t, what, damaged, f.notes)
	}
	none := noted{}
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
		f.start(t, "a hole, without notes", damaged, none.file())
	}
}

// Two acknowledgements of an index that two alarms had count for the right one only.
func TestANoteCountsForItsAlarmOnly(t *testing.T) {
	n := newNotes(10)
	a := Alarm{Index: 7, Kind: TokenStuck, Net: "n", Subject: "p", Raised: t0}
	n.acknowledge(&a, Ack{At: t0, By: "ada"}, false)
	all := n.all()
	read, err := parseNotes(all.file())
	if err != nil {
		t.Fatal(err)
	}
	for what, other := range map[string]Alarm{"place": {Index: 7, Kind: TokenStuck, Net: "n", Subject: "q", Raised: t0},
		"later alarm": {Index: 7, Kind: TokenStuck, Net: "n", Subject: "p", Raised: t0 + 1}} {
		next := newNotes(10)
		if next.merge(read, t0, always); next.ack(&other) != nil || next.ack(&a) == nil {
			t.Errorf("another %s: %+v has the acknowledgement, %+v of its alarm", what, next.ack(&other), next.ack(&a))
		}
	}
	// A page has no alarms: it counts for the alarm that has the index here.
	page, err := parseNotes(all.pages()[0])
	if err != nil {
		t.Fatal(err)
	}
	peer := newNotes(10)
	peer.merge(page, t0, always)
	if peer.ack(&a) == nil || peer.digest() != n.digest() {
		t.Errorf("a peer has %v; digests %s and %s", peer.ack(&a), peer.digest(), n.digest())
	}
	if d := cmp.Diff(&Ack{At: t0, By: "ada"}, peer.ack(&a)); d != "" {
		t.Error(d)
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
	w.coordinator.machine.Step(f.view, f.now+63e6)
	w.show()
	for _, a := range w.State().Active {
		if of, is := f.used[a.Index]; is && of == (key{TokenStuck, "orders", "p8"}) || a.Ack != nil {
			t.Errorf("index %d of %v is used again, or %+v is its acknowledgement", a.Index, of, a.Ack)
		}
	}
}

// Without a change, and without a file, a View costs no state.
func TestNoStateIsMadeThatIsNotWritten(t *testing.T) {
	for what, path := range map[string]string{"no file": "", "no change": filepath.Join(t.TempDir(), "alarms.state")} {
		w := New(Config{StateFile: path})
		w.work(viewOf(wide("n", 100, 1)), time.Now().UnixMicro())
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
