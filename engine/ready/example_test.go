// SPDX-License-Identifier: Apache-2.0

package ready_test

import (
	"fmt"

	"github.com/pnagent/pnagent/engine/ready"
)

// A queue serves up to two events of each priority, from p7 down, and starts
// again.
func ExampleQueue() {
	discipline, err := ready.Quoted(ready.Quotes{2, 2, 2, 2, 2, 2, 2, 2})
	if err != nil {
		fmt.Println(err)
		return
	}
	q := ready.NewQueue(discipline)
	const now = 1_700_000_000_000_000
	for instance := range int32(3) {
		q.Push(instance, 7, now)
	}
	q.Push(3, 0, now)
	for instance, ok := q.Pop(now); ok; instance, ok = q.Pop(now) {
		fmt.Print(instance, " ")
	}
	fmt.Println("quotes used up by p7:", q.Stats().Priorities[7].QuoteSwitches)
	// Output: 0 1 3 2 quotes used up by p7: 1
}

// An instance that was started is not ready before its end. Work that is
// delivered in between waits.
func ExamplePool() {
	p := ready.NewPool(ready.FIFO(), 100, 0)
	const now = 1_700_000_000_000_000
	p.Deliver(42, now)
	instance, _ := p.Start(16, now)
	p.Deliver(42, now)
	_, ok := p.Start(16, now)
	fmt.Println(instance, "is played; may another begin?", ok)
	p.End(instance, now)
	instance, _ = p.Start(16, now)
	fmt.Println(instance, "is next")
	// Output:
	// 42 is played; may another begin? false
	// 42 is next
}
