// SPDX-License-Identifier: Apache-2.0

package stats

import (
	"cmp"
	"encoding/json"
	"slices"
	"strings"
)

// MaxData is the largest Data of a FoundToken, in bytes.
const MaxData = 4 << 10

// Query selects tokens of a place. Apart from Limit, a zero field selects all.
type Query struct {
	Limit int    // how many rows are wanted, 1 or more
	Name  string // a part of the name of the instance
	Data  string // a part of "field=value" of one field of Data; like Name in upper or lower case
	Until int64  // injected at this time or before

	// Only tokens from this one on, in order of injection and then of their instances.
	From     int64
	FromName string
}

// Found are the tokens that a Query selects, the oldest first.
type Found struct {
	Tokens []FoundToken
	More   bool // there are others behind the last one
	// Matches is how many tokens are selected, whatever Limit and From are; 0 with
	// tokens if that is not known.
	Matches uint64
}

// FoundToken is one or more tokens of an instance that are the same in all it has.
type FoundToken struct {
	Token
	N    uint64 // how many they are; 0 is one
	Data string // what the source publishes of their data, as a JSON object of at most MaxData bytes; "" for nothing
}

// Compare orders tokens as those of a row, then by Data.
func (t *FoundToken) Compare(o *FoundToken) int {
	return cmp.Or(t.Token.Compare(&o.Token), cmp.Compare(t.Data, o.Data))
}

// Cut leaves out the tokens after the first n.
func (f *Found) Cut(n int) {
	f.More = f.More || len(f.Tokens) > n
	f.Tokens = f.Tokens[:min(n, len(f.Tokens))]
}

// MergeFound merges answers about one place, and cuts the result. Behind the last token of
// an answer that has more, others may be missing, so there are none in the result.
func MergeFound(answers []Found, limit int) (out Found) {
	known := true
	for i := range answers {
		a := &answers[i]
		out.Tokens = append(out.Tokens, a.Tokens...)
		out.More, out.Matches = out.More || a.More, out.Matches+a.Matches
		known = known && (a.Matches > 0 || len(a.Tokens) == 0)
	}
	if !known {
		out.Matches = 0
	}
	slices.SortStableFunc(out.Tokens, func(a, b FoundToken) int { return a.Compare(&b) })
	out.Cut(limit)
	for i := range answers {
		if a := &answers[i]; a.More && len(a.Tokens) > 0 {
			last := &a.Tokens[len(a.Tokens)-1]
			end := slices.IndexFunc(out.Tokens, func(t FoundToken) bool { return last.Compare(&t) < 0 })
			if end >= 0 {
				out.Cut(end)
			}
		}
	}
	return out
}

// Shifted returns the query for a clock that is ahead by a number of microseconds.
func (q *Query) Shifted(ahead int64) Query {
	out := *q
	for _, at := range []*int64{&out.Until, &out.From} {
		if *at != 0 {
			*at = max(*at+ahead, 1)
		}
	}
	return out
}

// Search answers a Query from the tokens of a place, which may come in any order. It
// holds twice as many as are wanted at most.
type Search struct {
	query   Query
	matches uint64
	more    bool
	kept    []FoundToken
	sorted  int // how many of kept are in order, and none is wanted that is behind them if these are Limit
}

// NewSearch returns a Search that was offered nothing yet.
func NewSearch(q *Query) *Search {
	s := &Search{query: *q}
	s.query.Name, s.query.Data = strings.ToLower(q.Name), strings.ToLower(q.Data)
	return s
}

// Named reports whether tokens of an instance can be selected.
func (s *Search) Named(instance string) bool {
	return s.query.Name == "" || strings.Contains(strings.ToLower(instance), s.query.Name)
}

