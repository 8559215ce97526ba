// SPDX-License-Identifier: Apache-2.0

package alarm

import (
	"bytes"
	"errors"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

func someSaved() Saved {
	return Saved{Last: 9, LastChange: t0 + 5, Alarms: []Entry{
		{Alarm{Index: 3, Kind: TokenStuck, Net: "orders", Subject: "paid \"€\"\n", Raised: t0, Since: t0 - 600e6, Affected: 7, Text: `a \ b`}, Raised},
		{Alarm{Index: 7, Kind: SourceLost, Subject: "p\xff", Raised: t0 + 5, Since: t0, Affected: 1<<64 - 1}, Raised},
	}}
}

// pairSaved has alarms in every phase.
func pairSaved() Saved {
	s := someSaved()
	stuck, lost := s.Alarms[0], Entry{s.Alarms[1].Alarm, Raising}
	s.Alarms = []Entry{{Alarm{Index: 2, Kind: SourceLost, Subject: "a"}, Clearing}, stuck, {Alarm{Index: 5, Kind: NetDeadlocked, Net: "n", Text: "over"}, Clearing}, lost}
	s.Cleared = []uint32{4, 1, 9}
	return s
}

// in returns alarms in a phase.
func in(p Phase, alarms ...Alarm) (out []Entry) {
	for i := range alarms {
		out = append(out, Entry{alarms[i], p})
	}
	return out
}

func TestNoMoreClearedIndicesAreReadThanAreKept(t *testing.T) {
	s := Saved{Last: maxCleared + 1}
	for i := range uint32(maxCleared) {
		s.Cleared = append(s.Cleared, i+1)
	}
	if got, err := ParseSaved(s.Text()); err != nil || len(got.Cleared) != maxCleared {
		t.Errorf("got %d cleared indices, error %v; want %d", len(got.Cleared), err, maxCleared)
	}
	s.Cleared = append(s.Cleared, maxCleared+1)
	if _, err := ParseSaved(s.Text()); !errors.Is(err, ErrState) {
		t.Errorf("one more gives %v", err)
	}
}

func TestASavedStateSurvivesARoundTrip(t *testing.T) {
	for _, s := range []Saved{{}, {Last: maxIndex}, someSaved(), pairSaved()} {
		got, err := ParseSaved(s.Text())
		if err != nil {
			t.Fatal(err)
		}
		if d := cmp.Diff(s, got); d != "" {
			t.Error(d)
		}
	}
}

func TestATornStateIsRejected(t *testing.T) {
	s := someSaved()
	text := s.Text()
	for n := range text {
		if _, err := ParseSaved(text[:n]); !errors.Is(err, ErrState) {
			t.Errorf("of %d bytes the first %d give %v", len(text), n, err)
		}
		flipped := bytes.Clone(text)
		flipped[n] ^= 1
		if _, err := ParseSaved(flipped); !errors.Is(err, ErrState) {
			t.Errorf("with byte %d changed it gives %v", n, err)
		}
	}
}

func TestAnInvalidStateIsRejected(t *testing.T) {
	a := someSaved().Alarms[0].Alarm
	for what, s := range map[string]Saved{
		"an index beyond the last":  {Last: 2, Alarms: in(Raised, a)},
		"an index twice":            {Last: 9, Alarms: in(Raised, a, a)},
		"a clearing index twice":    {Last: 9, Alarms: in(Clearing, a, a)},
		"a cleared index 0":         {Last: 9, Cleared: []uint32{0}},
		"a cleared index too large": {Last: 9, Cleared: []uint32{10}},
		"index 0":                   {Last: 2, Alarms: in(Raised, Alarm{Kind: TokenStuck})},
		"no kind":                   {Last: 2, Alarms: in(Raised, Alarm{Index: 1})},
		"a last index too large":    {Last: maxIndex + 1},
		"a time before 1970":        {Last: 2, Alarms: in(Raised, Alarm{Index: 1, Kind: TokenStuck, Raised: -1})},
	} {
		if _, err := ParseSaved(s.Text()); !errors.Is(err, ErrState) {
			t.Errorf("%s gives %v", what, err)
		}
	}
	for _, body := range []string{"", "\n", stateHead + "\n", "pnagent-alarms 3\nlast 1 1\n",
		strings.Join([]string{stateHead, "last 9 1", `alarm 7 tokenStuck 1 1 1 "" "" ""`, `alarm 3 tokenStuck 1 1 1 "" "" ""`, ""}, "\n"),
		strings.Join([]string{stateHead, "last 9 1", `alarm 7 tokenStuck 1 1 1 "" "" "" clearing`, `alarm 3 tokenStuck 1 1 1 "" "" "" clearing`, ""}, "\n"),
		strings.Join([]string{stateHead, "last 9 1", `alarm 7 tokenStuck 1 1 1 "" "" "" sent`, ""}, "\n"),
		strings.Join([]string{stateHead, "last 9 1", "cleared 1", "cleared 2", ""}, "\n"),
		strings.Join([]string{stateHead, "last 9 1", "cleared x", ""}, "\n"),
		strings.Join([]string{stateHead, "last 9 1", "cleared 1", `alarm 7 tokenStuck 1 1 1 "" "" ""`, ""}, "\n"),
		stateHead + "\nlast 1 1 1\n", stateHead + "\nlast 1 1\n\n"} {
		if _, err := ParseSaved(ended([]byte(body))); !errors.Is(err, ErrState) {
			t.Errorf("%q gives %v", body, err)
		}
	}
}

func FuzzParseSaved(f *testing.F) {
	s := someSaved()
	f.Add(s.Text())
	f.Fuzz(func(t *testing.T, text []byte) {
		s, err := ParseSaved(text)
		if err != nil {
			if !errors.Is(err, ErrState) {
				t.Errorf("%v is no ErrState", err)
			}
			return
		}
		again, err := ParseSaved(s.Text())
		if d := cmp.Diff(s, again); err != nil || d != "" {
			t.Errorf("state written and parsed again: error %v (-want +got): %s", err, d)
		}
	})
}

// Whatever the lines are, with a right end they are taken or refused.
func FuzzSavedLines(f *testing.F) {
	s := someSaved()
	f.Add(s.Text()[:bytes.LastIndex(s.Text(), []byte("end "))])
	f.Fuzz(func(_ *testing.T, body []byte) {
		s, err := ParseSaved(ended(body))
		if err == nil {
			NewMachine(DefaultRules(), s, forgetAfter).Step(nil, t0)
		}
	})
}

func TestAFileKeepsThatASourceWasNeverShown(t *testing.T) {
	want := Saved{Last: 4, LastChange: t0, Alarms: []Entry{
		{Alarm{Index: 2, Kind: SourceRefused, Subject: "flood-0", Raised: t0, Since: t0, Affected: 1, Text: "x", Unshown: true}, Raising},
		{Alarm{Index: 3, Kind: SourceRefused, Subject: "good", Raised: t0, Since: t0, Affected: 1, Text: "x"}, Raised},
		{Alarm{Index: 4, Kind: SourceRefused, Subject: "flood-1", Raised: t0, Since: t0, Affected: 1, Text: "over", Unshown: true}, Clearing},
	}}
	got, err := ParseSaved(want.Text())
	want.Alarms[2].Unshown = false // of one that is over it says nothing
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("-want +got: %s", diff)
	}
}
