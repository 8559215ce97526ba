// SPDX-License-Identifier: Apache-2.0

package merge

import (
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/pnagent/pnagent/telemetry"
)

// A collector that starts cannot receive a source that is already silent, and
// would show the nets without its tokens. So it takes the last rows of such
// sources from another collector of the same subject space. They are records as
// those of a state, of which only recordNet and recordSilent occur.

// silentFor is how long a source is silent before Silent returns it. It is less
// than the patience of any source: if a source ends while the other collector
// starts, a request some seconds later returns it, although it is not stale by
// then.
const silentFor = int64(2 * time.Second / time.Microsecond)

// Silent returns, for TakeSilent of another Merger, the last rows of each source
// that is silent and of each region that no source reports. It omits a net that is
// not valid, see Net.Published; the error names it.
func (m *Merger) Silent(now int64) ([]byte, error) {
	var out []byte
	var errs []error
	e, k := m.silenceClock(now), &Saver{}
	for _, n := range m.inOrder() {
		if n.shown == nil {
			continue
		}
		d, err := k.define(n)
		if err == nil {
			out, err = k.silent(out, n, d, e, now)
		}
		if err != nil {
			errs = append(errs, fmt.Errorf("net %q: %w", n.name, err))
		}
	}
	return out, errors.Join(errs...)
}

// silent appends the silent sources of a net, all of them or none.
func (k *Saver) silent(out []byte, n *net, d definition, e silenceClock, now int64) ([]byte, error) {
	whole := len(out)
	for _, s := range slices.Concat(n.orphans, n.order) {
		if s.rows == nil || s.state != Stale && s.state != Up || !s.orphan && e.silent(s) < silentFor {
			continue
		}
		if len(out) == whole {
			head, err := json.Marshal(savedNet{ID: n.name, At: now, Ages: n.ages.saved(), Settled: n.settled})
			if err != nil {
				return out, err
			}
			out = appendRecord(out, recordNet, head, []byte("\n"), d.pnml)
		}
		msg, kept := s.last(n, d.digest)
		kept.silence, kept.rowsSilence = max(e.silent(s), 0), max(e.rowsSilent(s), 0)
		var err error
		if out, err = k.snapshots.rows(out, recordSilent, kept.before(recordSilent), msg); err != nil {
			return out[:whole], err
		}
	}
	return out, nil
}

// TakeSilent takes what Silent of another Merger returned at this moment, and
// returns how many sources are now shown from it. A source of which this Merger
// has received as much, or more, stays as it is. If the error wraps ErrState, nothing was
// taken; otherwise it names the sources for which there was no room.
func (m *Merger) TakeSilent(silent []byte, of Admission, now int64) (taken int, err error) {
	nets, err := readState(silent)
	if err != nil {
		return 0, err
	}
	for i := range nets {
		if err := nets[i].checkSilent(); err != nil {
			return 0, fmt.Errorf("%w: net %q: %w", ErrState, nets[i].ID, err)
		}
	}
	var errs []error
	for i := range nets {
		n, err := m.takeSilentNet(nets[i], of, now)
		taken += n
		if err != nil {
			errs = append(errs, fmt.Errorf("net %q: %w", nets[i].ID, err))
		}
	}
	return taken, errors.Join(errs...)
}

func (m *Merger) takeSilentNet(r *restored, of Admission, now int64) (taken int, err error) {
	if err := m.defineRestored(r, of, now); err != nil {
		return 0, err
	}
	n := m.nets[r.ID]
	c := n.known[r.definition.Digest]
	var errs []error
	for i := range r.sources {
		h := &r.sources[i]
		if !of.Share.Has(r.ID, h.msg.Source) {
			continue
		}
		take := m.takeSilent
		if h.marks&markOrphan != 0 {
			take = m.takeOrphan
		}
		h.by(now-r.At, now)
		isNew, err := take(n, h, c, now)
		if err != nil {
			errs = append(errs, fmt.Errorf("silent source %q: %w", h.msg.Source, err))
		} else if isNew {
			taken++
		}
	}
	return taken, errors.Join(errs...)
}

