// SPDX-License-Identifier: Apache-2.0

package plot

import (
	"fmt"
	"math"
	"strings"
	"time"
)

// Look is how lines are drawn.
type Look struct {
	Stacked bool      // on top of each other, as areas
	Levels  []float64 // dashed lines across, where they are in the picture
}

// Class is the CSS class of the i-th series: eight colours, then the same
// dashed.
func Class(i int) string {
	if i >= 8 {
		return fmt.Sprintf("c%d dashed", i%8)
	}
	return fmt.Sprintf("c%d", i)
}

// Lines draws a line a series. Zero is always on the axis.
func (f Frame) Lines(series []Series, look Look) []byte {
	c := f.canvas("plot")
	var floor map[time.Time]float64
	if look.Stacked {
		floor = map[time.Time]float64{}
		series = stack(series)
	}
	s, any := extent(series)
	c.valueAxis(s)
	c.timeAxis()
	for _, level := range look.Levels {
		if level > c.y.low && level < c.y.high {
			fmt.Fprintf(c, `<path class="level" d="M%d %sH%d"/>`, left, px(c.at(level)), f.Width-right)
		}
	}
	for i, one := range series {
		if look.Stacked {
			c.area(one, floor, Class(i))
		}
		c.line(one, "line "+Class(i))
	}
	if !any {
		c.nothing()
	}
	c.says(series)
	return c.end()
}

// extent is the interval that all values and zero are in.
func extent(series []Series) (s span, any bool) {
	for _, one := range series {
		for _, p := range one.Points {
			if p.drawn() {
				s.low, s.high, any = min(s.low, p.Value), max(s.high, p.Value), true
			}
		}
	}
	return s, any
}

// stack puts each series on the one before.
func stack(series []Series) []Series {
	sum := map[time.Time]float64{}
	out := make([]Series, len(series))
	for i, one := range series {
		out[i].Name = one.Name
		for _, p := range one.Points {
			if p.drawn() {
				sum[p.At] += p.Value
				out[i].Points = append(out[i].Points, Point{p.At, sum[p.At]})
			}
		}
	}
	return out
}

// runs are the points between gaps.
func (f Frame) runs(points []Point) [][]Point {
	var all [][]Point
	for _, p := range points {
		if !p.drawn() {
			continue
		}
		if n := len(all); n > 0 && !f.gap(all[n-1][len(all[n-1])-1], p) {
			all[n-1] = append(all[n-1], p)
			continue
		}
		all = append(all, []Point{p})
	}
	return all
}

// line draws a series; a point without neighbours is a dot.
func (c *canvas) line(s Series, class string) {
	var path strings.Builder
	for _, run := range c.f.runs(s.Points) {
		if len(run) == 1 {
			fmt.Fprintf(c, `<circle class="dot %s" cx="%s" cy="%s" r="2"/>`, class, px(c.f.x(run[0].At)), px(c.at(run[0].Value)))
			continue
		}
		c.draw(&path, 'M', run)
	}
	if path.Len() > 0 {
		fmt.Fprintf(c, `<path class="%s" d="%s"/>`, class, path.String())
	}
}

// draw appends a run to a path. Points in the middle of a level stretch are
// left out.
func (c *canvas) draw(path *strings.Builder, verb byte, run []Point) {
	for i, p := range run {
		if i > 0 && i+1 < len(run) && run[i-1].Value == p.Value && run[i+1].Value == p.Value {
			continue
		}
		path.WriteByte(verb)
		path.WriteString(px(c.f.x(p.At)) + " " + px(c.at(p.Value)))
		verb = 'L'
	}
}

// area fills what is between a series and the one below, which it then is.
func (c *canvas) area(s Series, floor map[time.Time]float64, class string) {
	for _, run := range c.f.runs(s.Points) {
		var path strings.Builder
		c.draw(&path, 'M', run)
		bottom := make([]Point, 0, len(run))
		for i := len(run) - 1; i >= 0; i-- {
			bottom = append(bottom, Point{run[i].At, floor[run[i].At]})
		}
		c.draw(&path, 'L', bottom)
		fmt.Fprintf(c, `<path class="area %s" d="%sZ"/>`, class, path.String())
		for _, p := range run {
			floor[p.At] = p.Value
		}
	}
}

// bands is how many stretches of a picture say their values when pointed at.
const bands = 40

// says puts stretches over the picture that say what the values there are.
func (c *canvas) says(series []Series) {
	length := c.f.To.Sub(c.f.From)
	if length <= 0 || len(series) == 0 {
		return
	}
	next := make([]int, len(series))
	for b := range bands {
		begin, end := c.f.From.Add(length/bands*time.Duration(b)), c.f.From.Add(length/bands*time.Duration(b+1))
		var text strings.Builder
		for i, one := range series {
			last := math.NaN()
			for next[i] < len(one.Points) && one.Points[next[i]].At.Before(end) {
				if p := one.Points[next[i]]; p.drawn() {
					last = p.Value
				}
				next[i]++
			}
			if !math.IsNaN(last) {
				text.WriteString("\n" + Format(c.f.Unit, last) + "  " + one.Name)
			}
		}
		if text.Len() == 0 {
			continue
		}
		x, width := c.f.x(begin), c.f.x(end)-c.f.x(begin)
		fmt.Fprintf(c, `<rect class="band" x="%s" y="%d" width="%s" height="%d"><title>%s</title></rect>`,
			px(x), above, px(width), c.f.Height-above-below, escape("until "+Clock(end, c.f.From)+text.String()))
	}
}

// Spark draws one series small, without axes. Zero is its bottom.
func (f Frame) Spark(s Series) []byte {
	c := f.canvas("spark")
	extent, any := extent([]Series{s})
	if !any {
		return c.end()
	}
	if extent.high-extent.low < 1/most {
		extent = span{0, 1}
	}
	high := float64(f.Height - 4)
	length := float64(max(f.To.Sub(f.From), 1))
	at := func(p Point) string {
		x := min(max(float64(p.At.Sub(f.From))/length, 0), 1) * float64(f.Width)
		y := 2 + high*(1-(p.Value-extent.low)/(extent.high-extent.low))
		return px(x) + " " + px(y)
	}
	for _, run := range f.runs(s.Points) {
		var path strings.Builder
		verb := "M"
		for _, p := range run {
			path.WriteString(verb + at(p))
			verb = "L"
		}
		if len(run) == 1 {
			path.WriteString("h2")
		}
		fmt.Fprintf(c, `<path class="line c0" d="%s"/>`, path.String())
	}
	return c.end()
}
