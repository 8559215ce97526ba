// SPDX-License-Identifier: Apache-2.0

package stats

import (
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
	"unicode"
	"unicode/utf8"

	"github.com/google/go-cmp/cmp"
)

// A list keeps what sorting everything and cutting it would, in whatever order
// it is added.
func TestAHeldListKeepsTheOldest(t *testing.T) {
	r := rand.New(rand.NewPCG(5, 5))
	for range 200 {
		l := HeldList{Limit: 1 + r.IntN(20)}
		var all []Held
		var total uint64
		for range r.IntN(200) {
			h := Held{Place: r.Int32N(4), Tokens: 1 + r.Uint64N(3), Injected: r.Int64N(60)}
			l.Add(h)
			total += h.Tokens
			i := slices.IndexFunc(all, func(o Held) bool { return o.Compare(&h) == 0 })
			if i < 0 {
				all = append(all, h)
			} else {
				all[i].Tokens += h.Tokens
			}
		}
		slices.SortFunc(all, func(a, b Held) int { return a.Compare(&b) })
		got, kept := slices.Clone(l.Oldest()), uint64(0)
		for i, h := range got {
			kept += h.Tokens
			if len(all) > l.Limit { // of what was cut between, not all tokens of a row need be counted in it
				got[i].Tokens, all[i].Tokens = 0, 0
			}
		}
		if d := cmp.Diff(all[:min(len(all), l.Limit)], got); d != "" && len(all) > 0 {
			t.Fatalf("(-want +got):\n%s", d)
		}
		if kept+l.LeftOut != total {
			t.Fatalf("%d kept and %d left out, of %d", kept, l.LeftOut, total)
		}
	}
}

func TestWordsSayWhatIsWaitedFor(t *testing.T) {
	for want, w := range map[string]Wait{
		"waits for a token in Labels":                          {Reason: ReasonMissing, Count: 1},
		"waits for 3 tokens in Labels":                         {Reason: ReasonMissing, Count: 3},
		"a token in Labels must go first":                      {Reason: ReasonInhibited, Count: 1},
		"2 tokens in Labels must go first":                     {Reason: ReasonInhibited, Count: 2},
		"the guard is false":                                   {Reason: ReasonGuarded},
		"the action is running":                                {Reason: ReasonRunning},
		"can fire and waits for its turn":                      {Reason: ReasonEnabled},
		"waits until its time has come":                        {Reason: ReasonDelayed},
		"waits for a message":                                  {Reason: ReasonManual},
		"nothing in its instance can ever enable it":           {Reason: ReasonDead},
		"failed permanently: an operator must act":             {Reason: ReasonIncident},
		"waits for something that its engine does not report":  {},
		"waits for something that its engine does not report ": {Reason: reasons},
	} {
		if got := w.Reason.Words("Labels", w.Count, "waits for a message"); got != want && got+" " != want {
			t.Errorf("%v: %q, want %q", w.Reason, got, want)
		}
	}
	if got := ReasonMissing.Words("", 0, ""); got != "waits for a token" {
		t.Errorf("without a place: %q", got)
	}
}

func TestATextHasWhatTheSourceReportsAndTheReason(t *testing.T) {
	for want, w := range map[string]Wait{
		"the guard is false":                             {Reason: ReasonGuarded},
		"message paid":                                   {Reason: ReasonUnknown, What: "message paid"},
		"user task (waits for a person)":                 {Reason: ReasonManual, What: "user task"},
		"nobody polls (can fire and waits for its turn)": {Reason: ReasonEnabled, What: "nobody polls"},
	} {
		if got := w.Text(w.Reason.Words("", w.Count, "waits for a person")); got != want {
			t.Errorf("%q, want %q", got, want)
		}
	}
}

func TestATextIsCutAtACharacter(t *testing.T) {
	for _, c := range []struct{ rule, text, want string }{
		{"a short text stays", "card declined", "card declined"},
		{"as long as allowed stays", "0123456789abcde", "0123456789abcde"},
		{"a longer one ends with an ellipsis", "0123456789abcdef", "0123456789ab…"},
		{"at a character", "0123456789aéabcd", "0123456789a…"},
		{"control characters are spaces", "a\nb\x7fc\u0085d", "a b c d"},
		{"what is not UTF-8 is replaced", "a\xffb", "a\uFFFDb"},
	} {
		if got := Clip(c.text, 15); got != c.want {
			t.Errorf("%s: %q, want %q", c.rule, got, c.want)
		}
	}
}

func FuzzClip(f *testing.F) {
	f.Add("a\xff\u0085é", 3)
	f.Fuzz(func(t *testing.T, text string, most int) {
		most = min(max(most, 3), 300)
		got := Clip(text, most)
		if len(got) > most || !utf8.ValidString(got) || strings.ContainsFunc(got, unicode.IsControl) || Clip(got, most) != got {
			t.Errorf("%q of at most %d bytes is %q", text, most, got)
		}
	})
}

func TestReasonsAreKnownByTheirNames(t *testing.T) {
	for r := ReasonUnknown; r <= LastReason; r++ {
		if got := ReasonNamed(r.String()); got != r {
			t.Errorf("%v is read as %v", r, got)
		}
	}
	if got := ReasonNamed("nonsense"); got != ReasonUnknown {
		t.Errorf("nonsense is read as %v", got)
	}
}
