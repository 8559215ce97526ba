// SPDX-License-Identifier: Apache-2.0

package telemetry

import (
	"encoding/json"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/nats-io/nats.go"
)

// What an engine publishes is read again. The net and the source are those of the subject,
// which the server checks.
func TestAnActionIsReadAsItWasPublished(t *testing.T) {
	a := Action{At: time.UnixMicro(1e15).UTC(), Source: "shop 1", Kind: "fire", Who: Who{By: "kim@desk", Comment: "größer"}, Net: "a.b", Instance: "shop 1/07", Transition: "sign", OK: true}
	text, err := json.Marshal(a)
	if err != nil {
		t.Fatal(err)
	}
	m := &nats.Msg{Subject: Subjects{}.Audit("a.b", "shop 1"), Data: text}
	if got, err := ReadAction(Subjects{}, m); err != nil || cmp.Diff(a, got) != "" {
		t.Errorf("%v, %s", err, cmp.Diff(a, got))
	}
	m.Subject = Subjects{}.Audit("other", "thief")
	if got, err := ReadAction(Subjects{}, m); err != nil || got.Net != "other" || got.Source != "thief" {
		t.Errorf("got %+v, %v; want the names of the subject", got, err)
	}
}

func TestActionsOfAnotherFormAreRejected(t *testing.T) {
	for _, c := range []struct {
		subject, text string
		want          Reason
	}{
		{"petrinet.v1.audit.order", `{}`, BadSubject},
		{"petrinet.v1.snapshot.order.s", `{}`, BadSubject},
		{"petrinet.v1.audit.order.s", `[]`, NotJSON},
		{"petrinet.v1.audit.order.s", `{"at":"0001-01-01T00:00:00Z"}`, BadValue},
		{"petrinet.v1.audit.order.s", `{"at":"9999-01-01T00:00:00Z"}`, BadValue},
		{"petrinet.v1.audit.order.s", `{"comment":"` + strings.Repeat("x", maxAction) + `"}`, TooLarge},
	} {
		if _, err := ReadAction(Subjects{}, &nats.Msg{Subject: c.subject, Data: []byte(c.text)}); ReasonOf(err) != c.want {
			t.Errorf("%s %.40s: got %v; want %s", c.subject, c.text, err, c.want)
		}
	}
}

func TestWhoIsInTheHeaders(t *testing.T) {
	for _, w := range []Who{{}, {By: "kim@desk"}, {By: "kim", Comment: "größer: 1"}} {
		if err := w.Check(); err != nil {
			t.Error(err)
		}
		if got := WhoOf(&nats.Msg{Header: w.Header()}); got != w {
			t.Errorf("got %+v, want %+v", got, w)
		}
	}
	for _, w := range []Who{{By: "a\r\nb"}, {By: strings.Repeat("x", MaxName+1)}, {Comment: "\x00"}, {Comment: strings.Repeat("x", MaxComment+1)}} {
		if w.Check() == nil {
			t.Errorf("%.20q is not refused", w)
		}
		if got := WhoOf(&nats.Msg{Header: nats.Header{ByHeader: {w.By}, CommentHeader: {w.Comment}}}); got.Check() != nil {
			t.Errorf("%.20q is not clipped", got)
		}
	}
}

// FuzzAction: an action is rejected with a reason, or has bounded texts and a time.
func FuzzAction(f *testing.F) {
	f.Add("petrinet.v1.audit.order.berlin", []byte(`{"at":"2026-11-25T20:00:00.5Z","kind":"fire","by":"kim","net":"x","instance":"berlin/1","transition":"t","ok":true}`))
	f.Add("petrinet.v1.audit.order", []byte(`{}`))
	f.Fuzz(func(t *testing.T, subject string, text []byte) {
		a, err := ReadAction(Subjects{}, &nats.Msg{Subject: subject, Data: text})
		if err != nil {
			if ReasonOf(err) == "" {
				t.Fatalf("rejected without a reason: %v", err)
			}
			return
		}
		if at := a.At.UnixMicro(); at < 0 || at > MaxTime || (Who{a.By, a.Comment}).Check() != nil || len(a.Error) > maxError || len(a.Instance) > MaxName {
			t.Fatalf("%+v", a)
		}
	})
}
