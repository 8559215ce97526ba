// SPDX-License-Identifier: Apache-2.0

package e2e

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"slices"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/pnagent/pnagent/internal/porttest"
	"github.com/pnagent/pnagent/web/api"
)

// documents are what a sidecar says of a moment.
type documents struct {
	overview *api.Overview
	frame    *api.Frame
}

// at asks for the documents of a moment; the zero time is now.
func (w web) at(ctx context.Context, moment time.Time, net string) (d documents, err error) {
	client, query := api.Client{URL: w.url, HTTP: http.DefaultClient}, url.Values{}
	if !moment.IsZero() {
		query.Set("at", moment.UTC().Format(time.RFC3339Nano))
	}
	if d.overview, err = api.Get[api.Overview](ctx, client, "overview", query); err != nil {
		return d, err
	}
	query.Set("net", net)
	if moment.IsZero() {
		query.Set("at", d.overview.At.Time().Format(time.RFC3339Nano))
	}
	d.frame, err = api.Get[api.Frame](ctx, client, "history", query)
	return d, err
}

// settled waits until the sidecar has a number of tokens that wait for an answer, and an alarm
// about them or none, and until Prometheus has scraped that. It returns what the sidecar says.
func settled(t *testing.T, side *sidecar, prom prometheus, tokens uint64, alarmed bool) (d documents) {
	t.Helper()
	alarms := map[bool]float64{true: 1}[alarmed]
	until(t, "it is so", func() (err error) {
		if d, err = side.at(t.Context(), time.Time{}, "claims"); err != nil {
			return err
		}
		// Each was taken and asked about.
		if n := d.overview.Nets; len(n) != 1 || n[0].Firings == nil || *n[0].Firings != 2*tokens || slices.ContainsFunc(d.overview.Alarms, stuck) != alarmed {
			return errors.New("not yet")
		}
		if fired, active := prom.number(t, "sum(petrinet_transition_firings_total)"), prom.number(t, "count(petrinet_alarm_active) or vector(0)"); fired != float64(2*tokens) || active != alarms {
			return fmt.Errorf("Prometheus has %v firings and %v alarms", fired, active)
		}
		d, err = side.at(t.Context(), time.Time{}, "claims")
		return err
	})
	until(t, "Prometheus has scraped once more", func() error {
		if at := prom.number(t, "max(timestamp(petrinet_transition_firings_total))"); at < float64(scraped(d).UnixMilli())/1000 {
			return fmt.Errorf("the last time was %v", at)
		}
		return nil
	})
	return d
}

// scraped returns a time at which Prometheus has what a sidecar said, and nothing later: there
// is a View, and a scrape of it, each second.
func scraped(said documents) time.Time { return said.overview.At.Time().Add(time.Second) }

func stuck(a api.Alarm) bool { return a.Alarm == "tokenStuck" && a.Place == "awaiting answer" }

// What a sidecar itself no longer keeps, because it was started again, it has from the
// Prometheus that scrapes it: frames, alarms and sources as it had shown them.
func TestMomentsBeforeTheHistoryAreThoseOfPrometheus(t *testing.T) {
	t.Parallel()
	natsURL, dir, addr := startNATS(t), t.TempDir(), porttest.Addr(t)
	flags := []string{"--mib-dir", dir, "--web.listen-address", addr, "--alarms", write(t, "alarms.yaml", "settle: 1s\ndefaults: {stuck: {after: 20s, clear_after: 1s}, starved: off}\n")}
	side := serve(t, natsURL, flags...)
	prom := startPrometheus(t, side.web)
	nc := connect(t, natsURL)
	runEngine(t, natsURL, "berlin", "--bindings", write(t, "bindings.yaml", stuckBindings), write(t, "claims.pnml", stuckNet))
	before := settled(t, side, prom, 40, false)
	request(t, nc, "inject", "claims", "berlin", `{"instance":0,"place":"inbox","tokens":7}`)
	after := settled(t, side, prom, 47, true)
	side.kill(t)
	silence := time.Now().Add(2 * time.Second)
	time.Sleep(4 * time.Second) // Prometheus finds it down

	side = serveAsIs(t, natsURL, append(flags, "--web.prometheus", prom.url, "--web.prometheus.matchers", `job="pnagent"`)...)
	until(t, "it has looked for older data", func() error {
		d, err := side.at(t.Context(), time.Time{}, "claims")
		if err == nil && (d.overview.History == nil || d.overview.History.Archive == nil || d.overview.History.Archive.Step != 1 || d.overview.History.Archive.From.Time().After(scraped(before))) {
			err = fmt.Errorf("its history is %+v with the archive %+v; the first moment is of %v", d.overview.History, d.overview.History.Archive, before.overview.At)
		}
		return err
	})
	for name, said := range map[string]documents{"before": before, "after": after} {
		got, err := side.at(t.Context(), scraped(said), "claims")
		if err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		sameMoment(t, name, said, got)
	}
	if status, body, err := side.get("/api/v1/overview?at=" + silence.UTC().Format(time.RFC3339Nano)); err != nil || status != http.StatusNotFound {
		t.Errorf("while it did not run: got %d, %v: %s; want 404", status, err, body)
	}
	place, err := api.Get[api.PlaceDetail](t.Context(), api.Client{URL: side.url, HTTP: http.DefaultClient}, "place", url.Values{"net": {"claims"}, "place": {"awaiting answer"}, "at": {scraped(after).Format(time.RFC3339Nano)}})
	if err != nil || !place.Archive || len(place.Series.Points) == 0 || place.Tokens == nil || *place.Tokens != 47 {
		t.Errorf("the place is %+v, %v; want its 47 tokens and a series", place, err)
	}
}

