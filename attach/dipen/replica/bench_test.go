// SPDX-License-Identifier: Apache-2.0

package replica

import (
	"fmt"
	"testing"

	"github.com/pnagent/pnagent/stats"
)

// standing returns a replica with tokens in ten places.
func standing(b *testing.B, tokens int) *Replica {
	b.Helper()
	r := New(line(), 0, DefaultLimits())
	r.Times.Look(1, second, second)
	r.Begin(1)
	for i := range tokens {
		r.Add(KV{Key: fmt.Sprintf("pl/%d/%d", i%10+1, i+1), Create: 1}, second)
	}
	r.Commit(second)
	return r
}

// One firing: a token arrives, is taken and departs, in three transactions.
func BenchmarkFiring(b *testing.B) {
	r := standing(b, 100_000)
	revision := int64(1)
	for b.Loop() {
		revision += 3
		token := fmt.Sprintf("pl/1/%d", 1_000_000+revision)
		r.Apply(revision, revision, []Event{{KV: KV{Key: token, Create: revision}}})
		r.Apply(revision+1, revision, []Event{{KV: KV{Key: token + "/1", Create: revision + 1}}})
		r.Apply(revision+2, revision, []Event{{KV: KV{Key: token + "/1"}, Delete: true}, {KV: KV{Key: token}, Delete: true}})
	}
}

// The base of BenchmarkFiring: parsing its keys.
func BenchmarkFiringKeys(b *testing.B) {
	n := 0
	for b.Loop() {
		n++
		token := fmt.Sprintf("pl/1/%d", 1_000_000+n)
		for range 2 {
			for _, key := range []string{token, token + "/1"} {
				if _, fault := ParseKey(key); fault != FaultNone {
					b.Fatal(fault)
				}
			}
		}
	}
}

// The cost of a snapshot with 100,000 tokens.
func BenchmarkRows(b *testing.B) {
	r := standing(b, 100_000)
	for b.Loop() {
		rows := stats.NewRows(r.Size())
		r.Rows(2*second, rows)
	}
}
