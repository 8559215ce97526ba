// SPDX-License-Identifier: Apache-2.0

package alarm

import (
	"bytes"
	"errors"
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/pnagent/pnagent/internal/seeds"
	"github.com/pnagent/pnagent/stats"
)

const hour = int64(3600e6)

func always(uint32) bool { return true }
func never(uint32) bool  { return false }

// someNotes has each kind of note, and texts that need quotes.
func someNotes() Noted {
	return Noted{
		acks: []ackNote{{index: 7, Ack: Ack{At: t0, By: "ada", Comment: "the \"bank\"\nis informed"}, about: keyOf(TokenStuck, "orders", "paid €"), raised: t0 - 1}, {index: 8, Ack: Ack{At: t0 + 1, By: "eve"}, withdrawn: true}},
		silences: []silenceNote{
			{Silence: Silence{ID: "00c0ffee00c0ffee", From: t0, Until: t0 + hour, By: "ada", Comment: "upgrade", Selection: Selection{Kind: TokenStuck, Net: "orders", Place: "paid *"}}, at: t0},
			{Silence: Silence{ID: "00c0ffee00c0fff0", From: t0, Until: t0 + hour, By: "ada", Selection: Selection{Net: "*", ForReason: stats.ReasonNoWorker}}, at: t0 + 1, endedBy: "eve"}},
		cleared: []ClearedAlarm{
			{Alarm: Alarm{Index: 5, Kind: TokenStuck, Severity: Minor, Raised: t0 - 1, Since: t0 - 2, Affected: 3, Net: "orders", Subject: "paid €", Text: "over"}, Cleared: t0},
			{Alarm: Alarm{Index: 6, Kind: SourceLost, Severity: Major, Subject: "p\xff", Ack: &Ack{At: t0, By: "ada", Comment: "seen"}}, Cleared: t0}},
	}
}

// compared compares notes with all their fields.
func compared(a, b Noted) string {
	return cmp.Diff(a, b, cmp.AllowUnexported(Noted{}, ackNote{}, silenceNote{}, key{}))
}

func TestNotesSurviveARoundTrip(t *testing.T) {
	for _, n := range []Noted{{}, someNotes()} {
		for _, text := range [][]byte{n.File(), n.text()} {
			got, err := ParseNoted(text)
			if d := compared(n, got); err != nil || d != "" {
				t.Errorf("error %v (-want +got): %s", err, d)
			}
			for i := range n.acks { // which a page does not have
				n.acks[i].about, n.acks[i].raised = key{}, 0
			}
		}
	}
}

func TestATornFileOfNotesIsRejected(t *testing.T) {
	n := someNotes()
	text := n.text()
	for i := range text {
		flipped := bytes.Clone(text)
		flipped[i] ^= 1
		for _, damaged := range [][]byte{text[:i], flipped} {
			if _, err := ParseNoted(damaged); !errors.Is(err, ErrState) {
				t.Fatalf("byte %d: %v", i, err)
			}
		}
	}
}

func TestInvalidNotesAreRejected(t *testing.T) {
	long := strings.Repeat("x", MaxComment+1)
	for _, line := range []string{
		"", "ack", "ack 0 1 \"a\" \"\"", "ack 1 -1 \"a\" \"\"", "ack 1 1 a \"\"", "ack 1 1 \"a\" \"\" more", `ack 1 1 "a" "` + long + `"`, `ack 1 1 "` + long + `" ""`,
		`silence 00c0ffee00c0ffe 1 1 2 "a" "" any "*" "" "" ""`, `silence 00C0FFEE00C0FFEE 1 1 2 "a" "" any "*" "" "" ""`, `silence 00c0ffee00c0ffee 1 2 2 "a" "" any "*" "" "" ""`,
		`silence 00c0ffee00c0ffee 1 1 99999999999999 "a" "" any "*" "" "" ""`, `silence 00c0ffee00c0ffee 1 1 2 "a" "" every "*" "" "" ""`,
		`silence 00c0ffee00c0ffee 1 1 2 "a" "" any "*" "" "" "" over "b"`, `silence 00c0ffee00c0ffee 1 1 2 "a" "" any "*" "" "" "" ended ""`, `silence 00c0ffee00c0ffee 1 1 2 "a" "" any "*" "" "" "" reason tired`, `silence 00c0ffee00c0ffee 1 1 2 "a" "" any "` + long + `" "" "" ""`,
		`cleared 5 tokenStuck high 1 1 1 3 "" "" "" 0 "" ""`, `cleared 5 stuck minor 1 1 1 3 "" "" "" 0 "" ""`, `cleared 5 tokenStuck minor 1 1 1 3 "" "" ""`,
		notesHead, "raised 5",
	} {
		if _, err := ParseNoted(notesEnded([]byte(notesHead + "\n" + line + "\n"))); !errors.Is(err, ErrState) {
			t.Errorf("%q gives %v; want ErrState", line, err)
		}
	}
	for _, body := range []string{"", "pnagent-notes 3\n", `ack 1 1 "a" ""` + "\n"} {
		if _, err := ParseNoted(notesEnded([]byte(body))); !errors.Is(err, ErrState) {
			t.Errorf("%q gives %v; want ErrState", body, err)
		}
	}
}

