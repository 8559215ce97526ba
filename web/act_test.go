// SPDX-License-Identifier: Apache-2.0

package web

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/pnagent/pnagent/act"
	"github.com/pnagent/pnagent/telemetry"
)

// obedient is an engine that does what it is asked for.
func obedient(_ context.Context, _ string, r act.Request) (*act.Outcome, error) {
	return &act.Outcome{Verb: r.Verb, Net: r.Net, Instance: r.Instance, Source: "host-1", Place: "p0", Transition: "t0", Tokens: r.Tokens, OK: true,
		Held: []act.Held{{Place: "p0", Tokens: 1, Age: 9, Wait: &telemetry.InstanceWait{Transition: "t0", Reason: "missing", Place: "p1", Count: 1, Until: t0, What: "a task"}}}}, nil
}

func TestRequestsToEnginesAreSentForClientsThatAuthenticated(t *testing.T) {
	const fire = `{"verb":"fire","net":"orders","instance":"host-1/7","transition":"pay","comment":"by mail"}`
	var log bytes.Buffer
	var got []string
	do := func(_ context.Context, by string, r act.Request) (*act.Outcome, error) {
		got = append(got, fmt.Sprintf("%s %s %s %s %s %d %q %v", by, r.Verb, r.Net, r.Instance, r.Element, r.Tokens, r.Comment, r.DryRun))
		switch out := (&act.Outcome{Net: r.Net, Source: "host-1", Transition: r.Element}); r.Instance {
		case "refused":
			return out, errors.New("not enabled")
		case "lost":
			return out, fmt.Errorf("%w: timeout", act.ErrUnknown)
		default:
			return out, nil
		}
	}
	for what, c := range map[string]struct {
		body   string
		change func(*Actions)
		status int
		answer string
		sent   string
		logged string
	}{
		"it is sent":         {fire, nil, 200, `"source":"host-1"`, `ada fire orders host-1/7 pay 0 "by mail" false`, `"msg":"acted on an instance","by":"ada","proven":true,"addr":"192.0.2.1:1234","verb":"fire","net":"orders","instance":"host-1/7","source":"host-1"`},
		"a dry run":          {strings.Replace(fire, `"comment"`, `"dry_run":true,"comment"`, 1), nil, 200, `"dry_run":true`, `ada fire orders host-1/7 pay 0 "by mail" true`, `"dryRun":true`},
		"tokens":             {`{"verb":"inject","net":"orders","instance":"a","place":"due","tokens":3}`, nil, 200, `"held":[]`, `ada inject orders a due 3 "" false`, `"verb":"inject"`},
		"no tokens":          {`{"verb":"inject","net":"orders","instance":"a","place":"due"}`, nil, 400, "0 tokens", "", ""},
		"no verb":            {strings.Replace(fire, "fire", "stop", 1), nil, 400, `verb \"stop\"; expected fire, inject or retry`, "", ""},
		"the engine refuses": {strings.Replace(fire, "host-1/7", "refused", 1), nil, 409, "not enabled", `ada fire orders refused pay 0 "by mail" false`, `"err":"not enabled"`},
		"no answer":          {strings.Replace(fire, "host-1/7", "lost", 1), nil, 504, "whether it was done is not known", `ada fire orders lost pay 0 "by mail" false`, `"err":"the request was sent`},
		"the client did not authenticate": {fire, func(a *Actions) {
			a.Who = func(*http.Request) (string, bool, error) { return "ada", false, nil }
		}, 403, "clients that authenticate", "", ""},
		"no client can authenticate": {fire, func(a *Actions) { a.Act = nil }, 403, "clients that authenticate", "", ""},
	} {
		t.Run(what, func(t *testing.T) {
			log.Reset()
			got = nil
			st := newStage(t, func(cfg *Config) {
				cfg.Actions, cfg.Log = &Actions{Alarms: &notebook{}, Who: ada, Act: do}, slog.New(slog.NewJSONHandler(&log, nil))
				if c.change != nil {
					c.change(cfg.Actions)
				}
			})
			w := httptest.NewRecorder()
			st.Handler().ServeHTTP(w, posted("/api/v1/act", c.body))
			if w.Code != c.status || !strings.Contains(w.Body.String(), c.answer) {
				t.Errorf("got %d %s; want %d %s", w.Code, w.Body, c.status, c.answer)
			}
			if sent := strings.Join(got, "|"); sent != c.sent {
				t.Errorf("sent %s; want %s", sent, c.sent)
			}
			if !strings.Contains(log.String(), c.logged) || c.logged == "" && log.Len() > 0 {
				t.Errorf("logged %s; want %s", log.String(), c.logged)
			}
		})
	}
}
