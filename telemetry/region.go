// SPDX-License-Identifier: Apache-2.0

package telemetry

import "fmt"

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

// The fields of a snapshot about its region.
const (
	fieldSince = 18
	fieldState = 19
)

// readRegion sets the state of the region.
func readRegion(f fields, into *Snapshot) error {
	into.Since, into.State = int64(f[fieldSince].number), nil
	if state := f[fieldState].fields; f[fieldState].set {
		into.State = &RegionState{Position: state[1].number, Standbys: uint32(state[2].number), Stopped: string(state[4].bytes)}
		if lag := state[3].number; state[3].set {
			into.State.Lag = &lag
		}
	}
	return checkRegion(into)
}

func (e *Encoder) appendRegion(b []byte, s *RegionState) []byte {
	if s == nil {
		return b
	}
	b, start := beginField(b, fieldState)
	b = appendNumber(b, 1, s.Position)
	b = appendNumber(b, 2, s.Standbys)
	if s.Lag != nil {
		b = appendKnown(b, 3, *s.Lag)
	}
	return endField(e.text(b, 4, s.Stopped), start)
}
