// SPDX-License-Identifier: Apache-2.0

package simulate

import (
	"encoding/json"
	"math"
)

// Estimate is the mean of a figure over independent runs, and the interval that holds the
// expected value with the confidence of the study. Low and High are NaN, and null as JSON, if
// fewer than two runs had a value; so is Mean if none had.
type Estimate struct {
	Mean, Low, High float64
	Runs            int // that had a value
}

// Half returns half the length of the interval.
func (e Estimate) Half() float64 { return (e.High - e.Low) / 2 }

// within returns the estimate of a figure whose values are known within a share of them: its
// interval is that much wider on both sides.
func (e Estimate) within(share float64) Estimate {
	e.Low, e.High = e.Low*(1-share), e.High*(1+share)
	return e
}

// MarshalJSON writes null for what is unknown.
func (e Estimate) MarshalJSON() ([]byte, error) {
	known := func(v float64) *float64 {
		if math.IsNaN(v) || math.IsInf(v, 0) {
			return nil
		}
		return &v
	}
	return json.Marshal(struct {
		Mean *float64 `json:"mean"`
		Low  *float64 `json:"low"`
		High *float64 `json:"high"`
		Runs int      `json:"runs"`
	}{known(e.Mean), known(e.Low), known(e.High), e.Runs})
}

// moments are the sums of a figure over runs, by Welford's method.
type moments struct {
	n        int
	mean, m2 float64
}

// add adds the value of a run; NaN is no value.
func (m *moments) add(v float64) {
	if math.IsNaN(v) {
		return
	}
	m.n++
	d := v - m.mean
	m.mean += d / float64(m.n)
	m.m2 += d * (v - m.mean)
}

func (m *moments) estimate(confidence float64) Estimate {
	nan := math.NaN()
	switch m.n {
	case 0:
		return Estimate{Mean: nan, Low: nan, High: nan}
	case 1:
		return Estimate{Mean: m.mean, Low: nan, High: nan, Runs: 1}
	}
	half := studentT((1+confidence)/2, m.n-1) * math.Sqrt(m.m2/float64(m.n-1)/float64(m.n))
	return Estimate{m.mean, m.mean - half, m.mean + half, m.n}
}

// studentT returns the quantile q, 0.5 or more, of Student's t distribution.
func studentT(q float64, freedom int) float64 {
	below, above := 0.0, 1.0
	for studentBelow(above, freedom) < q && above < 1e9 {
		above *= 2
	}
	for range 100 {
		middle := (below + above) / 2
		if studentBelow(middle, freedom) < q {
			below = middle
		} else {
			above = middle
		}
	}
	return above
}

// studentBelow returns the probability of a value of at most t, for t of 0 or more.
func studentBelow(t float64, freedom int) float64 {
	n := float64(freedom)
	return 1 - betaRegularised(n/2, 0.5, n/(n+t*t))/2
}

// betaRegularised is the regularised incomplete beta function I_x(a, b), by its continued fraction
// (Abramowitz and Stegun 26.5.8), evaluated by the method of Lentz.
func betaRegularised(a, b, x float64) float64 {
	if x <= 0 || x >= 1 {
		return max(0, min(x, 1))
	}
	if x > (a+1)/(a+b+2) {
		return 1 - betaRegularised(b, a, 1-x)
	}
	la, _ := math.Lgamma(a)
	lb, _ := math.Lgamma(b)
	lab, _ := math.Lgamma(a + b)
	front := math.Exp(lab-la-lb+a*math.Log(x)+b*math.Log1p(-x)) / a
	f, c, d := 1.0, 1.0, 0.0
	for i := range 500 {
		m := float64(i / 2)
		var step float64
		switch {
		case i == 0:
			step = 1
		case i%2 == 0:
			step = m * (b - m) * x / ((a + 2*m - 1) * (a + 2*m))
		default:
			step = -(a + m) * (a + b + m) * x / ((a + 2*m) * (a + 2*m + 1))
		}
		d = 1 / away(1+step*d)
		c = away(1 + step/c)
		f *= c * d
		if math.Abs(1-c*d) < 1e-14 {
			break
		}
	}
	return front * (f - 1)
}

// away keeps a divisor away from 0.
func away(v float64) float64 {
	const tiny = 1e-300
	if math.Abs(v) < tiny {
		return tiny
	}
	return v
}
