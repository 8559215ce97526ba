// SPDX-License-Identifier: Apache-2.0

package plot

import (
	"bytes"
	"encoding/xml"
	"errors"
	"flag"
	"fmt"
	"io"
	"math"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
)

var update = flag.Bool("update", false, "write the pictures in testdata")

var begin = time.Date(2026, 3, 2, 8, 0, 0, 0, time.UTC)

// line is a series with a value a minute.
func line(name string, values ...float64) Series {
	s := Series{Name: name}
	for i, v := range values {
		s.Points = append(s.Points, Point{begin.Add(time.Duration(i) * time.Minute), v})
	}
	return s
}

func frame(unit string) Frame {
	return Frame{Width: 400, Height: 160, From: begin, To: begin.Add(10 * time.Minute), Step: time.Minute, Unit: unit, Title: "a test"}
}

// without leaves out the points between two minutes.
func without(s Series, from, to int) Series {
	var kept []Point
	for i, p := range s.Points {
		if i < from || i >= to {
			kept = append(kept, p)
		}
	}
	return Series{s.Name, kept}
}

var nan, inf = math.NaN(), math.Inf(1)

// The pictures in testdata are what these make. Look at them after a change.
func TestPicturesAreAsBefore(t *testing.T) {
	rising := line("rising", 0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10)
	berlin, err := time.LoadLocation("Europe/Berlin")
	if err != nil {
		t.Skipf("no time zones here: %v", err)
	}
	spring := Frame{Width: 600, Height: 160, From: time.Date(2026, 3, 28, 12, 0, 0, 0, berlin), To: time.Date(2026, 3, 29, 20, 0, 0, 0, berlin), Step: time.Hour, Unit: "ops"}
	days := Series{Name: "days"}
	for i := range 32 {
		days.Points = append(days.Points, Point{spring.From.Add(time.Duration(i) * time.Hour), float64(i % 7)})
	}
	for name, picture := range map[string][]byte{
		"two lines":                        frame("s").Lines([]Series{rising, line("level", 5, 5, 5, 5, 5, 5)}, Look{Levels: []float64{7, 100}}),
		"a gap is a gap":                   frame("s").Lines([]Series{without(rising, 3, 6)}, Look{}),
		"one point is a dot":               frame("ops").Lines([]Series{line("once", 3)}, Look{}),
		"a constant":                       frame("short").Lines([]Series{line("four", 4, 4, 4, 4)}, Look{}),
		"zero throughout":                  frame("ops").Lines([]Series{line("none", 0, 0, 0, 0)}, Look{}),
		"huge values":                      frame("short").Lines([]Series{line("huge", 1e100, 9e99, math.MaxFloat64, -1e100)}, Look{}),
		"tiny values":                      frame("s").Lines([]Series{line("tiny", 1e-9, 3e-9, 2e-9)}, Look{}),
		"what is not finite is a gap":      frame("s").Lines([]Series{line("odd", 1, nan, 2, inf, -inf, 3, 4)}, Look{}),
		"negative values":                  frame("ops").Lines([]Series{line("views", -1, -3, 2)}, Look{}),
		"no values":                        frame("s").Lines([]Series{line("nothing", nan, nan)}, Look{}),
		"no series":                        frame("s").Lines(nil, Look{}),
		"stacked shares":                   frame("percentunit").Lines([]Series{line("p1", 0.5, 0.25, 0.75), line("p2", 0.5, 0.75, 0.25)}, Look{Stacked: true}),
		"clocks go forward":                spring.Lines([]Series{days}, Look{}),
		"heat":                             frame("").Heat([]Series{line("< 1s", 9, 4, 1, 0, 0, 0, 0, 0, 0, 0, 0), line("≥ 1s", 0, 5, 8, 9, 9, 9, 0, 0, 100, 100, 100)}),
		"heat with a hole":                 frame("").Heat([]Series{without(line("row", 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11), 4, 8)}),
		"heat without a value":             frame("").Heat([]Series{line("row", nan, nan), line("other")}),
		"lanes":                            frame("").Lanes([]Lane{{"stuck <here>", "over-now", []Stretch{{begin, begin.Add(time.Minute), "a minute"}, {begin.Add(5 * time.Minute), begin.Add(time.Hour), "long"}}}}),
		"a sparkline with a gap":           Frame{Width: 100, Height: 20, From: begin, To: begin.Add(10 * time.Minute), Step: time.Minute}.Spark(without(rising, 4, 7)),
		"a sparkline of nothing":           Frame{Width: 100, Height: 20, From: begin, To: begin}.Spark(Series{}),
		"colours of heat":                  Scale([]Series{line("row", 1, 2500)}),
		"an empty span":                    Frame{Width: 400, Height: 160, From: begin, To: begin, Unit: "s"}.Lines([]Series{line("one", 1)}, Look{}),
		"the ninth series is dashed":       frame("s").Lines([]Series{line("1", 1, 1), line("2", 2, 2), line("3", 3, 3), line("4", 4, 4), line("5", 5, 5), line("6", 6, 6), line("7", 7, 7), line("8", 8, 8), line("9", 9, 9)}, Look{}),
		"names are text and nothing else":  frame("s").Lines([]Series{line(`"><script>alert('&')</script>`, 1, 2)}, Look{}),
		"points that are outside are kept": frame("s").Lines([]Series{{"wide", []Point{{begin.Add(-time.Hour), 1}, {begin.Add(time.Hour), 2}}}}, Look{}),
	} {
		if err := wellFormed(picture); err != nil {
			t.Errorf("%s: %v", name, err)
		}
		path := filepath.Join("testdata", strings.ReplaceAll(name, " ", "-")+".svg")
		text := strings.ReplaceAll(string(picture), "><", ">\n<") + "\n"
		if *update {
			if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
				t.Fatal(err)
			}
		}
		was, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		if d := cmp.Diff(string(was), text); d != "" {
			t.Errorf("%s:\n%s", name, d)
		}
	}
}

