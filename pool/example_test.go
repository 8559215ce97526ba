// SPDX-License-Identifier: Apache-2.0

package pool_test

import (
	"fmt"

	"github.com/pnagent/pnagent/pool"
)

// A queue serves up to two of each priority, from p7 down, and round again.
func ExampleQueue() {
	discipline, err := pool.Quoted(pool.Quotes{2, 2, 2, 2, 2, 2, 2, 2})
	if err != nil {
		fmt.Println(err)
		return
	}
	q := pool.NewQueue(discipline)
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

// A channel is in progress from Start to End, and what is delivered meanwhile
// waits.
func ExamplePool() {
	p := pool.New[string](pool.FIFO())
	const now = 1_700_000_000_000_000
	order, _ := p.Register(42, 0, 0)
	_ = p.Deliver(order, "paid", now)
	run, work, _ := p.Start(16, nil, now)
	_ = p.Deliver(order, "shipped", now)
	_, _, ok := p.Start(16, nil, now)
	fmt.Println(work, "is played; may a second begin?", ok)
	_ = p.End(run, now)
	_, work, _ = p.Start(16, nil, now)
	fmt.Println(work, "is next")
	// Output:
	// [paid] is played; may a second begin? false
	// [shipped] is next
}
