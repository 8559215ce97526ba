// SPDX-License-Identifier: Apache-2.0

package replica

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/pnagent/pnagent/petri"
	"github.com/pnagent/pnagent/stats"
)

// maxName is the largest length of a name in bytes, as in telemetry.
const maxName = 255

// definition is the net, which grows, and its counts.
type definition struct {
	net    petri.Net
	limit  int
	ids    map[string]bool // of places and transitions
	places nodes
	trans  nodes

	regions map[string]string // by the name of a transition
	named   map[uint64]string // name in etcd, by the id of a transition

	counts stats.Rows    // by row; the slowest tokens are those since they were published last
	needs  [][]petri.Arc // by transition: arcs from places; for a net from a file
	users  [][]int32     // by place: transitions that need it
}

// nodes maps names and ids to rows, of places or of transitions.
type nodes struct {
	byName map[string]int
	byID   map[uint64]int
}

func newDefinition(n *petri.Net, limit int) *definition {
	d := &definition{net: *n, limit: limit, ids: map[string]bool{}, regions: map[string]string{}, named: map[uint64]string{},
		places: nodes{map[string]int{}, map[uint64]int{}}, trans: nodes{map[string]int{}, map[uint64]int{}}}
	d.net.Places, d.net.Transitions = slices.Clone(n.Places), slices.Clone(n.Transitions)
	for i := range n.Places {
		d.ids[n.Places[i].ID] = true
		d.places.byName[n.Places[i].ID] = i
	}
	for i := range n.Transitions {
		d.ids[n.Transitions[i].ID] = true
		d.trans.byName[n.Transitions[i].ID] = i
	}
	for i := range n.Places {
		d.places.called(n.Places[i].Name, i)
	}
	for i := range n.Transitions {
		d.trans.called(n.Transitions[i].Name, i)
	}
	d.counts = *stats.NewRows(len(n.Places), len(n.Transitions))
	d.compile()
	return d
}

// called maps a name to a row, unless the name is in use.
func (n *nodes) called(name string, row int) {
	if _, taken := n.byName[name]; !taken && name != "" {
		n.byName[name] = row
	}
}

// compile sets the arcs that each transition of the file needs.
func (d *definition) compile() {
	d.needs, d.users = make([][]petri.Arc, len(d.net.Transitions)), make([][]int32, len(d.net.Places))
	for _, a := range d.net.Arcs {
		p, isPlace := d.places.byName[a.Source]
		t, isTrans := d.trans.byName[a.Target]
		if !isPlace || !isTrans || d.net.Places[p].ID != a.Source || d.net.Transitions[t].ID != a.Target || a.Kind == petri.Reset {
			continue
		}
		d.needs[t] = append(d.needs[t], a)
		if !slices.Contains(d.users[p], int32(t)) {
			d.users[p] = append(d.users[p], int32(t))
		}
	}
}

// name sets the id of a place or a transition.
func (d *definition) name(k Key, id uint64) Fault {
	if !goodName(k.Name) {
		return FaultBadName
	}
	n, add := &d.places, d.addPlace
	if k.Kind == KindTransition {
		n, add = &d.trans, d.addTransition
		if len(d.named) >= d.limit {
			return FaultRoom
		}
		d.named[id] = k.Name
	}
	row, known := n.byName[k.Name]
	if !known {
		var ok bool
		if row, ok = add(k.Name); !ok {
			return FaultRoom
		}
		n.byName[k.Name] = row
	}
	n.byID[id] = row
	return FaultNone
}

// region sets the region of a transition; it returns false if there is no room.
func (d *definition) region(transition, region string) bool {
	if _, known := d.regions[transition]; !known && len(d.regions) >= d.limit || len(region) > MaxKey {
		return false
	}
	d.regions[transition] = region
	return true
}

func (d *definition) regionOf(transition uint64) (string, bool) {
	region, known := d.regions[d.named[transition]]
	return region, known
}

