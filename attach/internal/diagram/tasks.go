// SPDX-License-Identifier: Apache-2.0

package diagram

import (
	"fmt"
	"slices"
)

// Task is a node of a net whose engine has no diagrams: it runs when the tasks before
// it have ended.
type Task struct {
	ID, Name string
	Next     []string // the tasks after it
}

// NewTasks returns the net of tasks, and an empty ledger: a transition and a place for
// each task, and an arc from each task to the place of each one after it. The error
// says that there is no room for all of them.
func NewTasks(key, name string, tasks []Task) (*Process, error) {
	l := empty(key, name)
	for _, t := range tasks {
		if l.Knows(t.ID) || t.ID == "" {
			continue
		}
		if len(l.Def.Places) >= maxNodes {
			return l, fmt.Errorf("more than %d tasks", maxNodes)
		}
		l.addPlace(t.ID, t.Name, nil)
		l.addTransition(t.ID, t.Name, nil)
		l.takes(t.ID, t.ID)
	}
	for _, t := range tasks {
		for _, next := range t.Next {
			if l.Knows(next) && l.Knows(t.ID) && next != t.ID && !slices.Contains(l.before[next], t.ID) {
				l.puts(t.ID, next)
				l.before[next] = append(l.before[next], t.ID)
			}
		}
	}
	return l, nil
}

// First returns the first task that none comes before; "" if there is none.
func (l *Process) First() string {
	for i := range l.Def.Transitions {
		if id := l.Def.Transitions[i].ID; len(l.before[id]) == 0 {
			return id
		}
	}
	return ""
}

// Before returns the tasks before one, in the version that had it first.
func (l *Process) Before(task string) []string { return l.before[task] }
