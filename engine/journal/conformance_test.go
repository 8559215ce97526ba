// SPDX-License-Identifier: Apache-2.0

package journal_test

import (
	"fmt"
	"testing"

	"github.com/pnagent/pnagent/engine/journal"
	"github.com/pnagent/pnagent/engine/journal/journaltest"
)

// A File passes the tests of every log, in every mode and with segments of any
// length.
func TestLaws(t *testing.T) {
	for _, o := range []journal.Options{{}, {Mode: journal.SyncAlways, SegmentBytes: 4096}, {Mode: journal.SyncNone, SegmentBytes: 1}} {
		t.Run(fmt.Sprintf("%v/%d", o.Mode, o.SegmentBytes), func(t *testing.T) {
			journaltest.Run(t, func(t testing.TB) func() journal.Log {
				dir := t.TempDir()
				return func() journal.Log {
					f, warnings, err := journal.Open(dir, o)
					if err != nil || len(warnings) > 0 {
						t.Fatal(warnings, err)
					}
					return f
				}
			})
		})
	}
}