// wellFormed reads all of a picture as XML, and looks for what is no number.
func wellFormed(picture []byte) error {
	if bytes.Contains(picture, []byte("NaN")) || bytes.Contains(picture, []byte("Inf")) {
		return fmt.Errorf("a place on it is no number: %s", picture)
	}
	for d := xml.NewDecoder(bytes.NewReader(picture)); ; {
		token, err := d.Token()
		if errors.Is(err, io.EOF) {
			return nil
		}
		if err != nil {
			return err
		}
		if e, ok := token.(xml.StartElement); ok && e.Name.Local == "script" {
			return errors.New("there is a script in it")
		}
	}
}

func TestValuesAreSaidInTheirUnits(t *testing.T) {
	for _, rule := range []struct {
		unit string
		v    float64
		want string
	}{
		{"s", 0, "0 s"}, {"s", 0.00000042, "0.42 µs"}, {"s", 0.0125, "12.5 ms"}, {"s", 0.99999, "1 s"}, {"s", 59.99, "1 min"}, {"s", 12.34, "12.3 s"},
		{"s", 90, "1 min 30 s"}, {"s", 3599.9, "1 h"}, {"s", 3661, "1 h 1 min"}, {"s", 86400 * 2.5, "2 d 12 h"}, {"s", -90, "-1 min 30 s"}, {"s", 1e10, "115741 d"},
		{"ops", 0, "0/s"}, {"ops", 1234, "1.23k/s"}, {"ops", 0.0456, "0.0456/s"}, {"reqps", 7, "7/s"},
		{"percentunit", 0.123, "12.3 %"}, {"bytes", 1536, "1.5 KiB"}, {"Bps", 1.5e6, "1.5 MB/s"}, {"short", 999.6, "1k"}, {"short", 12, "12"}, {"", 1e20, "1e+08T"},
		{"short", math.NaN(), "–"}, {"s", math.Inf(1), "–"}, {"other", 3, "3"},
	} {
		if got := Format(rule.unit, rule.v); got != rule.want {
			t.Errorf("%v %s is %q, want %q", rule.v, rule.unit, got, rule.want)
		}
	}
	for v, want := range map[float64]string{4: "4 s", 65536: "18 h", 1024: "17 min", 512: "8.5 min", 64: "1.1 min", 1 << 20: "12 d", -1: "-1 s"} {
		if got := Brief(v); got != want {
			t.Errorf("%v is %q, want %q", v, got, want)
		}
	}
}

