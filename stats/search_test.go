// SPDX-License-Identifier: Apache-2.0

package stats

import (
	"cmp"
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	gocmp "github.com/google/go-cmp/cmp"
)

// someTokens returns tokens of a few instances and times, so that many are the same.
func someTokens(r *rand.Rand, n int) (all []FoundToken) {
	for range n {
		all = append(all, FoundToken{Token: Token{Instance: fmt.Sprint("host/", r.IntN(12)), Injected: 1 + r.Int64N(9)}, N: r.Uint64N(3), Data: fmt.Sprintf(`{"order":"A-%d"}`, r.IntN(3))})
	}
	return all
}

func someQuery(r *rand.Rand) *Query {
	return &Query{Limit: 1 + r.IntN(8), Name: []string{"", "T/1", "HOST", "x"}[r.IntN(4)], Data: []string{"", "a-1", "ORDER=a", "customer"}[r.IntN(4)],
		Until: []int64{0, 3, 7}[r.IntN(3)], From: []int64{0, 2, 4}[r.IntN(3)], FromName: []string{"", "host/11", "host/5"}[r.IntN(3)]}
}

// slowFound selects by the definition of a Query.
func slowFound(all []FoundToken, q *Query) (out Found) {
	type key struct {
		instance, data string
		injected       int64
	}
	n := map[key]uint64{}
	var order []key
	for _, t := range all {
		if !strings.Contains(t.Instance, strings.ToLower(q.Name)) || q.Until > 0 && t.Injected > q.Until || !strings.Contains(`order=`+strings.ToLower(t.Data[10:len(t.Data)-2]), strings.ToLower(q.Data)) {
			continue
		}
		out.Matches += max(t.N, 1)
		if t.Injected < q.From || t.Injected == q.From && t.Instance < q.FromName {
			continue
		}
		k := key{t.Instance, t.Data, t.Injected}
		if n[k] == 0 {
			order = append(order, k)
		}
		n[k] += max(t.N, 1)
	}
	slices.SortFunc(order, func(a, b key) int {
		return cmp.Or(cmp.Compare(a.injected, b.injected), cmp.Compare(a.instance, b.instance), cmp.Compare(a.data, b.data))
	})
	for _, k := range order[:min(q.Limit, len(order))] {
		out.Tokens = append(out.Tokens, FoundToken{Token: Token{Instance: k.instance, Injected: k.injected}, Data: k.data, N: n[k]})
	}
	out.More = len(order) > q.Limit
	return out
}

// A search finds what its definition selects, in whatever order tokens are offered. Where
// it holds no more than Limit, also how many of each there are.
func TestASearchFindsWhatIsSelected(t *testing.T) {
	r := rand.New(rand.NewPCG(19, 1))
	more := 0
	for range 3000 {
		all, q := someTokens(r, r.IntN(60)), someQuery(r)
		want, search := slowFound(all, q), NewSearch(q)
		for _, token := range all {
			if !search.Named(token.Instance) {
				continue
			}
			data := token.Data
			token.Data = ""
			if r.IntN(2) == 0 {
				token.Data = data
				search.Offer(token, nil, nil)
			} else {
				search.Offer(token, func() string { return data }, func() []Wait { return nil })
			}
		}
		got := search.Found()
		for i := range got.Tokens {
			got.Tokens[i].N = max(got.Tokens[i].N, 1)
			if want.More { // of what was cut between, not all tokens of a row need be counted in it
				got.Tokens[i].N, want.Tokens[i].N = 0, 0
			}
		}
		if d := gocmp.Diff(want, got); d != "" && len(want.Tokens)+len(got.Tokens) > 0 {
			t.Fatalf("%+v of %+v (-want +got):\n%s", q, all, d)
		}
		if want.More {
			more++
		}
	}
	if more < 100 {
		t.Errorf("only %d answers were cut", more)
	}
}