// goodName reports whether a name is valid as a node's id, on the wire and in PNML.
func goodName(name string) bool {
	return name != "" && len(name) <= maxName && utf8.ValidString(name) &&
		!strings.ContainsFunc(name, func(c rune) bool { return c < ' ' || c >= 0x7f && c < 0xa0 || c == 0xfffe || c == 0xffff })
}

// addPlace adds a row; it returns false if there is no room. The arcs of the place are
// not known, so it is not final.
func (d *definition) addPlace(name string) (row int, ok bool) {
	if len(d.net.Places) >= d.limit {
		return 0, false
	}
	d.net.Places = append(d.net.Places, petri.Place{ID: d.unique(name, "place"), Name: name, Open: true})
	d.counts.Places, d.users = append(d.counts.Places, stats.Place{}), append(d.users, nil)
	return len(d.net.Places) - 1, true
}

func (d *definition) addTransition(name string) (row int, ok bool) {
	if len(d.net.Transitions) >= d.limit {
		return 0, false
	}
	d.net.Transitions = append(d.net.Transitions, petri.Transition{ID: d.unique(name, "transition"), Name: name})
	d.counts.Transitions, d.needs = append(d.counts.Transitions, stats.Transition{}), append(d.needs, nil)
	return len(d.net.Transitions) - 1, true
}

// unique returns an id similar to name: in DiPeN a place and a transition may have the same name.
func (d *definition) unique(name, kind string) string {
	id := name
	for n := 1; d.ids[id]; n++ {
		suffix := " (" + kind + ")"
		if n > 1 {
			suffix = fmt.Sprintf(" (%s %d)", kind, n)
		}
		id = name[:min(len(name), maxName-len(suffix))] + suffix
		for !utf8.ValidString(id) {
			name = name[:len(name)-1]
			id = name[:min(len(name), maxName-len(suffix))] + suffix
		}
	}
	d.ids[id] = true
	return id
}

// place returns the row of a place's id, and adds one for an id without a name;
// -1 if there is no room.
func (d *definition) place(id uint64) int { return d.places.row(id, "place ", d.addPlace) }

func (d *definition) transition(id uint64) int {
	return d.trans.row(id, "transition ", d.addTransition)
}

func (n *nodes) row(id uint64, kind string, add func(name string) (int, bool)) int {
	if row, known := n.byID[id]; known {
		return row
	}
	row, ok := add(kind + strconv.FormatUint(id, 10))
	if !ok {
		return -1
	}
	n.byID[id] = row
	return row
}

func (d *definition) arrived(place uint64, at int64) {
	if row := d.place(place); row >= 0 {
		p := &d.counts.Places[row]
		p.Arrivals++
		p.LastInjection = max(p.LastInjection, at)
	}
}

// left counts a token that departed, and with a cell its dwell time.
func (d *definition) left(id cellID, stayed *cell, now int64) {
	row := d.place(id.place)
	if row < 0 {
		return
	}
	p := &d.counts.Places[row]
	p.Departures++
	if stayed != nil {
		dwell := max(now-stayed.at, 0)
		p.Dwell.Observe(dwell)
		if dwell > 0 {
			p.Slowest.Merge(stats.Slowest{Instance: strconv.FormatUint(id.token, 10), Micros: dwell, At: now})
		}
	}
}

// fired counts a firing, and with a run its duration.
func (d *definition) fired(transition uint64, ran *run, now int64) {
	row := d.transition(transition)
	if row < 0 {
		return
	}
	t := &d.counts.Transitions[row]
	t.Firings++
	t.LastFiring = max(t.LastFiring, now)
	if ran != nil {
		t.Duration.Observe(max(now-ran.at, 0))
	}
}

func (d *definition) cancelled(transition uint64) {
	if row := d.transition(transition); row >= 0 {
		d.counts.Transitions[row].Cancels++
	}
}
