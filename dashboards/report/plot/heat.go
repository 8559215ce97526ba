// SPDX-License-Identifier: Apache-2.0

package plot

import (
	"fmt"
	"math"
	"time"
	"unicode/utf8"
)

// heatClasses is the number of colours of heat; h0 is the coldest.
const heatClasses = 9

// Heat draws a row of cells for each series, the first at the bottom. Colours
// are proportional to the root of the value, so that small values are visible. Zero is
// blank; a time at which no row has a value is hatched.
func (f Frame) Heat(rows []Series) []byte {
	c := f.canvas("plot heat")
	top, any := hottest(rows)
	high := float64(f.Height - above - below)
	if n := len(rows); n > 0 {
		high /= float64(n)
	}
	c.timeAxis()
	c.holes(rows)
	every := max(1, int(math.Ceil(13/max(high, 1)))) // rows of which there is room for the name
	for i, row := range rows {
		y := float64(f.Height-below) - float64(i+1)*high
		if i%every == 0 {
			fmt.Fprintf(c, `<text class="end" x="%d" y="%s">%s</text>`, left-6, px(y+high/2+4), escape(short(row.Name, 11)))
		}
		c.cells(row, top, y, high)
	}
	if !any {
		c.nothing()
	}
	return c.end()
}

func hottest(rows []Series) (top float64, any bool) {
	for _, row := range rows {
		for _, p := range row.Points {
			if p.drawn() {
				top, any = max(top, p.Value), true
			}
		}
	}
	return top, any
}

// heated returns the class of a value, -1 for none, with the hottest of a
// picture.
func heated(v, top float64) int {
	if !(v > 0) || math.IsInf(v, 0) || !(top > 0) {
		return -1
	}
	return min(int(math.Sqrt(v/top)*heatClasses), heatClasses-1)
}

// cells draws a row; neighbours of one colour are one cell.
func (c *canvas) cells(row Series, top, y, high float64) {
	for i := 0; i < len(row.Points); {
		class, from := heated(row.Points[i].Value, top), i
		low, most := row.Points[i].Value, row.Points[i].Value
		for i++; i < len(row.Points) && heated(row.Points[i].Value, top) == class && !c.f.gap(row.Points[i-1], row.Points[i]); i++ {
			low, most = min(low, row.Points[i].Value), max(most, row.Points[i].Value)
		}
		if class < 0 {
			continue
		}
		a, b := row.Points[from].At, row.Points[i-1].At
		says := Format("short", low)
		if most > low {
			says += " to " + Format("short", most)
		}
		// A value holds for the step before it.
		x := c.f.x(a.Add(-c.f.Step))
		fmt.Fprintf(c, `<rect class="h%d" x="%s" y="%s" width="%s" height="%s"><title>%s</title></rect>`,
			class, px(x), px(y+0.5), px(max(c.f.x(b)-x, 1)), px(high-1),
			escape(Clock(a, c.f.From)+" – "+Clock(b, c.f.From)+"\n"+row.Name+": "+says))
	}
}

// holes hatches the times at which no row has a value.
func (c *canvas) holes(rows []Series) {
	if c.f.Step <= 0 {
		return
	}
	known := map[int64]bool{}
	for _, row := range rows {
		for _, p := range row.Points {
			if p.drawn() {
				known[int64((p.At.Sub(c.f.From)+c.f.Step/2)/c.f.Step)] = true
			}
		}
	}
	steps := int64(c.f.To.Sub(c.f.From) / c.f.Step)
	if len(known) == 0 || steps > 1<<16 {
		return
	}
	for i := int64(0); i <= steps; {
		from := i
		for ; i <= steps && !known[i]; i++ {
		}
		if i > from {
			a, b := c.f.x(c.f.From.Add(c.f.Step*time.Duration(from-1))), c.f.x(c.f.From.Add(c.f.Step*time.Duration(i-1)))
			fmt.Fprintf(c, `<rect class="hole" x="%s" y="%d" width="%s" height="%d"><title>nothing is known</title></rect>`,
				px(a), above, px(b-a), c.f.Height-above-below)
		}
		i++
	}
}

// Scale draws the colours of a heatmap with the least and the most that they
// stand for.
func Scale(rows []Series) []byte {
	top, _ := hottest(rows)
	f := Frame{Width: 260, Height: 16, Title: "Colours from few to many"}
	c := f.canvas("scale")
	fmt.Fprintf(c, `<text class="end" x="50" y="12">few</text>`)
	for i := range heatClasses {
		fmt.Fprintf(c, `<rect class="h%d" x="%d" y="2" width="14" height="12"/>`, i, 56+i*14)
	}
	fmt.Fprintf(c, `<text x="%d" y="12">%s</text>`, 62+heatClasses*14, escape(Format("short", top)))
	return c.end()
}

// Stretch is a time from From to To on a lane.
type Stretch struct {
	From, To time.Time
	Says     string
}

// Lane is a row of stretches.
type Lane struct {
	Name  string
	Class string // as Class makes it
	When  []Stretch
}

// What a lane takes: its height with the space to the next, and its name.
const (
	laneHeight = 20
	laneInset  = 290
	laneName   = 56 // runes
)

// Lanes draws a row for each lane, the first on top, as high as they need.
func (f Frame) Lanes(lanes []Lane) []byte {
	f.Height, f.inset = above+below+laneHeight*max(len(lanes), 1), min(laneInset, f.Width/2)
	c := f.canvas("plot")
	c.timeAxis()
	for i, lane := range lanes {
		y := above + i*laneHeight
		for _, s := range lane.When {
			x := f.x(s.From)
			fmt.Fprintf(c, `<rect class="lane %s" x="%s" y="%d" width="%s" height="%d"><title>%s</title></rect>`,
				lane.Class, px(x), y+1, px(max(f.x(s.To)-x, 2)), laneHeight-3, escape(lane.Name+"\n"+s.Says))
		}
		fmt.Fprintf(c, `<text class="end" x="%d" y="%d">%s</text>`, left+f.inset-6, y+14, escape(short(lane.Name, laneName)))
	}
	return c.end()
}

// short cuts a name to some runes.
func short(s string, runes int) string {
	if utf8.RuneCountInString(s) <= runes {
		return s
	}
	return string([]rune(s)[:runes-1]) + "…"
}
