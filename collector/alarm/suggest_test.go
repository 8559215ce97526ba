// SPDX-License-Identifier: Apache-2.0

package alarm

import (
	"math/rand/v2"
	"strings"
	"testing"
	"time"
)

// firings returns times that are some intervals apart.
func firings(intervals ...time.Duration) []int64 {
	times := []int64{t0}
	for _, d := range intervals {
		times = append(times, times[len(times)-1]+d.Microseconds())
	}
	return times
}

// repeated returns n intervals of a duration, each late or early by up to another one.
func repeated(n int, every, jitter time.Duration) (all []time.Duration) {
	r, late := rand.New(rand.NewPCG(1, 2)), time.Duration(0)
	for range n {
		next := time.Duration(r.Int64N(int64(jitter) + 1))
		all, late = append(all, every+next-late), next
	}
	return all
}

func TestOnlyRegularFiringsAreLearned(t *testing.T) {
	for _, c := range []struct {
		name      string
		intervals []time.Duration
		want      string // "" for none
	}{
		{"each ten minutes, some seconds late", repeated(100, 10*time.Minute, 4*time.Second), "{every: 10m, grace: 1m}"},
		{"each ten minutes, up to two minutes late", repeated(100, 10*time.Minute, 2*time.Minute), "{every: 10m, grace: 4m}"},
		{"nightly, also over a change of the clocks", append(repeated(10, 24*time.Hour, time.Minute), 25*time.Hour, 24*time.Hour), "{every: 24h, grace: 2h24m}"},
		{"each 90 seconds", repeated(20, 90*time.Second, 0), "{every: 1m30s, grace: 9s}"},
		{"each 7 seconds", repeated(20, 7*time.Second, 0), "{every: 7s, grace: 1s}"},
		{"too few", repeated(9, time.Hour, 0), ""},
		{"one was missed", append(repeated(20, time.Hour, 0), 2*time.Hour), ""},
		{"on workdays", []time.Duration{24 * time.Hour, 24 * time.Hour, 24 * time.Hour, 24 * time.Hour, 72 * time.Hour, 24 * time.Hour, 24 * time.Hour, 24 * time.Hour, 24 * time.Hour, 72 * time.Hour, 24 * time.Hour}, ""},
		{"at random", repeated(100, time.Minute, time.Hour), ""},
		{"several a second", repeated(100, 300*time.Millisecond, 0), ""},
		{"never", nil, ""},
	} {
		l, regular := Learn(firings(c.intervals...))
		line := l.Override("n", "t")
		if regular != (c.want != "") || regular && !strings.HasPrefix(line, `  - {net: "n", transition: "t", expect: `+c.want+"} # ") {
			t.Errorf("%s: %v, %s; want %q", c.name, regular, line, c.want)
		}
		if !regular {
			continue
		}
		rules, err := ReadRules(strings.NewReader("overrides:\n"+line), "learned.yaml")
		if err != nil {
			t.Fatalf("%s: %v", c.name, err)
		}
		if r := rules.Of(FiringMissed, "n", "t"); r.Every+r.After < l.Longest {
			t.Errorf("%s: a firing of the past would have been missed by %s", c.name, line)
		}
	}
}
