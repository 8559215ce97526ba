// SPDX-License-Identifier: Apache-2.0

package promquery

import (
	"errors"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"
)

func TestWhatIsNoAnswerIsRefused(t *testing.T) {
	for text, want := range map[string]string{
		`<html>`: "not Prometheus'",
		`{}`:     "not Prometheus'",
		`{"status":"error","error":"parse error: x"}`:                                                          "parse error: x",
		`{"status":"error","error":"` + strings.Repeat("x", 9000) + `"}`:                                       "xxx…",
		`{"status":"success","data":{"resultType":"string","result":[1,"a"]}}`:                                 `type "string"`,
		`{"status":"success","data":{"resultType":"vector","result":[{"value":1}]}}`:                           "reading the answer",
		`{"status":"success","data":{"resultType":"vector","result":[{"value":[1,"two"]}]}}`:                   "invalid syntax",
		`{"status":"success","data":{"resultType":"vector","result":[{"value":[1e18,"2"]}]}}`:                  "reading the answer",
		`{"status":"success","data":{"resultType":"vector","result":[{"histogram":[1,{"buckets":[["0"]]}]}]}}`: "reading the answer",
	} {
		if _, err := Read(strings.NewReader(text)); err == nil || !strings.Contains(err.Error(), want) || len(err.Error()) > 400 {
			t.Errorf("%.80s: %v, want %q", text, err, want)
		}
	}
	for name, text := range map[string]string{"bytes": strings.Repeat(" ", MaxBytes+1), "objects": strings.Repeat("{", maxObjects+1),
		"lists": strings.Repeat("[", MaxLists+1), "texts": strings.Repeat(`"`, maxQuotes+1)} {
		if _, err := Read(strings.NewReader(text)); !errors.Is(err, ErrTooLarge) {
			t.Errorf("too many %s: %v", name, err)
		}
	}
}

func FuzzRead(f *testing.F) {
	f.Add(`{"status":"success","data":{"resultType":"vector","result":[{"metric":{"net":"n"},"value":[1772438400,"3"]},null]}}`)
	f.Add(`{"status":"success","data":{"resultType":"matrix","result":[{"metric":{},"values":[[1772438400,"1"],[1772438401,"NaN"]]}]}}`)
	f.Add(`{"status":"success","data":{"resultType":"scalar","result":[1,"2"]}}`)
	f.Add(`{"status":"error","errorType":"bad_data","error":"no"}`)
	f.Fuzz(func(t *testing.T, text string) {
		if a, err := Read(strings.NewReader(text)); err == nil && a.Value == nil {
			t.Fatal("neither a value nor an error")
		}
	})
}

func TestTheIntervalIsTheMedian(t *testing.T) {
	for text, want := range map[string]time.Duration{
		`[]`:                     15 * time.Second,
		`[{"values":[[1,"1"]]}]`: 15 * time.Second,
		`[{"values":[[1,"1"],[11,"1"],[21,"1"],[99,"1"]]}]`:   10 * time.Second,
		`[{"values":[[1,"1"],[1.1,"1"]]}]`:                    time.Second,
		`[{"values":[[1,"1"],[9001,"1"]]}]`:                   time.Hour,
		`[{"values":[[1,"1"],[6,"1"]]},{"values":[[1,"1"]]}]`: 5 * time.Second,
	} {
		server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			if q := r.FormValue("query"); q != "up[60000ms]" {
				t.Errorf("it asks for %q", q)
			}
			_, _ = w.Write([]byte(`{"status":"success","data":{"resultType":"matrix","result":` + text + `}}`))
		}))
		got, err := Server{URL: server.URL + "/", HTTP: server.Client(), Timeout: time.Minute}.Interval(t.Context(), "up", time.Minute, time.Unix(100, 0))
		if got != want || err != nil {
			t.Errorf("%s: got %s, %v; want %s", text, got, err, want)
		}
		server.Close()
	}
}
