// SPDX-License-Identifier: Apache-2.0

package merge

import (
	"cmp"
	"slices"
	"strings"

	"github.com/pnagent/pnagent/stats"
	"github.com/pnagent/pnagent/telemetry"
)

// A collector below publishes sums. What its sources do not report any more left these sums
// without evidence, so it publishes its Remnants too, and which sources report again.

// pathSeparator stands between the names of a path; no name has one.
const pathSeparator = "\x1f"

// PathOf returns the names in the Source of a Remnant or an Answer: those of the collectors
// below that lead to the source, the nearest first, and its own.
func PathOf(source string) []string { return strings.Split(source, pathSeparator) }

// SameLevel reports whether the same collector receives two sources.
func SameLevel(a, b string) bool {
	return a[:strings.LastIndex(a, pathSeparator)+1] == b[:strings.LastIndex(b, pathSeparator)+1]
}

// Answer is a source of a collector below that reports again what it holds, or has said
// goodbye, since a short time.
type Answer struct {
	Source, Region string // see PathOf
	Bye            bool
	Columns        stats.Columns // those that a Remnant may be about
}

// answersFor is how long a source is published as an Answer.
const answersFor = 5 * minute

// Remnants returns what sources of a net do not report any more, and which ones answer, for
// a collector above, in about as many bytes as there is room. Indices are those of FillRows.
func (v *View) Remnants(net string, room int) *telemetry.Remnants {
	out, n := &telemetry.Remnants{}, v.Net(net)
	if n == nil {
		return out
	}
	out.Lost, room = n.lost(room)
	from, _ := slices.BinarySearchFunc(v.Sources, net, func(s Source, net string) int { return cmp.Compare(s.Net, net) })
	answers := slices.Clone(n.Answers)
	for i := from; i < len(v.Sources) && v.Sources[i].Net == net; i++ {
		s := &v.Sources[i]
		if bye := s.State == Gone && !s.Forgotten; (s.State == Up || bye) && s.Back != 0 && v.At-s.Back < answersFor {
			answers = append(answers, Answer{Source: s.Name, Region: s.Region, Bye: bye, Columns: s.Columns})
		}
	}
	for _, a := range answers {
		path := PathOf(a.Source)
		if room -= len(a.Source) + len(a.Region) + 32; room < 0 || len(out.Lost)+len(out.Answers) >= telemetry.MaxRemnants || len(path) >= telemetry.MaxPath {
			break // the collector above keeps what it does not know to be over
		}
		out.Answers = append(out.Answers, telemetry.Answer{Path: path, Region: a.Region, Bye: a.Bye, Columns: a.Columns})
	}
	return out
}

// lost returns the remnants of the net, the newest first, and how much room is left.
func (n *NetView) lost(room int) (out []telemetry.Remnant, left int) {
	all := slices.Clone(n.Remnants)
	slices.SortStableFunc(all, func(a, b *Remnant) int { return cmp.Compare(b.Left, a.Left) })
	var rest []telemetry.Remnant // for which there is no room: those that left the sums, and those that are in them
	for _, r := range all {
		one := r.published()
		rows := len(one.Places) + len(one.Enabled) + len(one.Fired)
		if rows == 0 && !one.Deadlocked {
			continue
		}
		size := len(r.Source) + len(r.Region) + 32 + 3*rows
		switch {
		case r.Source != "" && size <= room && len(out) < telemetry.MaxRemnants/2 && len(one.Path) < telemetry.MaxPath:
			out, room = append(out, one), room-size
		case len(rest) == 0 || rest[len(rest)-1].Left != 0 && r.Left == 0: // of each kind the newest
			rest = append(rest, telemetry.Remnant{Left: r.Left})
		}
	}
	return append(out, rest...), room
}

// published returns the remnant for the collector above. Of a source whose rows are in the
// sums it needs the counters alone: what is present grows older there as here.
func (r *Remnant) published() telemetry.Remnant {
	out := telemetry.Remnant{Path: PathOf(r.Source), Region: r.Region, Left: r.Left, SilentSince: r.SilentSince}
	for _, t := range r.Transitions {
		if t.Fired {
			out.Fired = append(out.Fired, uint32(t.Transition))
		}
		if t.Enabled > 0 && r.Left != 0 {
			out.Enabled = append(out.Enabled, uint32(t.Transition))
		}
	}
	if r.Left == 0 {
		return out
	}
	for i := range r.Places {
		out.Places = append(out.Places, uint32(r.Places[i].Place))
	}
	out.Deadlocked = r.Deadlocked > 0
	return out
}