// Whatever the lines are, with a right end they are taken or refused, and what is taken is
// written as it was read.
func FuzzParseNotes(f *testing.F) {
	n := someNotes()
	f.Add(n.text()[:bytes.LastIndex(n.text(), []byte("end "))])
	f.Fuzz(func(t *testing.T, body []byte) {
		n, err := ParseNoted(notesEnded(body))
		if err != nil {
			if !errors.Is(err, ErrState) {
				t.Errorf("%v is no ErrState", err)
			}
			return
		}
		again, err := ParseNoted(n.File())
		if d := compared(n, again); err != nil || d != "" {
			t.Errorf("written and parsed again: error %v (-want +got): %s", err, d)
		}
		one, other := newNotes(3), newNotes(3)
		one.merge(n, t0, never)
		other.merge(one.all(), t0, never)
		if d := compared(one.all(), other.all()); d != "" {
			t.Errorf("merged once and twice: %s", d)
		}
	})
}

// randomNote returns notes with one version of a note.
func randomNote(r *rand.Rand) (n Noted) {
	at, by := t0+r.Int64N(4), string(rune('a'+r.IntN(2)))
	switch r.IntN(3) {
	case 0:
		n.acks = []ackNote{{index: 1 + r.Uint32N(3), Ack: Ack{At: at, By: by}, withdrawn: r.IntN(2) == 0}}
	case 1:
		s := silenceNote{Silence: Silence{ID: fmt.Sprintf("%016x", r.IntN(3)), From: t0, Until: t0 + hour, By: by, Selection: Selection{Net: "*"}}, at: at}
		if r.IntN(2) == 0 {
			s.endedBy = by
		}
		n.silences = []silenceNote{s}
	default:
		n.cleared = []ClearedAlarm{{Alarm: Alarm{Index: 1 + r.Uint32N(6), Kind: TokenStuck, Severity: Minor, Text: by}, Cleared: at}}
	}
	return n
}

func TestMergingNotesHasOneResultInAnyOrder(t *testing.T) {
	for seed := range seeds.Of(100, 2000) {
		r := rand.New(rand.NewPCG(seed, 1))
		var versions []Noted
		for range 1 + r.IntN(12) {
			versions = append(versions, randomNote(r))
		}
		var want Noted
		for i := range 4 {
			parts := []*notes{newNotes(3), newNotes(3)}
			for _, v := range r.Perm(len(versions)) {
				parts[r.IntN(2)].merge(versions[v], t0, always)
			}
			parts[0].merge(parts[1].all(), t0, always)
			if got := parts[0].all(); i == 0 {
				want = got
			} else if d := compared(want, got); d != "" {
				t.Fatalf("seed %d (-one order +another): %s", seed, d)
			}
		}
	}
}

