// SPDX-License-Identifier: Apache-2.0

package kit

import (
	"encoding/json"
	"fmt"
	"regexp"
	"strings"
	"testing"
	"time"
)

// natsOf is what a sidecar's View says of its connection and of its sources.
type natsOf struct {
	NATS struct {
		Connected      bool
		Server, Reason string
	}
	Sources []struct {
		Name, State string
		LastMessage time.Time `json:"last_heard"`
	}
}

// NATS returns what the sidecar shows of its connection to NATS.
func (w Web) NATS(t *testing.T) (v natsOf) {
	t.Helper()
	if err := json.Unmarshal(w.Page(t, "/api/v1/view"), &v); err != nil {
		t.Fatal(err)
	}
	return v
}

// Within checks that a state was there in the time that SECURITY.md documents, after an
// attack ended. A busy machine may take 5 s more, or half of the documented time if that
// is more.
func Within(t *testing.T, what string, documented time.Duration, ended, there time.Time) {
	t.Helper()
	took, busy := there.Sub(ended), max(5*time.Second, documented/2)
	if took > documented+busy {
		t.Errorf("%s after %v; want the documented %v, and at most %v more", what, took, documented, busy)
		return
	}
	t.Logf("%s after %v; the documented time is %v", what, took, documented)
}

// Admits checks that a new source, whose net was not known, is shown in the documented
// time after an attack, or after its own start if that is later.
func (s *Sidecar) Admits(t *testing.T, natsURL string, documented time.Duration, ended time.Time) {
	t.Helper()
	RunEngine(t, natsURL, "late", Shop(t)...)
	tokens := regexp.MustCompile(`(?m)^petrinet_place_tokens\{.*\} [1-9]`)
	Until(t, "the metrics of a net that was not known are there", func() error { // a view of all nets may be large
		status, body, err := s.Get("/metrics/nets/" + ShopNet)
		if err == nil && !tokens.Match(body) {
			err = fmt.Errorf("status %d: %.300s", status, body)
		}
		return err
	})
	v := s.UntilView(t, "a net that was not known is shown", func(v View) error { return v.Shows(ShopNet) })
	for _, source := range v.Sources {
		if started := time.UnixMicro(source.Epoch); source.Name == "late" && started.After(ended) {
			ended = started
		}
	}
	Within(t, "a new net is shown", documented, ended, v.At)
}

// UntilView waits until a check accepts a View, and returns it.
func (w Web) UntilView(t *testing.T, what string, check func(View) error) (v View) {
	t.Helper()
	Until(t, what, func() error {
		v = w.View(t)
		return check(v)
	})
	return v
}

// LastSaid returns when the process last logged a message, as JSON.
func (p *Process) LastSaid(t *testing.T, message string) (at time.Time) {
	t.Helper()
	for line := range strings.Lines(p.Err.String()) {
		var l struct {
			Time time.Time
			Msg  string
		}
		if json.Unmarshal([]byte(line), &l) == nil && l.Msg == message { // a line may be half written
			at = l.Time
		}
	}
	if at.IsZero() {
		t.Errorf("got no line %q in the log; want one", message)
	}
	return at
}

// Columns of sourceTable about regions.
const (
	SourceRegion         = 5
	SourceState          = 6
	SourceRegionEpoch    = 16
	SourceRegionPosition = 18
	SourceRegionStandbys = 19
	SourceRegionLag      = 20
)

// overview is what the page's states are made of in GET /api/v1/overview.
type overview struct {
	Nets []struct {
		ID     string
		Tokens *uint64
		Up     int `json:"sources_up"`
		Stale  int `json:"sources_stale"`
	}
	Sources []struct {
		Name, Net, State string
		Below            bool
	}
	NATS struct {
		Connected      bool
		Server, Reason string
	}
	Sidecar struct {
		Connect struct {
			Servers, Prefix string
			Commands        []struct{ Line string }
		}
		Share string
		Above struct{ Prefix, Source string }
		Duty  *struct {
			On     bool
			Others int
		}
	}
	Refused []struct {
		Reason, Net, Source, Text string
		Sources                   int
	}
	Skewed *struct {
		Sources int
		Worst   []struct {
			Name  string
			Ahead float64 `json:"ahead_seconds"`
		}
	}
}

// Overview returns the overview at the API.
func (w Web) Overview(t *testing.T) (o overview) {
	t.Helper()
	text := w.Page(t, "/api/v1/overview")
	if err := json.Unmarshal(text, &o); err != nil {
		t.Fatalf("%v: %.500s", err, text)
	}
	return o
}
