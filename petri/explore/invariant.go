// SPDX-License-Identifier: Apache-2.0

package explore

import (
	"math/big"

	"github.com/pnagent/pnagent/petri"
)

// Invariant is a weighted sum of tokens that no firing changes.
type Invariant struct {
	Weights []int64 // by place; 0 for a place that is not in the sum
	Sum     int64   // at the initial marking, and so always
}

// MaxInvariantNodes bounds the places, and the transitions with the arcs of inclusive
// gateways, of a net of Invariants: the work grows with their cube.
const MaxInvariantNodes = 200

// Invariants returns a basis of the net's P-invariants: every weighted sum of
// tokens that no firing changes is a combination of them (T. Murata, Petri
// Nets: Properties, Analysis and Applications, Proc. IEEE 77(4), 1989). A place
// that a reset arc empties is in none. For an inclusive gateway, every firing that its
// arcs allow counts, so that an invariant holds for any data and any marking. ok is
// false if the net or its weights are too large.
func Invariants(t *petri.Tables) (basis []Invariant, ok bool) {
	if max(t.Places(), t.Transitions()) > MaxInvariantNodes {
		return nil, false
	}
	changes := changes(t)
	if len(changes) > MaxInvariantNodes {
		return nil, false
	}
	rows := incidence(t, changes)
	rank := eliminate(rows, len(changes))
	for _, r := range rows[rank:] {
		inv, fits := r.invariant(t)
		if !fits {
			return nil, false
		}
		basis = append(basis, inv)
	}
	return basis, true
}

// row is one combination of places: what each change does to it, and the
// weights of the places in it.
type row struct{ change, weights []*big.Int }

// incidence returns a row for each place that can be in an invariant.
func incidence(t *petri.Tables, changes []change) []row {
	emptied := make([]bool, t.Places())
	for tr := range t.Transitions() {
		for _, e := range t.Effects(tr) {
			emptied[e.Place] = emptied[e.Place] || e.Reset
		}
	}
	var rows []row
	for p := range emptied {
		if emptied[p] {
			continue
		}
		r := row{zeros(len(changes)), zeros(t.Places())}
		for i, c := range changes {
			r.change[i].SetInt64(c[int32(p)])
		}
		r.weights[p].SetInt64(1)
		rows = append(rows, r)
	}
	return rows
}

func zeros(n int) []*big.Int {
	out := make([]*big.Int, n)
	for i := range out {
		out[i] = new(big.Int)
	}
	return out
}

// eliminate brings the rows to echelon form in integers and returns how many of them
// are not zero.
func eliminate(rows []row, columns int) (rank int) {
	for c := 0; c < columns && rank < len(rows); c++ {
		pivot := rank
		for pivot < len(rows) && rows[pivot].change[c].Sign() == 0 {
			pivot++
		}
		if pivot == len(rows) {
			continue
		}
		rows[rank], rows[pivot] = rows[pivot], rows[rank]
		for i := rank + 1; i < len(rows); i++ {
			if rows[i].change[c].Sign() != 0 {
				rows[i].subtract(rows[rank], c)
			}
		}
		rank++
	}
	return rank
}

// subtract subtracts a multiple of p from r so that r's column is 0, and divides r by
// its greatest common divisor.
func (r row) subtract(p row, column int) {
	a, b := new(big.Int).Set(p.change[column]), new(big.Int).Set(r.change[column])
	common := new(big.Int)
	var scaled big.Int
	for _, pair := range [2][2][]*big.Int{{r.change, p.change}, {r.weights, p.weights}} {
		for i, x := range pair[0] {
			x.Sub(x.Mul(x, a), scaled.Mul(pair[1][i], b))
			common.GCD(nil, nil, common, scaled.Abs(x))
		}
	}
	if common.Cmp(big.NewInt(1)) <= 0 {
		return
	}
	for _, list := range [2][]*big.Int{r.change, r.weights} {
		for _, x := range list {
			x.Quo(x, common)
		}
	}
}

// invariant returns the row's weights, the first of them positive.
func (r row) invariant(t *petri.Tables) (inv Invariant, fits bool) {
	inv.Weights = make([]int64, t.Places())
	sign, sum := 0, new(big.Int)
	for p, w := range r.weights {
		if sign == 0 {
			sign = w.Sign()
		}
		w = new(big.Int).Mul(w, big.NewInt(int64(sign)))
		sum.Add(sum, new(big.Int).Mul(w, big.NewInt(int64(t.Initial[p]))))
		if !w.IsInt64() {
			return inv, false
		}
		inv.Weights[p] = w.Int64()
	}
	inv.Sum = sum.Int64()
	return inv, sum.IsInt64()
}
