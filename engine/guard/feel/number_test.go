// SPDX-License-Identifier: Apache-2.0

package feel

import (
	"fmt"
	"math/big"
	"math/rand/v2"
	"testing"

	"github.com/woodsbury/decimal128"
)

// ofDigits returns a number of 34 digits: the nearest to a positive one, of two the even one.
func ofDigits(x *big.Rat) *big.Rat {
	unit, ten := big.NewRat(1, 1), big.NewRat(10, 1)
	least := new(big.Rat).SetInt(new(big.Int).Exp(big.NewInt(10), big.NewInt(digits-1), nil))
	for new(big.Rat).Quo(x, unit).Cmp(least) < 0 {
		unit.Quo(unit, ten)
	}
	for new(big.Rat).Quo(x, unit).Cmp(new(big.Rat).Mul(least, ten)) >= 0 {
		unit.Mul(unit, ten)
	}
	of := new(big.Rat).Quo(x, unit)
	n, rest := new(big.Int).QuoRem(of.Num(), of.Denom(), new(big.Int))
	if c := rest.Lsh(rest, 1).Cmp(of.Denom()); c > 0 || c == 0 && n.Bit(0) == 1 {
		n.Add(n, big.NewInt(1))
	}
	return new(big.Rat).Mul(new(big.Rat).SetInt(n), unit)
}

// IEEE 754 section 4.3.1: the result is the nearest to the exact one, which needs a digit of the
// library that the number does not have.
func TestTheFourOperationsRoundOnce(t *testing.T) {
	t.Parallel()
	r := rand.New(rand.NewPCG(1, 2))
	for range 3_000 {
		var text [2]string
		for i := range text {
			n := r.Uint64()
			text[i] = fmt.Sprintf("%d%06de%d", n>>r.IntN(64)+1, r.IntN(1e6), r.IntN(24)-18)
		}
		x, y := parseNumber(text[0]).(decimal128.Decimal), parseNumber(text[1]).(decimal128.Decimal)
		p, _ := new(big.Rat).SetString(text[0])
		q, _ := new(big.Rat).SetString(text[1])
		for name, c := range map[string]struct {
			got  any
			want *big.Rat
		}{
			"+": {compute(decimal128.Decimal.AddWithMode, x, y), new(big.Rat).Add(p, q)},
			"*": {compute(decimal128.Decimal.MulWithMode, x, y), new(big.Rat).Mul(p, q)},
			"/": {compute(decimal128.Decimal.QuoWithMode, x, y), new(big.Rat).Quo(p, q)},
		} {
			want := ofDigits(c.want)
			if got, _ := new(big.Rat).SetString(Digits(c.got.(decimal128.Decimal))); got.Cmp(want) != 0 {
				t.Fatalf("%s %s %s is %s; want %s", text[0], name, text[1], got.FloatString(60), want.FloatString(60))
			}
		}
	}
}
