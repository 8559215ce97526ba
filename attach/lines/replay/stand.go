// SPDX-License-Identifier: Apache-2.0

package replay

import (
	"cmp"
	"maps"
	"slices"
	"strings"
)

// Standing is a number of tokens in a place of an instance, since a time.
type Standing struct {
	Place  int
	Tokens uint32
	Since  int64
}

// Stand makes the open instances whose names begin with prefix those of state, by name,
// as of a time. An instance that is not in state has ended. One that has other tokens
// missed events: it loses those that it has too many, and gets those that it lacks, as
// arrivals. What it has already keeps its time.
func (r *Replay) Stand(prefix string, state map[string][]Standing, at int64) {
	var gone []string
	for name := range r.byName {
		if strings.HasPrefix(name, prefix) && state[name] == nil {
			gone = append(gone, name)
		}
	}
	slices.Sort(gone)
	for _, name := range gone {
		r.End([]byte(name), at)
	}
	for _, name := range slices.Sorted(maps.Keys(state)) {
		r.stand(name, state[name], at)
	}
}

// stand makes the tokens of one instance those that are given.
func (r *Replay) stand(name string, tokens []Standing, at int64) {
	slices.SortStableFunc(tokens, func(a, b Standing) int { return cmp.Compare(a.Since, b.Since) })
	want := map[int32]uint32{}
	for _, s := range tokens {
		want[int32(s.Place)] += s.Tokens
	}
	i, open := r.byName[name]
	if open && r.has(i, want) {
		return
	}
	if open {
		r.Counts.Unfit++
		_, at = r.touch([]byte(name), at)
	} else {
		i = r.begin(name, tokens[0].Since)
	}
	in := &r.all[i]
	r.mark(in)
	defer r.unmark(i)
	for _, q := range slices.Clone(in.runs) {
		if n := r.marking[q.place]; n > want[q.place] {
			r.take(in, q.place, n-want[q.place], max(at, in.last))
		}
	}
	for _, s := range tokens {
		p := int32(s.Place)
		n := min(s.Tokens, want[p]-r.marking[p])
		r.put(in, p, n, max(s.Since, in.newestIn(p)))
		r.Counts.Produced += uint64(n)
		in.last = max(in.last, s.Since)
	}
	r.finish(i, at)
}

// has reports whether an instance has exactly these tokens.
func (r *Replay) has(i int32, want map[int32]uint32) bool {
	have := map[int32]uint32{}
	for _, q := range r.all[i].runs {
		have[q.place] += q.n
	}
	return maps.Equal(have, want)
}

// newestIn returns when the last token arrived in a place; 0 without one.
func (in *instance) newestIn(place int32) (at int64) {
	for _, q := range in.runs {
		if q.place == place {
			at = max(at, q.injected)
		}
	}
	return at
}
