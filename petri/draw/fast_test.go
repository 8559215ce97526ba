// SPDX-License-Identifier: Apache-2.0

package draw

import (
	"fmt"
	"math"
	"math/rand/v2"
	"reflect"
	"slices"
	"testing"

	"github.com/pnagent/pnagent/petri"
	"github.com/pnagent/pnagent/petri/petritest"
)

// fastNets are nets on which what is fast is compared with what is slow and obvious.
func fastNets() (nets []*petri.Net) {
	for seed := range uint64(60) {
		n := petritest.RandomNet(rand.New(rand.NewPCG(seed, 7)))
		n.ID = fmt.Sprintf("net of seed %d", seed)
		nets = append(nets, n)
	}
	return append(append(nets, largeNets(120)...), clique(12), big(80, 200))
}

// swapSlowly is swapNeighbours with a look at every two neighbours in every round, whose
// links are compared with each other.
func swapSlowly(l *layout) {
	for range swapRounds {
		for _, column := range l.columns {
			for r := range len(column) - 1 {
				v, w := column[r], column[r+1]
				now, then := 0, 0
				for _, links := range [2][][]link{l.in, l.out} {
					for _, p := range links[v] {
						for _, q := range links[w] {
							now += isTrue(l.row[p.to] > l.row[q.to])
							then += isTrue(l.row[p.to] < l.row[q.to])
						}
					}
				}
				if then < now {
					column[r], column[r+1] = w, v
					l.row[w], l.row[v] = r, r+1
				}
			}
		}
	}
}

func isTrue(b bool) int {
	if b {
		return 1
	}
	return 0
}

func TestSwapsAreThoseOfALookAtEveryTwoNeighbours(t *testing.T) {
	for _, n := range fastNets() {
		fast := laidOut(n, (*layout).breakCycles, (*layout).divide, (*layout).firstOrder, (*layout).swapNeighbours)
		for i, slow := range laidOut(n, (*layout).breakCycles, (*layout).divide, (*layout).firstOrder, swapSlowly) {
			if !reflect.DeepEqual(fast[i].columns, slow.columns) {
				t.Fatalf("%s: the columns are %v; expected %v", n.ID, fast[i].columns, slow.columns)
			}
		}
	}
}

// compactSlowly moves blocks down one by one until none is too near to one above it, and
// then until none can move further towards those below it.
func compactSlowly(a *alignment) []float64 {
	at := make([]float64, len(a.root))
	eachTwo := func(do func(upper, lower int, least float64)) {
		for _, column := range a.l.columns {
			for r := range len(column) - 1 {
				v, w := column[r], column[r+1]
				_, below := a.l.extent(v)
				above, _ := a.l.extent(w)
				if a.upwards {
					v, w = w, v
				}
				do(a.root[v], a.root[w], below+above)
			}
		}
	}
	for moved := true; moved; {
		moved = false
		eachTwo(func(upper, lower int, least float64) {
			moved = moved || at[lower] < at[upper]+least
			at[lower] = max(at[lower], at[upper]+least)
		})
	}
	for moved := true; moved; {
		moved = false
		most := slices.Repeat([]float64{math.Inf(1)}, len(at))
		eachTwo(func(upper, lower int, least float64) { most[upper] = min(most[upper], at[lower]-least) })
		for v, y := range most {
			if !math.IsInf(y, 1) && y > at[v] {
				at[v], moved = y, true
			}
		}
	}
	heights := make([]float64, len(at))
	for v, b := range a.root {
		heights[v] = at[b]
		if a.upwards {
			heights[v] = -at[b]
		}
	}
	return heights
}

func TestHeightsAreThoseOfBlocksThatMoveOneByOne(t *testing.T) {
	for _, n := range fastNets() {
		for _, l := range laidOut(n, (*layout).breakCycles, (*layout).divide, (*layout).firstOrder, (*layout).reorder) {
			l.fold([]int{0})
			crossed, apart := l.crossedByLanes(), l.apart()
			for k := range 4 {
				a := alignment{l: l, fromRight: k >= 2, upwards: k%2 == 1, crossed: crossed, apart: apart}
				a.align()
				slow := compactSlowly(&a)
				for v, y := range a.compact() {
					if math.Abs(y-slow[v]) > 1e-6 {
						t.Fatalf("%s, alignment %d: vertex %d is at %v; expected %v", n.ID, k, v, y, slow[v])
					}
				}
			}
		}
	}
}

// shapedSlowly lays out and orders all that can be tried, and the plain layout in any case.
func shapedSlowly(l *layout, aspect float64, visits int) (size float64) {
	base := l.copyColumns()
	l.divide()
	l.firstOrder()
	trials := base.trials(aspect, visits/len(l.column))
	l.plain()
	least := math.Inf(1)
	for _, try := range trials {
		if !*try.ordered {
			try.l.reorder()
			*try.ordered = true
		}
		for _, rows := range try.ways {
			s := *try.l
			s.fold(try.folded.firsts)
			rows(&s)
			s.assignGaps()
			if got := s.size(aspect); got < try.folded.size-1e-6 {
				return math.NaN() // the estimate is no lower bound
			} else if got < least {
				least = got
			}
		}
	}
	if plain := l.size(aspect); plain/gainLeast <= least {
		return plain
	}
	return least
}

func TestTheShapeIsTheSmallestOfAllThatCanBeTried(t *testing.T) {
	nets := corpusNets(t)
	for _, size := range []int{80, 192, 400} {
		nets = append(nets, largeNets(size)...)
	}
	for _, n := range nets {
		for _, aspect := range []float64{Wide, 0.6} {
			parts := laidOut(n, (*layout).breakCycles)
			for i, slow := range laidOut(n, (*layout).breakCycles) {
				if len(slow.nodes) < shapedFrom {
					continue
				}
				want := shapedSlowly(slow, aspect, shapeVisits)
				if got := parts[i].shaped(aspect, shapeVisits).size(aspect); math.Abs(got-want) > 1e-6 || math.IsNaN(want) {
					t.Errorf("%s, aspect %v: the size is %v; expected %v", n.ID, aspect, got, want)
				}
			}
		}
	}
}
