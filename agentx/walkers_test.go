// SPDX-License-Identifier: Apache-2.0

package agentx_test

import (
	"fmt"
	"sync"
	"testing"
	"time"
)

// active is how long after its last request a walk counts as in progress: walkActive.
const active = 900 * time.Millisecond

// manyWalk has eight managers walk at once, in rounds, until as many rounds as asked for were
// judged. A manager that pauses for longer than active may see two tables, and so may one that
// walks beside it. So a round with a fault and a walk that took longer says nothing. The error is
// that too many were such.
func manyWalk(t *testing.T, rounds int, walk func(manager, round int) error) error {
	t.Helper()
	const managers, tries = 8, 20
	judged := 0
	for round := 0; judged < rounds; round++ {
		if round == tries {
			return fmt.Errorf("%d of %d rounds judged: in the others a walk saw two tables, and one took longer than %v, because the machine is busy", judged, rounds, active)
		}
		var walking sync.WaitGroup
		var mu sync.Mutex
		var longest time.Duration
		var faults []string
		for manager := range managers {
			walking.Go(func() {
				begun := time.Now()
				err := walk(manager, round)
				took := time.Since(begun)
				mu.Lock()
				defer mu.Unlock()
				longest = max(longest, took)
				if err != nil {
					faults = append(faults, fmt.Sprintf("manager %d: %v", manager, err))
				}
			})
		}
		walking.Wait()
		if len(faults) > 0 && longest > active {
			continue
		}
		judged++
		for _, fault := range faults {
			t.Error(fault)
		}
	}
	return nil
}