// The clock of the sidecar that takes the second change may be behind.
func TestAChangeIsLaterThanWhatItReplaces(t *testing.T) {
	n := newNotes(10)
	n.acknowledge(&Alarm{Index: 3}, Ack{At: t0, By: "ada"}, false)
	n.acknowledge(&Alarm{Index: 3}, Ack{At: t0 - hour, By: "eve"}, true)
	if got := n.ack(&Alarm{Index: 3}); got != nil {
		t.Errorf("after its withdrawal there is %+v", got)
	}
	s := Silence{ID: "00c0ffee00c0ffee", From: t0, Until: t0 + hour, By: "ada", Selection: Selection{Net: "n"}}
	if err := n.silence(s); err != nil {
		t.Fatal(err)
	}
	other := newNotes(10)
	other.merge(n.all(), t0, always)
	if err := other.unsilence(s.ID, "eve", t0-hour); err != nil {
		t.Fatal(err)
	}
	n.merge(other.all(), t0, always)
	other.merge(n.all(), t0, always)
	for _, n := range []*notes{n, other} {
		if got := n.inEffect(); got != nil {
			t.Errorf("after its end there is %+v", got)
		}
		if err := n.unsilence(s.ID, "eve", t0); !errors.Is(err, ErrNoSilence) {
			t.Errorf("a second end gives %v; want ErrNoSilence", err)
		}
	}
}

func TestASilenceSelectsAlarmsByEveryPatternThatItHas(t *testing.T) {
	place := Alarm{Kind: TokenStuck, Net: "orders", Subject: "paid"}
	dead := Alarm{Kind: TokenStuck, Net: "orders", Subject: "paid", Selects: stats.ReasonNoWorker}
	transition := Alarm{Kind: TransitionStarved, Net: "orders", Subject: "pay"}
	source := Alarm{Kind: SourceLost, Subject: "berlin"}
	net := Alarm{Kind: NetDeadlocked, Net: "claims"}
	all := []Alarm{place, dead, transition, source, net}
	for _, c := range []struct {
		of   Selection
		want []Alarm
	}{
		{Selection{Net: "*"}, all},
		{Selection{Net: "order?"}, []Alarm{place, dead, transition}},
		{Selection{Kind: TokenStuck}, []Alarm{place, dead}},
		{Selection{ForReason: stats.ReasonNoWorker}, []Alarm{dead}},
		{Selection{ForReason: stats.ReasonIncident, Net: "*"}, nil},
		{Selection{Place: "*"}, []Alarm{place, dead}},
		{Selection{Place: "p*", Net: "claims"}, nil},
		{Selection{Transition: "pay"}, []Alarm{transition}},
		{Selection{Transition: "paid"}, nil},
		{Selection{Source: "b*"}, []Alarm{source}},
		{Selection{Kind: SourceLost, Place: "*"}, nil},
	} {
		var got []Alarm
		for _, a := range all {
			if c.of.selects(&a) {
				got = append(got, a)
			}
		}
		if d := cmp.Diff(c.want, got); d != "" {
			t.Errorf("%+v (-want +got): %s", c.of, d)
		}
	}
}

func TestASilenceIsOfSomethingAndBounded(t *testing.T) {
	n := newNotes(10)
	ok := Silence{ID: "00c0ffee00c0ffee", From: t0, Until: t0 + hour, By: "ada", Selection: Selection{Net: "n"}}
	for what, change := range map[string]func(*Silence){
		"nothing":        func(s *Silence) { s.Selection = Selection{} },
		"no time":        func(s *Silence) { s.Until = s.From },
		"too long":       func(s *Silence) { s.Until = s.From + MaxSilence.Microseconds() + 1 },
		"a long pattern": func(s *Silence) { s.Place = strings.Repeat("p", maxPattern+1) },
	} {
		s := ok
		change(&s)
		if err := n.silence(s); !errors.Is(err, ErrNote) {
			t.Errorf("%s: %v; want ErrNote", what, err)
		}
	}
	for i := range MaxSilences {
		s := ok
		s.ID = fmt.Sprintf("%016x", i)
		if err := n.silence(s); err != nil {
			t.Fatal(err)
		}
	}
	if err := n.silence(ok); !errors.Is(err, ErrNote) {
		t.Errorf("one more gives %v; want ErrNote", err)
	}
	more := newNotes(10)
	more.putSilence(silenceNote{Silence: ok, at: t0 + 1})
	n.merge(more.all(), t0, always)
	if len(n.silences) != MaxSilences || n.silences[ok.ID].ID == "" {
		t.Errorf("%d silences after one more was merged; want the newest %d", len(n.silences), MaxSilences)
	}
	n.expire(t0 + hour)
	if len(n.silences) != 0 {
		t.Errorf("%d silences after their end", len(n.silences))
	}
	n.merge(more.all(), t0+hour, always)
	if len(n.silences) != 0 {
		t.Error("a silence that is over is taken from another sidecar")
	}
}