// takeRemnants takes what a collector below publishes of its sources.
func (s *source) takeRemnants(msg *telemetry.Snapshot, c *columns, now int64) {
	before, told := s.told, inUnion(msg.Remnants, c)
	s.told, s.answers = told, nil
	if told == nil {
		s.below = nil
		return
	}
	for i := range told.Answers {
		a := &told.Answers[i]
		s.answers = append(s.answers, Answer{Source: s.pathTo(a.Path), Region: a.Region, Bye: a.Bye, Columns: a.Columns})
	}
	if before != nil && slices.EqualFunc(before.Lost, told.Lost, sameRemnant) {
		return
	}
	s.changes++
	known := make(map[lostKey]*Remnant, len(s.below))
	for _, r := range s.below {
		known[lostKey{r.Source, r.Region, r.leftBelow}] = r
	}
	s.below = nil
	for i := range told.Lost {
		l := &told.Lost[i]
		r := remnantBelow(l, s.pathTo(l.Path), c, s.clock.shift)
		switch old := known[lostKey{r.Source, r.Region, r.leftBelow}]; {
		case l.Left == 0:
		case old != nil:
			r.Left = old.Left
		case before != nil: // the rows are in the sums until now
			r.Left = now
		default:
			r.Left = min(max(l.Left+s.clock.shift, 1), now)
		}
		s.below = append(s.below, r)
	}
}

// lostKey identifies a Remnant of a collector below.
type lostKey struct {
	source, region string
	left           int64 // by its clock
}

// pathTo returns the Source of a Remnant or an Answer with a path of this source; "" for
// sources without names.
func (s *source) pathTo(path []string) string {
	if len(path) == 0 {
		return ""
	}
	return s.name + pathSeparator + strings.Join(path, pathSeparator)
}

// remnantBelow returns a remnant of a collector below. It has no numbers: where there was
// something, there was at least one.
func remnantBelow(l *telemetry.Remnant, source string, c *columns, shift int64) *Remnant {
	if source == "" { // it may be any row
		all := telemetry.Remnant{Left: l.Left, Fired: moved(indices(0, len(c.transitions)), c.transitions)}
		if l.Left != 0 {
			all.Places, all.Enabled, all.Deadlocked = moved(indices(0, len(c.places)), c.places), all.Fired, true
		}
		l = &all
	}
	r := &Remnant{Source: source, Region: l.Region, leftBelow: l.Left}
	if l.SilentSince != 0 {
		r.SilentSince = max(l.SilentSince+shift, 1)
	}
	for _, i := range l.Places {
		r.Places = append(r.Places, RemnantPlace{Place: int(i), Tokens: 1})
	}
	for _, i := range l.Enabled {
		r.Transitions = append(r.Transitions, RemnantTransition{Transition: int(i), Enabled: 1})
	}
	for _, i := range l.Fired {
		r.Transitions = append(r.Transitions, RemnantTransition{Transition: int(i), Fired: true})
	}
	if l.Deadlocked {
		r.Deadlocked = 1
	}
	return r
}

func sameRemnant(a, b telemetry.Remnant) bool {
	return slices.Equal(a.Path, b.Path) && a.Region == b.Region && a.Left == b.Left && a.SilentSince == b.SilentSince && a.Deadlocked == b.Deadlocked &&
		slices.Equal(a.Places, b.Places) && slices.Equal(a.Enabled, b.Enabled) && slices.Equal(a.Fired, b.Fired)
}

// inUnion returns remnants with indices of the union.
func inUnion(r *telemetry.Remnants, c *columns) *telemetry.Remnants {
	if r == nil || c.same || len(r.Lost) == 0 {
		return r
	}
	out := &telemetry.Remnants{Lost: slices.Clone(r.Lost), Answers: r.Answers}
	for i := range out.Lost {
		l := &out.Lost[i]
		l.Places, l.Enabled, l.Fired = moved(l.Places, c.places), moved(l.Enabled, c.transitions), moved(l.Fired, c.transitions)
	}
	return out
}

func moved(index []uint32, union []int32) []uint32 {
	out := make([]uint32, len(index))
	for i, x := range index {
		out[i] = uint32(union[x])
	}
	slices.Sort(out)
	return out
}

// fitsRemnants reports whether the indices of remnants are in the definition.
func fitsRemnants(r *telemetry.Remnants, places, transitions int) bool {
	if r == nil {
		return true
	}
	return !slices.ContainsFunc(r.Lost, func(l telemetry.Remnant) bool {
		return beyond(l.Places, places) || beyond(l.Enabled, transitions) || beyond(l.Fired, transitions)
	})
}

// appendBelow appends the remnants that collectors below publish. If the collector itself is
// silent, so are all of its sources.
func (s *source) appendBelow(all []*Remnant) []*Remnant {
	if s.rows == nil || s.state == Gone || s.state == Undefined {
		return all
	}
	for _, r := range s.below {
		if r.Left != 0 || s.state != Stale {
			all = append(all, r)
		}
	}
	return all
}

// allAnswers returns the answers of all collectors below that are up.
func (n *net) allAnswers() (all []Answer) {
	for _, s := range n.order {
		if s.state == Up && !s.recalled {
			all = append(all, s.answers...)
		}
	}
	return all
}