// Offer takes a token of an instance for which Named is true. It asks for its Data and its
// Waits where it needs them; either may be nil, for those of t.
func (s *Search) Offer(t FoundToken, data func() string, waits func() []Wait) {
	if s.query.Until != 0 && t.Injected > s.query.Until {
		return
	}
	if s.query.Data != "" {
		if data != nil {
			t.Data = data()
		}
		if !s.Holds(t.Data) {
			return
		}
	}
	s.matches += max(t.N, 1)
	if before(&t, s.query.From, s.query.FromName) {
		return
	}
	if s.sorted == s.query.Limit {
		if last := &s.kept[s.sorted-1]; before(last, t.Injected, t.Instance) {
			s.more = true
			return
		}
	}
	if s.query.Data == "" && data != nil {
		t.Data = data()
	}
	if waits != nil {
		t.Waits = waits()
	}
	if s.kept = append(s.kept, t); len(s.kept) >= 2*s.query.Limit {
		s.cut()
	}
}

// before reports whether a token comes before those of an instance that were injected at a time.
func before(t *FoundToken, injected int64, instance string) bool {
	return cmp.Or(cmp.Compare(t.Injected, injected), cmp.Compare(t.Instance, instance)) < 0
}

// cut sorts the tokens, joins those that are the same, and drops what is beyond Limit.
func (s *Search) cut() {
	slices.SortStableFunc(s.kept, func(a, b FoundToken) int { return a.Compare(&b) })
	kept := s.kept[:0]
	for _, t := range s.kept {
		if k := len(kept) - 1; k >= 0 && kept[k].Compare(&t) == 0 {
			kept[k].N = max(kept[k].N, 1) + max(t.N, 1)
		} else {
			kept = append(kept, t)
		}
	}
	s.more = s.more || len(kept) > s.query.Limit
	s.sorted = min(len(kept), s.query.Limit)
	clear(s.kept[s.sorted:]) // they hold waits
	s.kept = kept[:s.sorted]
}

// Found returns the answer so far.
func (s *Search) Found() Found {
	s.cut()
	return Found{Tokens: s.kept, More: s.more, Matches: s.matches}
}

// Of returns the answer if tokens are all that the place holds, in any order.
func (q *Query) Of(tokens []FoundToken) Found {
	s := NewSearch(q)
	for _, t := range tokens {
		if s.Named(t.Instance) {
			s.Offer(t, nil, nil)
		}
	}
	return s.Found()
}

// Holds reports whether the data of a token, as it is shown, is selected.
func (s *Search) Holds(data string) bool {
	if s.query.Data == "" {
		return true
	}
	var fields map[string]json.RawMessage
	if data == "" || json.Unmarshal([]byte(data), &fields) != nil {
		return false
	}
	for field, raw := range fields {
		value := string(raw)
		if raw[0] == '"' && json.Unmarshal(raw, &value) != nil {
			continue
		}
		if strings.Contains(strings.ToLower(field+"="+value), s.query.Data) {
			return true
		}
	}
	return false
}

// Shown returns data for Data of a FoundToken: of a JSON object the fields with the given names,
// as a JSON object with the fields in that order. A text of more than MaxWhat bytes, and
// the JSON of another value that is longer, is a text that was cut by Clip. What does not
// fit into MaxData is left out. It returns "" if there is no such field.
func Shown(data []byte, names []string) string {
	var fields map[string]json.RawMessage
	if len(data) == 0 || len(names) == 0 || json.Unmarshal(data, &fields) != nil {
		return ""
	}
	out := []byte{'{'}
	for _, name := range names {
		raw, has := fields[name]
		if !has {
			continue
		}
		key, _ := json.Marshal(name) // a text has no error
		one := append(append(key, ':'), clipped(raw)...)
		if len(out)+len(one)+2 > MaxData {
			continue
		}
		if len(out) > 1 {
			out = append(out, ',')
		}
		out = append(out, one...)
	}
	if len(out) == 1 {
		return ""
	}
	return string(append(out, '}'))
}

// clipped returns a JSON value that is not too long.
func clipped(raw json.RawMessage) []byte {
	if len(raw) <= MaxWhat {
		return raw
	}
	text := string(raw)
	if raw[0] == '"' {
		_ = json.Unmarshal(raw, &text) // it is a part of a valid text
	}
	short, _ := json.Marshal(Clip(text, MaxWhat))
	return short
}
