// SPDX-License-Identifier: Apache-2.0

package region

import (
	"cmp"
	"hash/fnv"
	"slices"
)

// rank returns members in their order of preference for a part: by a hash of
// both (highest random weight), which is the same on every member.
func rank(part string, members []string) []string {
	weight := func(m string) uint64 {
		h := fnv.New64a()
		_, _ = h.Write([]byte(part)) // a hash never returns an error
		_, _ = h.Write([]byte{0})
		_, _ = h.Write([]byte(m))
		return mix(h.Sum64())
	}
	out := slices.Clone(members)
	slices.SortFunc(out, func(a, b string) int {
		return cmp.Or(cmp.Compare(weight(b), weight(a)), cmp.Compare(a, b))
	})
	return out
}

// mix spreads a hash over all its bits: FNV's differ little for names that
// differ in the last byte. It is the finalizer of MurmurHash3 (Appleby, public
// domain).
func mix(h uint64) uint64 {
	h ^= h >> 33
	h *= 0xff51afd7ed558ccd
	h ^= h >> 33
	h *= 0xc4ceb9fe1a85ec53
	return h ^ h>>33
}

// assign returns the members of each part in order: its owner, then its
// standbys. Each part goes to the first member in its rank that has less than
// an equal share. So no member owns more than one part above the share of
// another. offers returns the members that may play a part.
func assign(parts []string, offers func(part string) []string) map[string][]string {
	all := map[string]struct{}{}
	for _, p := range parts {
		for _, m := range offers(p) {
			all[m] = struct{}{}
		}
	}
	out := make(map[string][]string, len(parts))
	if len(all) == 0 {
		return out
	}
	share := (len(parts) + len(all) - 1) / len(all)
	load := map[string]int{}
	for _, p := range parts {
		order := rank(p, offers(p))
		first := slices.IndexFunc(order, func(m string) bool { return load[m] < share })
		if first > 0 {
			m := order[first]
			order = slices.Insert(slices.Delete(order, first, first+1), 0, m)
		}
		if len(order) > 0 {
			load[order[0]]++
		}
		out[p] = order
	}
	return out
}
