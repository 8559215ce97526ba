// SPDX-License-Identifier: Apache-2.0

package engine

import (
	"context"
	"errors"
	"testing"
	"testing/synctest"

	"github.com/pnagent/pnagent/petri/split"
)

// However fast an upstream part is, what waits for the worker is bounded in
// number and in bytes, and its reader continues as soon as there is room.
//
//promise:bounds load
func TestAnInboxIsBounded(t *testing.T) {
	large := []split.Crossing{{Place: 1, Tokens: 1, Data: make([]byte, 1<<20)}}
	for name, c := range map[string]struct {
		tokens []split.Crossing
		most   int // that wait
	}{
		"many that are empty": {nil, maxArrivals},
		"few that are large":  {large, maxWaiting / (1 << 20)},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				b, brought := newInbox(), 0
				ctx, stop := context.WithCancel(t.Context())
				ended := make(chan error)
				for range 2 { // readers
					go func() {
						for {
							if err := b.put(ctx, newArrival(0, Cursor{Position: 1}, c.tokens)); err != nil {
								ended <- err
								return
							}
						}
					}()
				}
				for range 3 * c.most {
					synctest.Wait()
					if n := len(b.waiting); n < c.most-1 || n > c.most+1 {
						t.Fatalf("%d wait; want %d", n, c.most)
					}
					if _, ok := b.take(); !ok {
						t.Fatal("nothing to take")
					}
					brought++
				}
				stop()
				for range 2 {
					if err := <-ended; !errors.Is(err, context.Canceled) {
						t.Error(err)
					}
				}
			})
		})
	}
}
