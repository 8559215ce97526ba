// SPDX-License-Identifier: Apache-2.0

package watch

import (
	"errors"
	"os"
	"path/filepath"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/pnagent/pnagent/collector/alarm"
)

func someSaved() alarm.Saved {
	return alarm.Saved{Last: 9, LastChange: t0 + 5, Active: []alarm.Alarm{
		{Index: 3, Kind: alarm.TokenStuck, Net: "orders", Subject: "paid \"€\"\n", Raised: t0, Since: t0 - 600e6, Affected: 7, Text: `a \ b`},
		{Index: 7, Kind: alarm.SourceLost, Subject: "p\xff", Raised: t0 + 5, Since: t0, Affected: 1<<64 - 1},
	}}
}

func TestTheFileIsReplacedAtomically(t *testing.T) {
	path := filepath.Join(t.TempDir(), "new", "alarms.state")
	if _, err := readState(path); !errors.Is(err, os.ErrNotExist) {
		t.Fatal(err)
	}
	for _, s := range []alarm.Saved{{Last: 1}, someSaved()} {
		if err := writeState(path, s.Text()); err != nil {
			t.Fatal(err)
		}
		got, err := readState(path)
		if d := cmp.Diff(s, got.value); err != nil || d != "" {
			t.Errorf("parsed state: error %v (-want +got): %s", err, d)
		}
	}
	if left, err := os.ReadDir(filepath.Dir(path)); err != nil || len(left) != 1 {
		t.Errorf("beside the file there are %v, %v", left, err)
	}
}