func TestTicksAreTimesThatClocksHave(t *testing.T) {
	berlin, err := time.LoadLocation("Europe/Berlin")
	if err != nil {
		t.Skipf("no time zones here: %v", err)
	}
	at := func(text string) time.Time {
		tm, err := time.ParseInLocation("2006-01-02 15:04", text, berlin)
		if err != nil {
			t.Fatal(err)
		}
		return tm
	}
	for name, rule := range map[string]struct {
		from, to time.Time
		want     string
	}{
		"an hour":                           {at("2026-03-02 07:50"), at("2026-03-02 08:50"), "Mon 2 Mar 07:50|08:00|08:10|08:20|08:30|08:40|08:50"},
		"over midnight":                     {at("2026-03-02 21:00"), at("2026-03-03 03:00"), "Mon 2 Mar 21:00|22:00|23:00|Tue 3 Mar 00:00|01:00|02:00|03:00"},
		"clocks go forward":                 {at("2026-03-28 20:00"), at("2026-03-29 12:00"), "Sat 28 Mar 21:00|Sun 29 Mar 00:00|03:00|06:00|09:00|12:00"},
		"an hour that is not there":         {at("2026-03-29 00:30"), at("2026-03-29 05:30"), "Sun 29 Mar 01:00|03:00|04:00|05:00"},
		"clocks go back":                    {at("2026-10-24 20:00"), at("2026-10-25 12:00"), "Sat 24 Oct 21:00|Sun 25 Oct 00:00|03:00|06:00|09:00|12:00"},
		"an hour that is there twice":       {at("2026-10-25 00:30"), at("2026-10-25 05:30"), "Sun 25 Oct 01:00|02:00|02:00|03:00|04:00|05:00"},
		"a week":                            {at("2026-03-24 08:00"), at("2026-03-31 08:00"), "Thu 26 Mar 00:00|Sat 28 Mar 00:00|Mon 30 Mar 00:00"},
		"a year of the same days of months": {at("2025-03-24 08:00"), at("2026-03-24 08:00"), "Mon 16 Jun 00:00|Mon 8 Sep 00:00|Mon 1 Dec 00:00|Mon 23 Feb 00:00"},
	} {
		var got []string
		for _, tick := range timeTicks(rule.from, rule.to, 6) {
			got = append(got, strings.TrimSpace(tick.date+" "+tick.label))
		}
		if d := cmp.Diff(rule.want, strings.Join(got, "|")); d != "" {
			t.Errorf("%s: %s", name, d)
		}
	}
}

func TestAxesAreOfFewRoundValues(t *testing.T) {
	for _, rule := range []struct {
		unit string
		s    span
		want string
	}{
		{"short", span{0, 10}, "[0 2 4 6 8 10]"}, {"short", span{0, 0}, "[0 0.2 0.4 0.6000000000000001 0.8 1]"},
		{"s", span{0, 200}, "[0 60 120 180 240]"}, {"s", span{0, 5000}, "[0 1800 3600 5400]"}, {"s", span{0, 200000}, "[0 43200 86400 129600 172800 216000]"},
		{"bytes", span{0, 5000}, "[0 1024 2048 3072 4096 5120]"}, {"short", span{-3, 2}, "[-3 -2 -1 0 1 2]"},
	} {
		ticks, _ := valueTicks(rule.unit, rule.s, 5)
		if got := fmt.Sprint(ticks); got != rule.want {
			t.Errorf("%s %v: %s, want %s", rule.unit, rule.s, got, rule.want)
		}
	}
}

// Whatever is drawn, the picture can be read and is bounded.
func FuzzPictures(f *testing.F) {
	f.Add(1.0, 2.0, -3.0, int64(60), int64(3600), "a name", "s")
	f.Add(math.MaxFloat64, -math.MaxFloat64, math.NaN(), int64(1), int64(1), "<b>", "bytes")
	f.Add(5e-324, 0.0, math.Inf(1), int64(0), int64(-5), "", "percentunit")
	f.Fuzz(func(t *testing.T, a, b, c float64, step, length int64, name, unit string) {
		step, length = step%(1<<31), length%(1<<31)
		from := begin
		fr := Frame{Width: 300, Height: 120, From: from, To: from.Add(time.Duration(length) * time.Second), Step: time.Duration(step) * time.Second, Unit: unit, Title: name}
		s := Series{name, []Point{{from, a}, {from.Add(fr.Step), b}, {from.Add(2 * fr.Step), c}}}
		for _, picture := range [][]byte{fr.Lines([]Series{s, s}, Look{}), fr.Lines([]Series{s, s}, Look{Stacked: true}), fr.Heat([]Series{s}), fr.Spark(s), Scale([]Series{s}),
			fr.Lanes([]Lane{{name, "c0", []Stretch{{from, from.Add(fr.Step), unit}}}})} {
			if len(picture) > 1<<17+100*len(name) {
				t.Errorf("%d bytes of picture", len(picture))
			}
			// Characters that XML has not are the page's matter.
			clean := strings.Map(func(c rune) rune {
				if c < ' ' && c != '\n' || c == 0xfffe || c == 0xffff || c == 0xfffd {
					return -1
				}
				return c
			}, string(picture))
			if err := wellFormed([]byte(strings.ReplaceAll(strings.ReplaceAll(clean, "NaN", ""), "Inf", ""))); err != nil {
				t.Errorf("%v in %s", err, clean)
			}
			if !strings.Contains(name+unit, "N") && !strings.Contains(name+unit, "I") && (strings.Contains(clean, "NaN") || strings.Contains(clean, "Inf")) {
				t.Errorf("a place is no number: %s", clean)
			}
		}
	})
}
