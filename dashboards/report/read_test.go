// SPDX-License-Identifier: Apache-2.0

package report

import (
	"math"
	"strings"
	"testing"
	"time"

	"github.com/prometheus/common/model"

	"github.com/pnagent/pnagent/dashboards/report/plot"
	"github.com/pnagent/pnagent/internal/promquery"
)

const matrix = `{"status":"success","data":{"resultType":"matrix","result":[
 {"metric":{"net":"a"},"values":[[1772438400.5,"1"],[1772438460.5,"NaN"],[1772438520.5,"+Inf"]]},
 {"metric":{"net":"b"},"histograms":[[1772438400,{"count":"3","sum":"4","buckets":[[0,"0.5","1","2"],[3,"-0.001","0.001","1"]]}]]}]},"warnings":["cut"]}`

func TestAnswersOfPrometheusAreRead(t *testing.T) {
	a, err := read(promquery.Read(strings.NewReader(matrix)))
	if err != nil || len(a.series) != 2 || a.warnings[0] != "cut" {
		t.Fatalf("%+v, %v", a, err)
	}
	p := a.series[0].points
	if !p[0].At.Equal(time.UnixMilli(1772438400500)) || p[0].Value != 1 || !math.IsNaN(p[1].Value) || !math.IsInf(p[2].Value, 1) {
		t.Errorf("points %v", p)
	}
	h := a.series[1].histograms
	want := model.HistogramBuckets{{Lower: 0.5, Upper: 1, Count: 2}, {Boundaries: 3, Lower: -0.001, Upper: 0.001, Count: 1}}
	if len(h) != 1 || !h[0].Histogram.Buckets.Equal(want) {
		t.Errorf("histograms %v", h)
	}
	for _, text := range []string{
		`{"status":"success","data":{"resultType":"scalar","result":[1,"2"]}}`,
		`{"status":"success","data":{"resultType":"vector","result":[{"metric":{},"value":[1,"2"]}]}}`,
	} {
		a, err := read(promquery.Read(strings.NewReader(text)))
		if err != nil || len(a.series) != 1 || a.series[0].points[0] != (plot.Point{At: time.Unix(1, 0), Value: 2}) {
			t.Errorf("%s: %+v, %v", text, a, err)
		}
	}
}

func TestATimeThatAPageCannotShowIsRefused(t *testing.T) {
	for _, text := range []string{
		`{"status":"success","data":{"resultType":"vector","result":[{"value":[253402300800,"2"]}]}}`,
		`{"status":"success","data":{"resultType":"vector","result":[{"histogram":[-1,{"buckets":[]}]}]}}`,
	} {
		if _, err := read(promquery.Read(strings.NewReader(text))); err == nil || !strings.Contains(err.Error(), "1970 to 9999") {
			t.Errorf("%s: %v", text, err)
		}
	}
}

// Whatever Prometheus says is read or refused, and what is read can be drawn.
func FuzzAnswers(f *testing.F) {
	f.Add(matrix)
	f.Add(`{"status":"success","data":{"resultType":"matrix","result":[{"metric":{"le":"+Inf"},"values":[[1,"2"]]},{"metric":{"le":"1"},"values":[[1,"1"]]}]}}`)
	f.Add(`{"status":"error","errorType":"bad_data","error":"no"}`)
	f.Fuzz(func(t *testing.T, text string) {
		a, err := read(promquery.Read(strings.NewReader(text)))
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
