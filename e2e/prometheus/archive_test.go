// SPDX-License-Identifier: Apache-2.0

package prometheus

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

	"github.com/pnagent/pnagent/e2e/kit"
	"github.com/pnagent/pnagent/internal/porttest"
	"github.com/pnagent/pnagent/web/api"
)

// documents are what a sidecar says of a moment.
type documents struct {
	Overview *api.Overview
	Frame    *api.Frame
}

// moment is what a sidecar says, and a time at which Prometheus has that.
type moment struct {
	documents
	scraped time.Time
}

// settled waits until the sidecar has a number of tokens that wait for an answer, and an alarm
// about them or none, until Prometheus has scraped that in the second before, and once more. The
// archive has whole seconds, so the moment is between the two scrapes.
func settled(t *testing.T, side *kit.Sidecar, prom kit.Prometheus, tokens uint64, alarmed bool) (m moment) {
	t.Helper()
	alarms := map[bool]float64{true: 1}[alarmed]
	kit.Until(t, "it is so, and Prometheus has just scraped it", func() (err error) {
		m.documents, err = documentAt(t.Context(), side.Web, time.Time{}, "claims")
		if err != nil {
			return err
		}
		// Each was taken and asked about.
		if n := m.Overview.Nets; len(n) != 1 || n[0].Firings == nil || *n[0].Firings != 2*tokens || slices.ContainsFunc(m.Overview.Alarms, stuck) != alarmed {
			return errors.New("not yet")
		}
		if fired, active := prom.Number(t, "sum(petrinet_transition_firings_total)"), prom.Number(t, "count(petrinet_alarm_active) or vector(0)"); fired != float64(2*tokens) || active != alarms {
			return fmt.Errorf("Prometheus has %v firings and %v alarms", fired, active)
		}
		m.scraped = time.UnixMilli(int64(1000 * prom.Number(t, scrapedAt)))
		if late := m.Overview.At.Time().Sub(m.scraped); late > time.Second {
			return fmt.Errorf("Prometheus scraped %s before", late)
		}
		return nil
	})
	m.scraped = m.scraped.Add(time.Second)
	kit.Until(t, "Prometheus has scraped once more", func() error {
		if at := prom.Number(t, scrapedAt); at < float64(m.scraped.UnixMilli())/1000 {
			return fmt.Errorf("the last time was %v", at)
		}
		return nil
	})
	return m
}

// scrapedAt is the time of the last scrape, in PromQL.
const scrapedAt = "max(timestamp(petrinet_transition_firings_total))"

func stuck(a api.Alarm) bool { return a.Alarm == "tokenStuck" && a.Place == "awaiting answer" }

// What a sidecar itself no longer keeps, because it was started again, it has from the
// Prometheus that scrapes it: frames, alarms and sources as it had shown them.
func TestMomentsBeforeTheHistoryAreThoseOfPrometheus(t *testing.T) {
	t.Parallel()
	natsURL, dir, addr := kit.StartNATS(t), t.TempDir(), porttest.Addr(t)
	flags := []string{"--mib-dir", dir, "--web.listen-address", addr, "--alarms", kit.Write(t, "alarms.yaml", "settle: 1s\ndefaults: {stuck: {after: 20s, clear_after: 1s}, starved: off}\n")}
	side := kit.Serve(t, natsURL, flags...)
	prom := kit.StartPrometheus(t, side.Web)
	nc := kit.Connect(t, natsURL)
	kit.RunEngine(t, natsURL, "berlin", "--bindings", kit.Write(t, "bindings.yaml", kit.StuckBindings), kit.Write(t, "claims.pnml", kit.StuckNet))
	before := settled(t, side, prom, 40, false)
	kit.Request(t, nc, "inject", "claims", "berlin", `{"instance":0,"place":"inbox","tokens":7}`)
	after := settled(t, side, prom, 47, true)
	side.Kill(t)
	kit.Until(t, "Prometheus finds it down", func() error {
		if up := prom.Number(t, "max(up)"); up != 0 {
			return fmt.Errorf("up is %v", up)
		}
		return nil
	})
	silence := time.Now().Add(time.Second)
	time.Sleep(2 * time.Second) // it does not run at that moment, nor a second before and after

	side = kit.ServeAsIs(t, natsURL, append(flags, "--web.prometheus", prom.URL, "--web.prometheus.matchers", `job="pnagent"`)...)
	kit.Until(t, "it has looked for older data", func() error {
		d, err := documentAt(t.Context(), side.Web, time.Time{}, "claims")
		if err == nil && (d.Overview.History == nil || d.Overview.History.Archive == nil || d.Overview.History.Archive.Step != 1 || d.Overview.History.Archive.From.Time().After(before.scraped)) {
			err = fmt.Errorf("its history is %+v with the archive %+v; the first moment is of %v", d.Overview.History, d.Overview.History.Archive, before.Overview.At)
		}
		return err
	})
	for name, said := range map[string]moment{"before": before, "after": after} {
		got, err := documentAt(t.Context(), side.Web, said.scraped, "claims")
		if err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		sameMoment(t, name, said.documents, got)
	}
	if status, body, err := side.Get("/api/v1/overview?at=" + silence.UTC().Format(time.RFC3339Nano)); err != nil || status != http.StatusNotFound {
		t.Errorf("while it did not run: got %d, %v: %s; want 404", status, err, body)
	}
	place, err := api.Get[api.PlaceDetail](t.Context(), api.Client{URL: side.URL, HTTP: http.DefaultClient}, "place", url.Values{"net": {"claims"}, "place": {"awaiting answer"}, "at": {after.scraped.Format(time.RFC3339Nano)}})
	if err != nil || !place.Archive || len(place.Series.Points) == 0 || place.Tokens == nil || *place.Tokens != 47 {
		t.Errorf("the place is %+v, %v; want its 47 tokens and a series", place, err)
	}
}

