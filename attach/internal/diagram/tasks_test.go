// SPDX-License-Identifier: Apache-2.0

package diagram

import (
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestANewVersionAddsTasks(t *testing.T) {
	l, err := NewTasks("p", "", []Task{{ID: "a", Next: []string{"a", "gone"}}})
	if err != nil {
		t.Fatal(err)
	}
	o, err := NewTasks("p", "", []Task{{ID: "a", Next: []string{"b", "b"}}, {ID: "b", Name: "B"}})
	if err != nil {
		t.Fatal(err)
	}
	l.Merge(o)
	if diff := cmp.Diff([]string{"a"}, l.Before("b")); diff != "" || len(l.Before("a")) > 0 || !l.HasArc("a", "b/in") || len(l.Def.Places) != 2 {
		t.Error(diff, l.Def)
	}
}

func TestARunBeginsWithTheFirstTaskThatNoneComesBefore(t *testing.T) {
	for _, c := range []struct {
		rule, want string
		tasks      []Task
	}{
		{"no task", "", nil},
		{"a circle", "", []Task{{ID: "a", Next: []string{"b"}}, {ID: "b", Next: []string{"a"}}}},
		{"the second", "b", []Task{{ID: "a"}, {ID: "b", Next: []string{"a"}}}},
		{"the first of two", "b", []Task{{ID: "a"}, {ID: "b", Next: []string{"a"}}, {ID: "c", Next: []string{"a"}}}},
	} {
		n, err := NewTasks("p", "", c.tasks)
		if got := n.First(); err != nil || got != c.want {
			t.Errorf("%s: %q, %v; expected %q", c.rule, got, err, c.want)
		}
	}
}
