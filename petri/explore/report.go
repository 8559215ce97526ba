// SPDX-License-Identifier: Apache-2.0

package explore

import (
	"fmt"

	"github.com/pnagent/pnagent/petri"
)

// Report is what a visit found of a net, by the ids of its elements.
type Report struct {
	Net       string            `json:"net"`
	Markings  int               `json:"markings"`
	Complete  bool              `json:"complete"`
	Stopped   Reason            `json:"stopped,omitempty"` // why it is not complete
	Deadlocks int               `json:"deadlocks"`         // markings in which nothing is enabled, without the proper ends
	Ends      int               `json:"ends"`              // proper ends: nothing is enabled, and there are tokens in final places only
	Bounds    map[string]uint32 `json:"bounds"`
	deadPath
	// Inclusive splits of which not every set of branches was followed.
	Cut []string `json:"cut,omitempty"`
	// Scopes that had several runs at one time, which were taken together: the answer
	// is not exact.
	Together []string `json:"together,omitempty"`
	// Weighted sums of tokens that no firing changes; absent for a large net.
	Invariants []Conserved `json:"invariants,omitempty"`
}

// Conserved is a P-invariant by place ids.
type Conserved struct {
	Weights map[string]int64 `json:"weights"`
	Sum     int64            `json:"sum"`
}

// ReportOf returns the report of a visit, without the net's invariants.
func ReportOf(t *petri.Tables, r *Result) *Report {
	out := &Report{Net: t.Net.ID, Markings: r.Markings, Complete: r.Complete, Stopped: r.Stopped, Deadlocks: r.Deadlocks, Ends: r.Ends,
		Bounds: map[string]uint32{}, Together: togetherIn(t, r), deadPath: wayOf(t, r)}
	for p, most := range r.Bounds {
		out.Bounds[t.Net.Places[p].ID] = most
	}
	for _, tr := range r.Cut {
		out.Cut = append(out.Cut, t.Net.Transitions[tr].ID)
	}
	return out
}

// ConservedIn returns a net's P-invariants; nil for a large net.
func ConservedIn(t *petri.Tables) []Conserved {
	var out []Conserved
	basis, _ := Invariants(t)
	for _, inv := range basis {
		c := Conserved{map[string]int64{}, inv.Sum}
		for p, w := range inv.Weights {
			if w != 0 {
				c.Weights[t.Net.Places[p].ID] = w
			}
		}
		out = append(out, c)
	}
	return out
}

// Sentence returns what was found in words.
func (r *Report) Sentence() string {
	seen := "not all that can be reached"
	if r.Complete {
		seen = "all that can be reached"
	}
	return count(r.Markings, "marking") + " visited, " + seen + r.inWords(r.Deadlocks, r.Ends, r.Complete) + togetherInWords(r.Together)
}

// DeadlockReport is what a search for deadlocks found, by the ids of the net's elements.
type DeadlockReport struct {
	Net       string   `json:"net"`
	Markings  int      `json:"markings"`
	Reduced   bool     `json:"reduced"` // not all markings had to be visited
	Complete  bool     `json:"complete"`
	Stopped   Reason   `json:"stopped,omitempty"`
	Deadlocks int      `json:"deadlocks"`
	Ends      int      `json:"ends"`
	Together  []string `json:"together,omitempty"` // as of Report
	deadPath
}

// DeadlocksOf returns the report of a visit with Options.Reduce.
func DeadlocksOf(t *petri.Tables, r *Result) *DeadlockReport {
	return &DeadlockReport{Net: t.Net.ID, Markings: r.Markings, Reduced: Reducible(t), Complete: r.Complete, Stopped: r.Stopped,
		Deadlocks: r.Deadlocks, Ends: r.Ends, Together: togetherIn(t, r), deadPath: wayOf(t, r)}
}

// Sentence returns what was found in words.
func (r *DeadlockReport) Sentence() string {
	seen := "all that can be reached: inclusive gateways, scopes and urgent transitions need them"
	switch {
	case !r.Complete:
		seen = "not all that are needed to find every deadlock"
	case r.Reduced:
		seen = "which are enough to find every deadlock"
	}
	return count(r.Markings, "marking") + " visited, " + seen + r.inWords(r.Deadlocks, r.Ends, r.Complete) + togetherInWords(r.Together)
}

// togetherIn returns the ids of the scopes of which several runs were taken together.
func togetherIn(t *petri.Tables, r *Result) (ids []string) {
	for _, i := range r.Together {
		ids = append(ids, t.Net.Scopes[i].ID)
	}
	return ids
}

// togetherInWords returns that an answer is not exact.
func togetherInWords(ids []string) string {
	if ids == nil {
		return ""
	}
	return fmt.Sprintf("; this is not exact: several runs of %q at one time were taken together", ids)
}

// deadPath is a shortest path to a dead marking that is no proper end.
type deadPath struct {
	Path []string          `json:"path,omitempty"` // transitions
	Dead map[string]uint32 `json:"dead,omitempty"` // its marking, empty places left out
	// By step of the path: the places that an inclusive split chose. Absent if
	// there is none on it.
	Branches [][]string `json:"branches,omitempty"`

	found bool // also of an empty path: the initial marking is dead
}

func wayOf(t *petri.Tables, r *Result) (w deadPath) {
	w.found = r.Path != nil
	for _, tr := range r.Path {
		w.Path = append(w.Path, t.Net.Transitions[tr].ID)
	}
	for _, places := range r.Branches {
		chosen := []string{}
		for _, p := range places {
			chosen = append(chosen, t.Net.Places[p].ID)
		}
		w.Branches = append(w.Branches, chosen)
	}
	for p, m := range r.Dead {
		if m > 0 {
			if w.Dead == nil {
				w.Dead = map[string]uint32{}
			}
			w.Dead[t.Net.Places[p].ID] = m
		}
	}
	return w
}

// inWords returns how many of the visited markings are proper ends and how many are deadlocks, and
// the path to one of these.
func (w *deadPath) inWords(deadlocks, ends int, complete bool) string {
	said := "; " + some(ends, "proper end")
	if ends > 0 {
		said += " (tokens only in final places)"
	}
	said += " and " + some(deadlocks, "deadlock")
	switch {
	case !w.found && !complete:
		return said + " among them"
	case !w.found:
		return said
	case len(w.Path) == 0:
		return said + "; the initial marking is a deadlock"
	}
	return fmt.Sprintf("%s; a shortest way to one: %q", said, w.Path)
}

// some is count with "no" for 0.
func some(n int, of string) string {
	if n == 0 {
		return "no " + of
	}
	return count(n, of)
}

func count(n int, of string) string {
	if n == 1 {
		return "1 " + of
	}
	return fmt.Sprintf("%d %ss", n, of)
}
