// SPDX-License-Identifier: Apache-2.0

package journal

import (
	"cmp"
	"fmt"
	"time"
)

// SyncMode selects when a File calls fsync for commits. In every mode a segment
// is synced before the next one begins, and a snapshot before it replaces
// commits.
type SyncMode uint8

const (
	// SyncInterval syncs in the first call of Sync after Options.Interval has
	// passed. A power loss loses the commits appended since the last call that
	// synced: those of the interval, and of the time between two calls of Sync.
	SyncInterval SyncMode = iota
	// SyncAlways syncs before Append returns. A power loss loses nothing that
	// Append has accepted.
	SyncAlways
	// SyncNone leaves syncing to the operating system. A power loss can lose
	// all commits since the last end of a segment, snapshot or Close.
	SyncNone
)

var modeNames = [...]string{SyncInterval: "interval", SyncAlways: "always", SyncNone: "none"}

func (m SyncMode) String() string {
	if int(m) < len(modeNames) {
		return modeNames[m]
	}
	return fmt.Sprintf("SyncMode(%d)", m)
}

// MarshalText returns "interval", "always" or "none".
func (m SyncMode) MarshalText() ([]byte, error) { return []byte(m.String()), nil }

// UnmarshalText is the reverse of MarshalText.
func (m *SyncMode) UnmarshalText(text []byte) error {
	for i, name := range modeNames {
		if name == string(text) {
			*m = SyncMode(i)
			return nil
		}
	}
	return fmt.Errorf("sync mode %q; expected interval, always or none", text)
}

// Options configures a File. The zero value suits most programs.
type Options struct {
	Mode         SyncMode
	Interval     time.Duration // of SyncInterval; 0 for 100 ms
	SegmentBytes int64         // a segment ends when it has at least this size; 0 for 64 MiB
}

const (
	defaultInterval     = 100 * time.Millisecond
	defaultSegmentBytes = 64 << 20
)

func (o Options) checked() (Options, error) {
	o.Interval = cmp.Or(o.Interval, defaultInterval)
	o.SegmentBytes = cmp.Or(o.SegmentBytes, defaultSegmentBytes)
	if int(o.Mode) >= len(modeNames) || o.Interval < 0 || o.SegmentBytes < 0 {
		return o, fmt.Errorf("journal options: mode %v, interval %v, segments of %d bytes; expected a known mode and nothing negative",
			o.Mode, o.Interval, o.SegmentBytes)
	}
	return o, nil
}
