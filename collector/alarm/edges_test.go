// SPDX-License-Identifier: Apache-2.0

package alarm

import (
	"errors"
	"fmt"
	"hash/crc32"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// The two of a pair may be of different versions: the digest of a book and the text of
// a page are the same in each.
//
//promise:clears version
func TestDigestsAndTextsAreStableAcrossVersions(t *testing.T) {
	s := pairSaved()
	s.Alarms[2].Phase = Unsent
	body := `pnagent-alarms 2
last 9 1790000000000005
alarm 2 sourceLost 0 0 0 "" "a" "" clearing
alarm 3 tokenStuck 1790000000000000 1789999400000000 7 "orders" "paid \"€\"\n" "a \\ b"
alarm 5 netDeadlocked 0 0 0 "n" "" "over" unsent
alarm 7 sourceLost 1790000000000005 1790000000000000 18446744073709551615 "" "p\xff" "" raising
cleared 4 1 9
`
	want := fmt.Sprintf("%send 4 %08x\n", body, crc32.ChecksumIEEE([]byte(body)))
	if d := cmp.Diff(want, string(s.Text())); d != "" {
		t.Error(d)
	}
	got, err := ParseSaved([]byte(want))
	if d := cmp.Diff(s, got); err != nil || d != "" {
		t.Errorf("parsed state: error %v (-want +got): %s", err, d)
	}
	b := bookOf(&s)
	if d := b.digest(); d != "9-4-bcdcadbb4dab76c5" {
		t.Errorf("the digest is %s", d)
	}
	for phase, index := range map[Phase]uint32{Raising: 7, Raised: 3, Unsent: 5, Clearing: 2} {
		if e := b.entries[index]; e == nil || e.Phase != phase {
			t.Errorf("alarm %d is %+v, want phase %d", index, e, phase)
		}
	}
	one := Saved{Last: 1000, Alarms: []Entry{{Alarm{Index: 1000, Kind: TokenStuck}, Raising}}, Cleared: []uint32{1}}
	if d := bookOf(&one).digest(); d != "1000-1-41c4b3e00a4b15a8" {
		t.Errorf("the digest of one is %s", d)
	}
	got, err = ParseSaved(one.Text())
	if d := cmp.Diff(one, got); err != nil || d != "" {
		t.Errorf("parsed state: error %v (-want +got): %s", err, d)
	}
}

// Between what was saved and now another process may have given an index a second.
func TestIndicesContinueBeyondThoseOfAnotherProcess(t *testing.T) {
	const now, half = (epoch + 100) * int64(1e6), uint32(maxIndex / 2)
	for _, c := range []struct {
		last    uint32
		at, now int64
		want    uint32
	}{
		{1, now, now, 100},
		{200, now, now, 200},
		{200, now - 7e6, now, 207},
		{200, now - 7e6 + 1, now, 206},
		{200, now + 7e6, now, 200},
		{half - 3, now - 7e6, now, half},
		{half + 3, now - 7e6, now, half + 3},
		{200, 0, now, half},
		{200, -1 << 62, now, half},
	} {
		if got := LastOfAll(c.last, c.at, c.now); got != c.want {
			t.Errorf("after %d of %d at %d the last index is %d, want %d", c.last, c.at, c.now, got, c.want)
		}
	}
}

// Each number of a saved alarm has a largest value, which is read, and nothing beyond.
func TestNumbersOfASavedAlarmAreBounded(t *testing.T) {
	const most, time, all = "2147483647", "4611686018427387904", "18446744073709551615"
	const overMost, overTime, overAll = "2147483648", "4611686018427387905", "18446744073709551616"
	for _, c := range []struct {
		last, index, raised, since, affected string
		ok                                   bool
	}{
		{most, most, time, time, all, true},
		{most, "1", "0", "0", "0", true},
		{overMost, "1", "0", "0", "0", false},
		{most, overMost, "0", "0", "0", false},
		{most, "0", "0", "0", "0", false},
		{most, "1", overTime, "0", "0", false},
		{most, "1", "0", overTime, "0", false},
		{most, "1", "0", "0", overAll, false},
		{most, "x", "0", "0", "0", false},
		{"1", "2", "0", "0", "0", false},
		{"2", "2", "0", "0", "0", true},
	} {
		line := fmt.Sprintf("alarm %s tokenStuck %s %s %s %q %q %q", c.index, c.raised, c.since, c.affected, "n", "p", "t")
		_, err := ParseSaved(ended(fmt.Appendf(nil, "%s\nlast %s 1\n%s\n", stateHead, c.last, line)))
		if (err == nil) != c.ok || err != nil && !errors.Is(err, ErrState) {
			t.Errorf("last %s, %s: %v", c.last, line, err)
		}
	}
}

// Fifty notifications may go at once, and then ten a second.
func TestTheLimiterPassesABurstAndARate(t *testing.T) {
	var s limiter
	for _, c := range []struct {
		at         int64
		come, pass int
		word       uint64 // of how many were held back
	}{
		{0, 60, 50, 0},
		{1e6, 5, 5, 10}, // it is over
		{2e6, 30, 15, 0},
		{2e6 + 99_999, 1, 0, 0},
		{2e6 + 100_000, 1, 1, 0},
		{11e6 - 1, 0, 0, 0},
		{11e6, 0, 0, 26}, // ten seconds after the last word
		{30e6, 51, 50, 0},
		{31e6, 1, 1, 27},
	} {
		pass, word := 0, uint64(0)
		for _, n := range s.pass(raises(c.come), t0+c.at) {
			if n.At != t0+c.at {
				t.Errorf("one of %d µs is of %d", c.at, n.At-t0)
			}
			if word = n.Suppressed; word == 0 {
				pass++
			}
		}
		if pass != c.pass || word != c.word || len(s.dropped) != c.come-c.pass {
			t.Errorf("at %d µs of %d %d pass, %d are suppressed, and the report is of %d; want %d and %d", c.at, c.come, pass, len(s.dropped), word, c.pass, c.word)
		}
	}
}