// sameMoment compares the answer about a moment with what the sidecar reported then. Samples are a second
// apart, and ages are as of the sample.
func sameMoment(t *testing.T, name string, said, got documents) {
	t.Helper()
	near := func(a, b api.Time) bool { return a == 0 && b == 0 || max(a-b, b-a) < 2_500_000 }
	if !got.Frame.Archive || !got.Overview.Archive || !near(said.Frame.At, got.Frame.At) || got.Frame.At != got.Overview.At {
		t.Fatalf("%s: frames of %v and %v, archive %v", name, said.Frame.At, got.Frame.At, got.Frame.Archive)
	}
	rows := cmp.Options{cmp.Comparer(near), cmp.FilterPath(func(p cmp.Path) bool {
		last := p.Last().String()
		return last == ".ArrivalRate" || last == ".Rate" || last == ".Blocked" // over a minute; without a series if there is none
	}, cmp.Ignore())}
	if d := cmp.Diff(said.Frame.Places, got.Frame.Places, rows); d != "" {
		t.Errorf("%s: places (-said +got):\n%s", name, d)
	}
	if d := cmp.Diff(said.Frame.Transitions, got.Frame.Transitions, rows); d != "" {
		t.Errorf("%s: transitions (-said +got):\n%s", name, d)
	}
	type told struct{ Alarm, Severity, Net, Place, Transition, Source string }
	alarms := func(d documents) (out []told) {
		for _, a := range d.Overview.Alarms {
			out = append(out, told{a.Alarm, a.Severity, a.Net, a.Place, a.Transition, a.Source})
		}
		return out
	}
	if d := cmp.Diff(alarms(said), alarms(got)); d != "" {
		t.Errorf("%s: alarms (-said +got):\n%s", name, d)
	}
	for i := range got.Overview.Alarms[:min(len(got.Overview.Alarms), len(said.Overview.Alarms))] {
		if a, b := said.Overview.Alarms[i], got.Overview.Alarms[i]; !near(a.Raised, b.Raised) || a.Index != b.Index {
			t.Errorf("%s: alarm %+v; want %+v", name, b, a)
		}
	}
	was, is := said.Overview.Nets[0], got.Overview.Nets[0]
	if *was.Tokens != *is.Tokens || *was.Firings != *is.Firings || was.OldestPlace != is.OldestPlace || was.Up != is.Up || was.Alarms != is.Alarms || was.Name != is.Name || was.Drawing != is.Drawing {
		t.Errorf("%s: net %+v; want %+v", name, is, was)
	}
	if d := cmp.Diff(was.Instances, is.Instances); d != "" {
		t.Errorf("%s: instances (-said +got):\n%s", name, d)
	}
	if s := got.Overview.Sources; len(s) != 1 || s[0].Name != "berlin" || s[0].State != "up" || got.Overview.NATS == nil || !got.Overview.NATS.Connected {
		t.Errorf("%s: sources %+v, NATS %+v; want one that is up, and a connection", name, s, got.Overview.NATS)
	}
}

// documentAt asks for the documents of a moment; the zero time is now.
func documentAt(ctx context.Context, w kit.Web, moment time.Time, net string) (d documents, err error) {
	client, query := api.Client{URL: w.URL, HTTP: http.DefaultClient}, url.Values{}
	if !moment.IsZero() {
		query.Set("at", moment.UTC().Format(time.RFC3339Nano))
	}
	d.Overview, err = api.Get[api.Overview](ctx, client, "overview", query)
	if err != nil {
		return d, err
	}
	query.Set("net", net)
	if moment.IsZero() {
		query.Set("at", d.Overview.At.Time().Format(time.RFC3339Nano))
	}
	d.Frame, err = api.Get[api.Frame](ctx, client, "history", query)
	return d, err
}