func TestAcknowledgementsAreKeptWhileTheAlarmIsActive(t *testing.T) {
	n := newNotes(10)
	n.acknowledge(&Alarm{Index: 3}, Ack{At: t0, By: "ada"}, false)
	n.forget(t0+2*hour, always)
	if n.ack(&Alarm{Index: 3}) == nil {
		t.Error("that of an active alarm is forgotten")
	}
	n.forget(t0+hour, never)
	if n.ack(&Alarm{Index: 3}) == nil {
		t.Error("that of another sidecar's alarm is forgotten before this one can have the alarm")
	}
	n.forget(t0+hour+1, never)
	if n.ack(&Alarm{Index: 3}) != nil {
		t.Error("that of an alarm that is over is kept")
	}
}

func TestTheNewestClearedAlarmsAreKept(t *testing.T) {
	n := newNotes(3)
	n.acknowledge(&Alarm{Index: 2}, Ack{At: t0, By: "ada"}, false)
	for i, index := range []uint32{5, 3, 4, 2, 3} {
		n.record([]Alarm{{Index: index, Text: "over"}}, t0+int64(i))
	}
	var got []string
	for _, c := range n.cleared {
		got = append(got, fmt.Sprint(c.Index, " ", c.Cleared-t0, " ", c.Ack != nil))
	}
	if d := cmp.Diff([]string{"4 2 false", "2 3 true", "3 4 false"}, got); d != "" {
		t.Errorf("(-want +got): %s", d)
	}
	n.putCleared(ClearedAlarm{Alarm: Alarm{Index: 9}, Cleared: t0})
	if len(n.cleared) != 3 || n.cleared[0].Index != 4 {
		t.Errorf("an older one displaces a newer one: %+v", n.cleared)
	}
}

func TestAShortenedHistoryDoesNotMakeSidecarsDiffer(t *testing.T) {
	one, other := newNotes(1), newNotes(9)
	some := someNotes()
	one.merge(some, t0, always)
	other.merge(some, t0, always)
	if one.digest() != other.digest() {
		t.Errorf("digests %s and %s; want the same", one.digest(), other.digest())
	}
	before := one.digest()
	one.acknowledge(&Alarm{Index: 7}, Ack{At: t0 + 1, By: "eve"}, true)
	if one.digest() == before {
		t.Error("the digest does not show a withdrawn acknowledgement")
	}
}

func TestPagesOfNotesAreSmall(t *testing.T) {
	var n Noted
	for i := range uint32(5000) {
		n.acks = append(n.acks, ackNote{index: i + 1, Ack: Ack{At: t0, By: "ada", Comment: strings.Repeat("c", 100)}})
	}
	got := newNotes(10)
	for _, page := range n.Pages() {
		part, err := ParseNoted(page)
		if err != nil || len(page) > 2*pageSize {
			t.Fatalf("a page of %d bytes: %v", len(page), err)
		}
		got.merge(part, t0, always)
	}
	if len(got.acks) != 5000 || len((&Noted{}).Pages()) != 0 {
		t.Errorf("%d of 5000, and %d pages of nothing", len(got.acks), len((&Noted{}).Pages()))
	}
}

// Two acknowledgements of an index that two alarms had count for the right one only.
func TestANoteCountsForItsAlarmOnly(t *testing.T) {
	n := newNotes(10)
	a := Alarm{Index: 7, Kind: TokenStuck, Net: "n", Subject: "p", Raised: t0}
	n.acknowledge(&a, Ack{At: t0, By: "ada"}, false)
	all := n.all()
	read, err := ParseNoted(all.File())
	if err != nil {
		t.Fatal(err)
	}
	for what, other := range map[string]Alarm{"place": {Index: 7, Kind: TokenStuck, Net: "n", Subject: "q", Raised: t0},
		"later alarm": {Index: 7, Kind: TokenStuck, Net: "n", Subject: "p", Raised: t0 + 1}} {
		next := newNotes(10)
		next.merge(read, t0, always)
		if next.ack(&other) != nil || next.ack(&a) == nil {
			t.Errorf("another %s: %+v has the acknowledgement, %+v of its alarm", what, next.ack(&other), next.ack(&a))
		}
	}
	// A page has no alarms: it counts for the alarm that has the index here.
	page, err := ParseNoted(all.Pages()[0])
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
