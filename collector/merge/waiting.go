// SPDX-License-Identifier: Apache-2.0

package merge

import (
	"reflect"

	"github.com/pnagent/pnagent/stats"
	"github.com/pnagent/pnagent/telemetry"
)

// reserve reserves memory for a snapshot of a source that waits for its definition, or
// for the rest of its rows, instead of what waited before. It returns an error if
// Limits.WaitingBytes is reached.
func (m *Merger) reserve(s *source, bytes int) error {
	before := s.waitingBytes()
	if m.waiting-before+bytes > m.limits.WaitingBytes {
		return Rejection(TooManyWaiting, "snapshots of %d bytes wait for definitions or for more rows, and %d more exceed the limit of %d", m.waiting-before, bytes, m.limits.WaitingBytes)
	}
	m.waiting += bytes - before
	return nil
}

// waitingBytes returns the memory of the source's snapshots that wait.
func (d *said) waitingBytes() (n int) {
	n = pendedBytes(d.pending)
	if d.parts != nil {
		n += bytesOf(&d.parts.full.Rows)
	}
	return n
}

// pendedBytes returns the memory of snapshots that wait for their definition.
func pendedBytes(all []pended) (n int) {
	for i := range all {
		n += bytesOf(&all[i].msg.Rows)
	}
	return n
}

// emptyBytes returns the memory of rows without tokens, histograms or ages.
func emptyBytes(places, transitions int) int {
	return places*sizeOf[stats.Place]() + transitions*sizeOf[stats.Transition]()
}

// bytesOf returns the memory of rows.
func bytesOf(r *stats.Rows) int {
	n := emptyBytes(len(r.Places), len(r.Transitions)) + len(r.Blocks)*sizeOf[stats.Block]()
	slot, bucket, token, group := sizeOf[stats.Slot](), sizeOf[stats.Bucket](), sizeOf[stats.Token](), sizeOf[stats.Group]()
	for i := range r.Places {
		p := &r.Places[i]
		n += len(p.Ages.Slots)*slot + len(p.Dwell.Buckets)*bucket + len(p.Stuck)*token + len(p.Groups)*group + len(p.Slowest.Instance)
		for j := range p.Stuck {
			n += textBytes(&p.Stuck[j])
		}
		for j := range p.Groups {
			n += textBytes(&p.Groups[j].Oldest)
		}
	}
	for i := range r.Transitions {
		t := &r.Transitions[i]
		n += len(t.Duration.Buckets)*bucket + len(t.Slowest.Instance)
	}
	return n
}

// textBytes returns the memory of what a token has beside itself.
func textBytes(t *stats.Token) int {
	n := len(t.Instance) + len(t.Waits)*sizeOf[stats.Wait]()
	for i := range t.Waits {
		n += len(t.Waits[i].What)
	}
	return n
}

func sizeOf[T any]() int { return int(reflect.TypeFor[T]().Size()) }

// waits reports whether an error is no fault of its source: what it sent waits for
// memory or a definition.
func waits(reason telemetry.Reason) bool { return reason == UnknownDigest || reason == TooManyWaiting }
