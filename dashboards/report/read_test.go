// SPDX-License-Identifier: Apache-2.0

package report

import (
	"errors"
	"math"
	"strings"
	"testing"
	"time"

	"github.com/prometheus/common/model"

	"github.com/pnagent/pnagent/dashboards/report/plot"
)

const matrix = `{"status":"success","data":{"resultType":"matrix","result":[
 {"metric":{"net":"a"},"values":[[1772438400.5,"1"],[1772438460.5,"NaN"],[1772438520.5,"+Inf"]]},
 {"metric":{"net":"b"},"histograms":[[1772438400,{"count":"3","sum":"4","buckets":[[0,"0.5","1","2"],[3,"-0.001","0.001","1"]]}]]}]},"warnings":["cut"]}`

func TestAnswersOfPrometheusAreRead(t *testing.T) {
	a, err := readAnswer(strings.NewReader(matrix))
	if err != nil || len(a.series) != 2 || a.warnings[0] != "cut" {
		t.Fatalf("%+v, %v", a, err)
	}
	p := a.series[0].points
	if !p[0].At.Equal(time.UnixMilli(1772438400500)) || p[0].Value != 1 || !math.IsNaN(p[1].Value) || !math.IsInf(p[2].Value, 1) {
		t.Errorf("points %v", p)
	}
	if h := a.series[1].histograms; len(h) != 1 || h[0].buckets[0] != (model.HistogramBucket{Lower: 0.5, Upper: 1, Count: 2}) ||
		h[0].buckets[1] != (model.HistogramBucket{Boundaries: 3, Lower: -0.001, Upper: 0.001, Count: 1}) {
		t.Errorf("histograms %v", h)
	}
	for _, text := range []string{
		`{"status":"success","data":{"resultType":"scalar","result":[1,"2"]}}`,
		`{"status":"success","data":{"resultType":"vector","result":[{"metric":{},"value":[1,"2"]}]}}`,
	} {
		if a, err := readAnswer(strings.NewReader(text)); err != nil || len(a.series) != 1 || a.series[0].points[0] != (plot.Point{At: time.Unix(1, 0), Value: 2}) {
			t.Errorf("%s: %+v, %v", text, a, err)
		}
	}
}

func TestWhatIsNoAnswerIsRefused(t *testing.T) {
	for text, want := range map[string]string{
		`<html>`: "reading the answer",
		`{}`:     "not Prometheus'",
		`{"status":"error","error":"parse error: x"}`:                                                          "parse error: x",
		`{"status":"error","error":"` + strings.Repeat("x", 9000) + `"}`:                                       "xxx…",
		`{"status":"success","data":{"resultType":"string","result":[1,"a"]}}`:                                 `type "string"`,
		`{"status":"success","data":{"resultType":"vector","result":[{"value":[1]}]}}`:                         "1 parts",
		`{"status":"success","data":{"resultType":"vector","result":[{"value":[1,"two"]}]}}`:                   "invalid syntax",
		`{"status":"success","data":{"resultType":"vector","result":[{"value":[1e18,"2"]}]}}`:                  "year 10000",
		`{"status":"success","data":{"resultType":"vector","result":[{"histogram":[1,{"buckets":[["0"]]}]}]}}`: "type int32",
	} {
		if _, err := readAnswer(strings.NewReader(text)); err == nil || !strings.Contains(err.Error(), want) || len(err.Error()) > 400 {
			t.Errorf("%.80s: %v, want %q", text, err, want)
		}
	}
	for name, text := range map[string]string{"bytes": strings.Repeat(" ", maxBytes+1), "objects": strings.Repeat("{", maxObjects+1), "lists": strings.Repeat("[", maxLists+1)} {
		if _, err := readAnswer(strings.NewReader(text)); !errors.Is(err, errTooLarge) {
			t.Errorf("too many %s: %v", name, err)
		}
	}
}

// Whatever Prometheus says is read or refused, and what is read can be drawn.
func FuzzAnswers(f *testing.F) {
	f.Add(matrix)
	f.Add(`{"status":"success","data":{"resultType":"matrix","result":[{"metric":{"le":"+Inf"},"values":[[1,"2"]]},{"metric":{"le":"1"},"values":[[1,"1"]]}]}}`)
	f.Add(`{"status":"error","errorType":"bad_data","error":"no"}`)
	f.Fuzz(func(t *testing.T, text string) {
		a, err := readAnswer(strings.NewReader(text))
		if err != nil {
			return
		}
		at := time.Unix(1772438400, 0)
		d := &drawing{o: Options{Now: at.Add(time.Hour), Since: time.Hour}, from: at, scrape: time.Second}
		r := &Report{From: at, To: d.o.Now}
		for _, p := range somePanels() {
			into := &Figure{Title: p.Title, Size: size(&p)}
			d.figure(&job{panel: p, into: into}, []*answer{a})
			r.Summary = append(r.Summary, Part{p.Title, []*Figure{into}})
		}
		checkPage(t, r)
	})
}