// Answers of several sources, merged, are the answer of one that has the tokens of all, as
// far as they reach.
func TestMergedAnswersAreThatOfAllSources(t *testing.T) {
	r := rand.New(rand.NewPCG(19, 2))
	for range 2000 {
		var all []FoundToken
		var answers []Found
		q := someQuery(r)
		for range 1 + r.IntN(4) {
			own := someTokens(r, r.IntN(20))
			for i := range own {
				own[i].Instance, own[i].N = fmt.Sprint(own[i].Instance, ".", len(answers)), 1
			}
			all = append(all, own...)
			one := q.Of(own)
			one.Cut(1 + r.IntN(8)) // what fits into a message
			answers = append(answers, one)
		}
		got, want := MergeFound(answers, q.Limit), q.Of(all)
		if got.Matches != want.Matches || got.More != want.More && !got.More {
			t.Fatalf("%d matches, more: %t; want %d, %t", got.Matches, got.More, want.Matches, want.More)
		}
		if !got.More && len(got.Tokens) < len(want.Tokens) || len(want.Tokens) > 0 && len(got.Tokens) == 0 {
			t.Fatalf("%d tokens of %d, and no more", len(got.Tokens), len(want.Tokens))
		}
		for i := range got.Tokens {
			if got.Tokens[i].Compare(&want.Tokens[i]) != 0 {
				t.Fatalf("%d: %+v, want %+v", i, got.Tokens[i], want.Tokens[i])
			}
		}
	}
}

func TestOnlyNamedFieldsOfDataAreShown(t *testing.T) {
	long := strings.Repeat("ä", 150)
	for _, c := range []struct{ data, names, want string }{
		{`{"order":"A-7","customer":"Åsa","amount":12.50}`, "order amount", `{"order":"A-7","amount":12.50}`},
		{`{"order":"A-7"}`, "", ""},
		{`{"order":"A-7"}`, "customer", ""},
		{`{"order":null,"lines":[1,{"a":2}]}`, "lines order", `{"lines":[1,{"a":2}],"order":null}`},
		{`["order"]`, "order", ""},
		{`not json`, "order", ""},
		{``, "order", ""},
		{`{"order":"` + long + `"}`, "order", `{"order":"` + strings.Repeat("ä", 98) + `…"}`},
		{`{"order":[` + strings.Repeat("1,", 150) + `1]}`, "order", `{"order":"[` + strings.Repeat("1,", 98) + `…"}`},
		{`{"o\"rder":1}`, `o"rder`, `{"o\"rder":1}`},
	} {
		got := Shown([]byte(c.data), strings.Fields(c.names))
		if got != c.want || got != "" && !json.Valid([]byte(got)) {
			t.Errorf("%.60s of %.40s: got %s, want %s", c.names, c.data, got, c.want)
		}
	}
	var names []string
	data := map[string]string{}
	for i := range 100 {
		names = append(names, fmt.Sprint("field", i))
		data[names[i]] = strings.Repeat("x", 190)
	}
	text, _ := json.Marshal(data)
	if got := Shown(text, names); len(got) > MaxData || len(got) < MaxData-300 || !json.Valid([]byte(got)) {
		t.Errorf("%d bytes are shown, of at most %d", len(got), MaxData)
	}
}

// A text selects data by a part of field=value.
func TestDataIsFoundByItsFields(t *testing.T) {
	const data = `{"order":"A-7","amount":12.50,"lines":[1,2],"none":null,"ok":true}`
	for text, want := range map[string]bool{
		"": true, "a-7": true, "A-7": true, "order=a-7": true, "Order=": true, "order": true, "r=a": true, "12.5": true, "amount=12.50": true, "[1,2]": true, "none=null": true, "ok=true": true,
		"customer": false, "order=7": false, "a-8": false, "order=a-7,": false,
	} {
		if got := NewSearch(&Query{Data: text}).Holds(data); got != want {
			t.Errorf("%q: got %t", text, got)
		}
	}
	if NewSearch(&Query{Data: "a"}).Holds("") {
		t.Error("a token without data is found by data")
	}
}

// BenchmarkSearch offers 100,000 tokens of which a page is kept. The base sorts all of them.
func BenchmarkSearch(b *testing.B) {
	r := rand.New(rand.NewPCG(19, 3))
	all := make([]FoundToken, 100_000)
	for i := range all {
		all[i].Token = Token{Instance: fmt.Sprintf("host/%05d", i), Injected: r.Int64N(1e9)}
	}
	b.Run("search", func(b *testing.B) {
		for b.Loop() {
			if found := (&Query{Limit: 66}).Of(all); len(found.Tokens) != 66 {
				b.Fatal(len(found.Tokens))
			}
		}
	})
	b.Run("base=sort", func(b *testing.B) {
		for b.Loop() {
			sorted := slices.Clone(all)
			slices.SortFunc(sorted, func(a, b FoundToken) int { return a.Compare(&b) })
		}
	})
}
