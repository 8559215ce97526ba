// SPDX-License-Identifier: Apache-2.0

package telemetry

import (
	"fmt"

	"google.golang.org/protobuf/encoding/protowire"

	"github.com/pnagent/pnagent/stats"
)

// fieldRefused is the field of a snapshot with the refused requests: one field for each
// reason of stats, in the same order.
const fieldRefused = 20

func readRefused(f *field, into *Snapshot) error {
	into.Refused = nil
	if !f.set {
		return nil
	}
	into.Refused = &stats.RefusedRequests{}
	for reason := range into.Refused {
		n := f.fields[reason+1].number
		if n > MaxCount {
			return fmt.Errorf("refused requests: %w: %d, of at most %d", BadValue, n, uint64(MaxCount))
		}
		into.Refused[reason] = n
	}
	return nil
}

func appendRefused(b []byte, r *stats.RefusedRequests) []byte {
	if r == nil {
		return b
	}
	b, start := beginField(b, fieldRefused)
	for reason, n := range r {
		b = appendNumber(b, protowire.Number(reason+1), n)
	}
	return endField(b, start)
}
