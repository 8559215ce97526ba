// SPDX-License-Identifier: Apache-2.0

package telemetry

import (
	"fmt"

	"github.com/pnagent/pnagent/telemetry/wire"
)

// checkSince rejects a start of counters without an owner: counters of a region
// continue from owner to owner, and the fence identifies the owner.
func checkSince(since int64, region string, fence uint64) error {
	switch {
	case since < 0 || since > MaxTime:
		return fmt.Errorf("%w: counters since %d", BadValue, since)
	case since != 0 && (region == "" || fence == 0):
		return fmt.Errorf("%w: counters since %d, of region %q with fence %d: both are needed", BadValue, since, region, fence)
	}
	return nil
}

// checkRegion checks the state of a snapshot's region.
func checkRegion(s *Snapshot) error {
	if err := checkSince(s.Since, s.Region, s.Fence); err != nil {
		return err
	}
	switch state := s.State; {
	case state == nil:
	case s.Region == "":
		return fmt.Errorf("%w: state of a region, without a region", BadValue)
	case state.Position > MaxCount:
		return fmt.Errorf("%w: region at position %d, of at most %d", BadValue, state.Position, uint64(MaxCount))
	case state.Lag != nil && state.Standbys == 0:
		return fmt.Errorf("%w: region with a lag of %d and no standby", BadValue, *state.Lag)
	case state.Lag != nil && *state.Lag > MaxCount:
		return fmt.Errorf("%w: region with a lag of %d, of at most %d", BadValue, *state.Lag, uint64(MaxCount))
	default:
		return checkText(state.Stopped, MaxName)
	}
	return nil
}

// readRegion sets the state of the region from a message.
func readRegion(m *wire.Snapshot, into *Snapshot) error {
	into.Since, into.State = m.Since, nil
	if w := m.GetRegionState(); w != nil {
		into.State = &RegionState{Position: w.Position, Standbys: w.Standbys, Lag: w.Lag, Stopped: w.Stopped}
	}
	return checkRegion(into)
}

// regionState returns the wire form of a snapshot's region state.
func regionState(s *Snapshot) *wire.RegionState {
	if s.State == nil {
		return nil
	}
	return &wire.RegionState{Position: s.State.Position, Standbys: s.State.Standbys, Lag: s.State.Lag, Stopped: s.State.Stopped}
}