// checkSilent returns an error for records that Silent does not make.
func (r *restored) checkSilent() error {
	switch {
	case r.sum != nil || r.base != nil || r.shown != nil || r.groups != nil || len(r.past) > 0 || len(r.Regions) > 0:
		return errors.New("expected only silent sources")
	case r.At <= 0 || r.At > telemetry.MaxTime:
		return fmt.Errorf("invalid time %d; expected microseconds since the Unix epoch", r.At)
	}
	return nil
}

// by converts the times to this collector's clock, which is ahead of the other
// one's by that much. A small difference is taken for the time that the records
// took.
func (h *restoredSource) by(ahead, now int64) {
	if abs(ahead) <= clockSlack {
		ahead = 0
	}
	for _, at := range []*int64{&h.received, &h.messageAt, &h.rowsAt} {
		*at = max(min(*at+ahead, now), 1)
	}
}

// takeSilent takes a source that is silent at another collector, and reports
// whether that added to the View.
func (m *Merger) takeSilent(n *net, h *restoredSource, c *columns, now int64) (bool, error) {
	s, e := m.source(n, h.msg.Source), m.silenceClock(now)
	seq := max(uint64(h.seq), 1)
	if news := cmp.Or(cmp.Compare(h.epoch, s.epoch), cmp.Compare(seq, s.seq)); s.epoch != 0 && news <= 0 {
		if news == 0 && s.state == Up && h.marks&markStale != 0 { // after a break this collector does not know yet whether it is alive
			s.setSilence(h, e)
			n.changed, m.touched = true, true
		}
		// If the source ended while this collector started, its rows may be missing here.
		if s.state != Undefined || s.left || h.epoch != s.epoch || e.silent(s) < LeastPatience {
			return false, nil
		}
		before := s.seq
		s.seq = min(s.seq, seq-1)
		defer func() { s.seq = max(s.seq, before) }()
	}
	if h.msg.Epoch == h.epoch {
		h.msg.Seq = seq
	}
	switch _, err := m.takeFrom(n, s, h.msg, h.received); telemetry.ReasonOf(err) {
	case "":
	case Duplicate, OldEpoch, OldFence: // this collector has received more
		return false, nil
	default:
		return false, err
	}
	h.counted = 0 // the other collector's base is not in this one
	s.resume(h, c)
	s.setSilence(h, e)
	return true, nil
}

// setSilence gives the source the silence that it has at another collector.
func (s *source) setSilence(h *restoredSource, e silenceClock) {
	if h.marks&markStale != 0 {
		s.state = Stale
	}
	s.outage, s.rowsOutage = max(e.now-h.silence-s.messageAt, 0), max(e.now-h.rowsSilence-s.rowsAt, 0)
}

// takeOrphan takes the rows of a region that no source reports. Its last owner may
// be known here, and report another region.
func (m *Merger) takeOrphan(n *net, h *restoredSource, c *columns, now int64) (bool, error) {
	of := seriesOf(h.msg)
	reported := slices.ContainsFunc(n.contributors(), func(s *source) bool { return s.series() == of })
	if fenced := n.checkFence(h.msg, &m.limits, h.received) == nil; of == (series{}) || reported || !fenced {
		return false, nil
	}
	if err := fits(h.msg, c); err != nil {
		return false, err
	}
	if err := m.room(len(c.places) + len(c.transitions)); err != nil {
		return false, err
	}
	o := &source{name: h.msg.Source, sequence: sequence{counted: n.before, epoch: h.epoch}, health: health{interval: h.msg.Interval.Microseconds()}}
	o.patience = min(patienceOf(o.interval), m.forgetAfter)
	n.take(o, n.taking(h.msg, c), h.received)
	o.orphan = true
	o.state = Up
	o.digest = h.digest
	o.messageAt = h.rowsAt
	o.rowsAt = h.rowsAt
	o.rowsOutage = max(m.silenceClock(now).now-h.rowsSilence-h.rowsAt, 0)
	o.outage, o.missing, o.processes = o.rowsOutage, nil, nil
	n.orphans = append(n.orphans, o)
	return true, nil
}
