// SPDX-License-Identifier: Apache-2.0

package stats

import (
	"cmp"
	"math/rand/v2"
	"slices"
	"testing"

	gocmp "github.com/google/go-cmp/cmp"
)

// What is present is what its tokens are, one by one.
func TestPresentIsTheSumOfItsTokens(t *testing.T) {
	const now = 1_700_000_000_000_000
	for seed := range uint64(50) {
		r := rand.New(rand.NewPCG(seed, 1))
		p := NewPresent[int](now, 3, 2)
		p.Tie = func(a, b int) int { return cmp.Compare(a, b) }
		want := NewRows(3, 2)
		var all [3][]Token
		for instance := range int32(20) {
			var here [3]bool
			for range r.IntN(6) {
				place, n, holder := r.IntN(3), 1+r.IntN(3), r.IntN(9)
				injected := now - r.Int64N(4)*5_000_000
				if first := p.Tokens(place, instance, injected, uint32(n), holder); first == here[place] {
					t.Fatalf("instance %d is first in place %d: %v", instance, place, first)
				}
				row := &want.Places[place]
				if !here[place] {
					here[place] = true
					row.Instances++
				}
				reason := Reason(holder % 4)
				p.Group(place, Wait{Reason: reason, Until: int64(holder%2) * now}, injected, uint32(n), holder)
				if reason != ReasonUnknown {
					due := injected
					if holder%2 == 1 {
						due = now
					}
					row.Groups = MergeGroups(row.Groups, []Group{{reason, uint64(n), due, Token{Instance: string(rune('a' + holder)), Injected: injected}}})
				}
				for range n {
					row.Tokens++
					row.Arrivals++
					row.Injected.Add(injected)
					row.Ages.Add(injected, now, 1)
					row.Oldest = Earlier(row.Oldest, injected)
					all[place] = append(all[place], Token{Instance: string(rune('a' + holder)), Injected: injected})
				}
			}
		}
		for i, tokens := range all {
			slices.SortFunc(tokens, func(a, b Token) int { return a.Compare(&b) })
			want.Places[i].Stuck = tokens[:min(len(tokens), MaxStuck)]
			if p.Count(i) != uint64(len(tokens)) {
				t.Errorf("place %d: %d tokens, want %d", i, p.Count(i), len(tokens))
			}
		}
		got := NewRows(3, 2)
		p.AddTo(got, func(_ int, holder int) (string, []Wait) { return string(rune('a' + holder)), nil })
		for i := range want.Places {
			if !want.Places[i].Equal(&got.Places[i]) {
				t.Fatalf("seed %d, place %d: %s", seed, i, gocmp.Diff(want.Places[i], got.Places[i]))
			}
		}
	}
}

// Of tokens that are equally old those stay that came first, unless Tie says
// otherwise.
func TestPresentKeepsTheFirstOfEquallyOld(t *testing.T) {
	for name, c := range map[string]struct {
		tie  func(a, b int) int
		want []string
	}{
		"without a tie": {nil, []string{"0", "1", "2", "3", "4", "5", "6", "7", "8", "9"}},
		"the greater":   {func(a, b int) int { return b - a }, []string{";", ":", "9", "8", "7", "6", "5", "4", "3", "2"}},
	} {
		p := NewPresent[int](100, 1, 0)
		p.Tie = c.tie
		for i := range 12 {
			p.Tokens(0, int32(i), 50, 1, i)
		}
		rows := NewRows(1, 0)
		p.AddTo(rows, func(_ int, holder int) (string, []Wait) { return string(rune('0' + holder)), nil })
		var got []string
		for _, tok := range rows.Places[0].Stuck {
			got = append(got, tok.Instance)
		}
		slices.Sort(c.want)
		if !slices.Equal(got, c.want) {
			t.Errorf("%s: %v, want %v", name, got, c.want)
		}
	}
}

func TestPresentCountsTransitionsAndBlocks(t *testing.T) {
	const now = 20_000_000
	p := NewPresent[int](now, 1, 2)
	if p.Now() != now || !p.Old(now-BlockedAfter) || p.Old(now-BlockedAfter+1) {
		t.Error("old is from BlockedAfter on")
	}
	p.Enabled(0, 30)
	p.Enabled(0, 20)
	p.Running(1, 50)
	if !p.Once(1, 0) || p.Once(1, 0) || !p.Once(1, 7) || !p.Once(0, 7) {
		t.Error("Once is true the first time with a mark")
	}
	short, _ := Unmet(1, 0, 3, 0, 1, 2)
	over, _ := Unmet(0, 0, 1, 4, 1, 5)
	if _, ok := Unmet(0, 0, 1, 4, 1, 3); ok {
		t.Error("a condition that holds is not met")
	}
	if want := []Wait{{Transition: 1, Reason: ReasonMissing, Count: 2}, {Transition: 0, Reason: ReasonInhibited, Count: 2}}; short != want[0] || over != want[1] {
		t.Errorf("unmet %+v, %+v", short, over)
	}
	p.Block(short, 2)
	p.Block(over, 1)
	p.Block(short, 3)
	rows := NewRows(1, 2)
	rows.Blocks = []Block{{Transition: 1, Reason: ReasonMissing, Instances: 10}}
	p.AddTo(rows, nil)
	want := NewRows(1, 2)
	want.Transitions[0] = Transition{Enabled: 2, EnabledSince: 20}
	want.Transitions[1] = Transition{Running: 1, RunningSince: 50}
	want.Blocks = []Block{{Transition: 0, Reason: ReasonInhibited, Instances: 1}, {Transition: 1, Reason: ReasonMissing, Instances: 15}}
	if d := gocmp.Diff(want, rows); d != "" {
		t.Errorf("(-want +got):\n%s", d)
	}
}

// Counting costs nothing a token once all places have some.
func TestPresentDoesNotAllocateForAToken(t *testing.T) {
	p := NewPresent[int](1_000_000, 1, 0)
	i := int32(0)
	count := func() {
		i++
		p.Tokens(0, i, 500_000+int64(i), 1, int(i))
	}
	for range 100 {
		count()
	}
	if n := testing.AllocsPerRun(1000, count); n != 0 {
		t.Errorf("%v allocations", n)
	}
}