// sameMoment compares the answer about a moment with what the sidecar reported then. Samples are a second
// apart, and ages are as of the sample.
func sameMoment(t *testing.T, name string, said, got documents) {
	t.Helper()
	near := func(a, b api.Time) bool { return a == 0 && b == 0 || max(a-b, b-a) < 2_500_000 }
	if !got.frame.Archive || !got.overview.Archive || !near(said.frame.At, got.frame.At) || got.frame.At != got.overview.At {
		t.Fatalf("%s: frames of %v and %v, archive %v", name, said.frame.At, got.frame.At, got.frame.Archive)
	}
	rows := cmp.Options{cmp.Comparer(near), cmp.FilterPath(func(p cmp.Path) bool {
		last := p.Last().String()
		return last == ".ArrivalRate" || last == ".Rate" || last == ".Blocked" // over a minute; without a series if there is none
	}, cmp.Ignore())}
	if d := cmp.Diff(said.frame.Places, got.frame.Places, rows); d != "" {
		t.Errorf("%s: places (-said +got):\n%s", name, d)
	}
	if d := cmp.Diff(said.frame.Transitions, got.frame.Transitions, rows); d != "" {
		t.Errorf("%s: transitions (-said +got):\n%s", name, d)
	}
	type told struct{ Alarm, Severity, Net, Place, Transition, Source string }
	alarms := func(d documents) (out []told) {
		for _, a := range d.overview.Alarms {
			out = append(out, told{a.Alarm, a.Severity, a.Net, a.Place, a.Transition, a.Source})
		}
		return out
	}
	if d := cmp.Diff(alarms(said), alarms(got)); d != "" {
		t.Errorf("%s: alarms (-said +got):\n%s", name, d)
	}
	for i := range got.overview.Alarms[:min(len(got.overview.Alarms), len(said.overview.Alarms))] {
		if a, b := said.overview.Alarms[i], got.overview.Alarms[i]; !near(a.Raised, b.Raised) || a.Index != b.Index {
			t.Errorf("%s: alarm %+v; want %+v", name, b, a)
		}
	}
	was, is := said.overview.Nets[0], got.overview.Nets[0]
	if *was.Tokens != *is.Tokens || *was.Firings != *is.Firings || was.OldestPlace != is.OldestPlace || was.Up != is.Up || was.Alarms != is.Alarms || was.Name != is.Name || was.Drawing != is.Drawing {
		t.Errorf("%s: net %+v; want %+v", name, is, was)
	}
	if d := cmp.Diff(was.Instances, is.Instances); d != "" {
		t.Errorf("%s: instances (-said +got):\n%s", name, d)
	}
	if s := got.overview.Sources; len(s) != 1 || s[0].Name != "berlin" || s[0].State != "up" || got.overview.NATS == nil || !got.overview.NATS.Connected {
		t.Errorf("%s: sources %+v, NATS %+v; want one that is up, and a connection", name, s, got.overview.NATS)
	}
}
