// SPDX-License-Identifier: Apache-2.0

package stats

// RefusedRequests counts the requests from outside that a process refused because they
// exceed a bound, by the reasons below. They are no part of Rows: no journal records
// them, so each process counts from zero.
type RefusedRequests [4]uint64

// The reasons for refusing a request: the indices of RefusedRequests.
const (
	RefusedTokens = iota // too many tokens in the request
	RefusedPlace         // the place would hold too many tokens
	RefusedQueue         // too many requests wait
	RefusedSize          // too many bytes in the request
)

// RefusedReasons returns the names of the reasons, as metrics show them.
func RefusedReasons() [len(RefusedRequests{})]string {
	return [...]string{RefusedTokens: "too many tokens", RefusedPlace: "place full", RefusedQueue: "queue full", RefusedSize: "request too large"}
}

// Add adds what was counted from one count to a later one of the same process, at most
// up to a limit for each reason.
func (r *RefusedRequests) Add(from, to *RefusedRequests, limit uint64) {
	for reason := range r {
		if to[reason] > from[reason] {
			r[reason] = min(r[reason]+to[reason]-from[reason], limit)
		}
	}
}
