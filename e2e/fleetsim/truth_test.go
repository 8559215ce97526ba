// SPDX-License-Identifier: Apache-2.0

package fleetsim

import (
	"fmt"
	"math"
	"reflect"
	"slices"
	"sort"
	"time"
)

// totals are what a View has to show. The fleet counts them as events happen and
// does not add them up from rows.
type totals struct {
	places                    [size]placeTotal
	firings                   [size]uint64
	created, finished, active uint64
}

type placeTotal struct {
	tokens, arrivals, departures uint64
	dwell                        uint64 // of the tokens that left, microseconds
}

func (t *totals) add(o *totals) {
	for i := range t.places {
		a, b := &t.places[i], &o.places[i]
		a.tokens, a.arrivals, a.departures, a.dwell = a.tokens+b.tokens, a.arrivals+b.arrivals, a.departures+b.departures, a.dwell+b.dwell
		t.firings[i] += o.firings[i]
	}
	t.created, t.finished, t.active = t.created+o.created, t.finished+o.finished, t.active+o.active
}

// truth is the state of a fleet that has stopped changing.
type truth struct {
	totals
	sources  int
	injected [size][]int64 // of the tokens that are present, oldest first
}

func (t *truth) add(o *truth) {
	t.totals.add(&o.totals)
	t.sources += o.sources
	for i := range t.injected {
		t.injected[i] = append(t.injected[i], o.injected[i]...)
		slices.Sort(t.injected[i])
	}
}

// view is the part of GET /api/v1/view that is compared.
type view struct {
	At      time.Time
	Nets    []viewNet
	Sources []struct{ Net, State string }
}

type viewNet struct {
	ID          string
	Up          int `json:"sources_up"`
	Stale       int `json:"sources_stale"`
	Instances   struct{ Created, Finished, Failed, Active, Deadlocked uint64 }
	Places      []viewPlace
	Transitions []viewTransition
	Blocks      []viewBlock
}

type viewPlace struct {
	ID                                      string
	Tokens, Arrivals, Departures, Instances uint64
	OlderThan                               map[string]uint64 `json:"older_than"`
	Oldest                                  float64           `json:"oldest_age_seconds"`
	Dwell                                   viewHistogram
	Stuck                                   []viewToken
}

type viewToken struct{ Instance string }

type viewTransition struct {
	ID               string
	Firings, Enabled uint64
	Duration         viewHistogram
}

type viewBlock struct {
	Transition, Place, Reason string
	Instances                 uint64
}

type viewHistogram struct {
	Count              uint64
	Sum, P50, P95, P99 float64
}

// orders returns the fleet's net, or an empty one if the View does not have it.
func (v *view) orders() *viewNet {
	for i := range v.Nets {
		if v.Nets[i].ID == fleetNet {
			return &v.Nets[i]
		}
	}
	return &viewNet{}
}

// differs returns where a View that was read now is not the truth. Counters and
// tokens have to be exact; ages may be off by the error of a ladder and of clocks.
func (t *truth) differs(v *viewNet, now time.Time) (faults []string) {
	fault := func(format string, args ...any) { faults = append(faults, fmt.Sprintf(format, args...)) }
	if len(v.Places) != size || len(v.Transitions) != size {
		fault("%d places and %d transitions, want %d each", len(v.Places), len(v.Transitions), size)
		return faults
	}
	if got, want := [3]uint64{v.Instances.Created, v.Instances.Finished, v.Instances.Active}, [3]uint64{t.created, t.finished, t.active}; got != want {
		fault("instances created, finished, active: %v, want %v", got, want)
	}
	for i := range v.Places {
		got, want := &v.Places[i], &t.places[i]
		if got.Tokens != want.tokens || got.Arrivals != want.arrivals || got.Departures != want.departures {
			fault("%s: tokens %d, arrivals %d, departures %d, want %+v", got.ID, got.Tokens, got.Arrivals, got.Departures, *want)
		}
		if got.Dwell.Count != want.departures || math.Abs(got.Dwell.Sum*1e6-float64(want.dwell)) > 1e-9*float64(want.dwell)+1 {
			fault("%s: %d dwells of %f s, want %d of %d µs", got.ID, got.Dwell.Count, got.Dwell.Sum, want.departures, want.dwell)
		}
		if v.Transitions[i].Firings != t.firings[i] {
			fault("%s: %d firings, want %d", v.Transitions[i].ID, v.Transitions[i].Firings, t.firings[i])
		}
		faults = append(faults, agesDiffer(got.ID, got.OlderThan, t.injected[i], now)...)
	}
	return faults
}

// steps returns the ages of a View's ladder, in seconds by label.
func steps() map[string]float64 {
	return map[string]float64{"1s": 1, "10s": 10, "1m": 60, "10m": 600, "1h": 3600, "6h": 6 * 3600, "1d": 86400, "7d": 7 * 86400}
}

// agesDiffer checks how many tokens are older than each step. A ladder is off by
// at most a sixteenth of the age. A collector corrects the times of a source only
// if its clock seems to be off by more than a quarter of a second.
func agesDiffer(place string, older map[string]uint64, injected []int64, now time.Time) (faults []string) {
	for label, age := range steps() {
		before := func(age float64) uint64 {
			limit := now.UnixMicro() - int64(age*1e6)
			return uint64(sort.Search(len(injected), func(i int) bool { return injected[i] > limit }))
		}
		got, known := older[label]
		if least, most := before(age*17/16+1), before(age*15/16-1); !known || got < least || got > most {
			faults = append(faults, fmt.Sprintf("%s: %d tokens older than %s, want %d to %d", place, got, label, least, most))
		}
	}
	return faults
}

// same returns where two Views of a stopped net differ. It ignores sources, because
// the sources of a root are the sidecars below it. Ages may be a second apart,
// because the Views were read one after the other.
func same(flat, root *viewNet) (faults []string) {
	a, b := *flat, *root
	a.Up, a.Stale, b.Up, b.Stale = 0, 0, 0, 0
	a.Places, b.Places = slices.Clone(a.Places), slices.Clone(b.Places)
	if len(a.Places) != len(b.Places) || len(a.Transitions) != len(b.Transitions) {
		return []string{"nets of different size"}
	}
	for i := range a.Places {
		if math.Abs(a.Places[i].Oldest-b.Places[i].Oldest) < 1 {
			b.Places[i].Oldest = a.Places[i].Oldest
		}
		if !reflect.DeepEqual(a.Places[i], b.Places[i]) {
			faults = append(faults, fmt.Sprintf("flat %+v, root %+v", a.Places[i], b.Places[i]))
		}
	}
	for i := range a.Transitions {
		if a.Transitions[i] != b.Transitions[i] {
			faults = append(faults, fmt.Sprintf("flat %+v, root %+v", a.Transitions[i], b.Transitions[i]))
		}
	}
	if a.Instances != b.Instances || !reflect.DeepEqual(a.Blocks, b.Blocks) {
		faults = append(faults, fmt.Sprintf("flat %+v %+v, root %+v %+v", a.Instances, a.Blocks, b.Instances, b.Blocks))
	}
	return faults
}
