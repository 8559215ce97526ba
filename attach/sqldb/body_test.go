// SPDX-License-Identifier: Apache-2.0

//go:build peers

package sqldb

import (
	"fmt"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
)

// TestABoundaryEventOfAnActivityThatRunsSeveralTimes has a timer at the body around two runs
// of an activity, and one at a sub-process, of which nothing is said.
func TestABoundaryEventOfAnActivityThatRunsSeveralTimes(t *testing.T) {
	if testing.Short() {
		t.Skip("starts PostgreSQL and Java")
	}
	t.Parallel()
	for _, kind := range []string{"camunda7", "flowable"} {
		t.Run(kind, func(t *testing.T) {
			t.Parallel()
			s := newPostgres(t)
			e := newEngine(t, kind, s.driver, "audit")
			m, err := Mappings.Load(kind)
			if err != nil {
				t.Fatal(err)
			}
			e.Do("deploy body.bpmn")
			e.Do("start body order-1")
			w := newWatch(t)
			w.run(Config{Database: open(t, s.address, 10*time.Second), Mapping: m})
			want := map[string]int{"vote vote manual user task": 2, "vote late delayed timer": 2, "inner inner manual user task": 1}
			w.until(func() string {
				got := map[string]int{}
				n := w.net("body")
				if n == nil {
					return "no net"
				}
				for _, p := range w.last["body"].Rows.Places {
					for _, token := range p.Stuck {
						for _, x := range token.Waits {
							transition := n.Transitions[x.Transition].ID
							for _, a := range n.Arcs {
								if a.Target == transition {
									got[fmt.Sprint(a.Source[:len(a.Source)-len("/in")], " ", transition, " ", x.Reason, " ", x.What)]++
								}
							}
						}
					}
				}
				return cmp.Diff(want, got)
			})
		})
	}
}
