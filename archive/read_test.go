// SPDX-License-Identifier: Apache-2.0

package archive

import (
	"context"
	"encoding/json"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/pnagent/pnagent/petri"
)

// transport answers every request with one text.
type transport string

func (text transport) RoundTrip(r *http.Request) (*http.Response, error) {
	return &http.Response{StatusCode: http.StatusOK, Status: "200 OK", Body: body{strings.NewReader(string(text))}, Request: r}, nil
}

type body struct{ *strings.Reader }

func (body) Close() error { return nil }

// FuzzRead holds that no answer of Prometheus ends the process, and that each document made of
// one can be written as JSON.
func FuzzRead(f *testing.F) {
	f.Add(`{"status":"success","data":{"resultType":"vector","result":[{"metric":{"__name__":"petrinet_place_tokens","net":"n","place":"p","source":"s"},"value":[1772438400,"3"]}]}}`)
	f.Add(`{"status":"success","data":{"resultType":"vector","result":[{"metric":{"__name__":"petrinet_alarm_active","net":"n","alarm":"x"},"value":[1772438400,"1772438399"]},null]}}`)
	f.Add(`{"status":"success","data":{"resultType":"matrix","result":[{"metric":{},"values":[[1772438400,"1"],[1772438401,"NaN"]]}]}}`)
	f.Add(`{"status":"error","errorType":"bad_data","error":"no"}`)
	f.Fuzz(func(t *testing.T, text string) {
		a, err := New(Config{URL: "http://x", HTTP: &http.Client{Transport: transport(text)}})
		if err != nil {
			t.Fatal(err)
		}
		def := &petri.Net{ID: "n", Places: []petri.Place{{ID: "p"}}, Transitions: []petri.Transition{{ID: "t"}}}
		at, ctx := time.Now().UnixMicro(), context.Background()
		frame, err := a.Frame(ctx, def, at)
		write(t, frame, err)
		over, err := a.Overview(ctx, at)
		write(t, over, err)
		series, err := a.PlaceSeries(ctx, "n", "p", at)
		write(t, series, err)
		_ = a.look(ctx)
	})
}

func write[T any](t *testing.T, doc *T, err error) {
	t.Helper()
	if (err == nil) == (doc == nil) {
		t.Fatalf("got %v and %v", doc, err)
	}
	if _, err := json.Marshal(doc); err != nil {
		t.Fatal(err)
	}
}
