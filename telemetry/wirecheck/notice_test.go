// SPDX-License-Identifier: Apache-2.0

package wirecheck

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/pnagent/pnagent/telemetry"
)

const noticeSubject = "petrinet.v1.notice.orders.shop"

func TestANoticeIsAFindingOfItsSource(t *testing.T) {
	const head = `{"source":"shop","net":"orders",`
	for notice, want := range map[string]string{
		head + `"epoch":7,"reason":"conflict","text":"two processes"}`:    `messages of two processes as this source and rejects epoch 7: "two processes".`,
		head + `"reason":"conflict","text":"both with epoch 7"}`:          `messages of two processes as this source: "both with epoch 7".`,
		head + `"epoch":7,"reason":"counter_fell","text":"firings fell"}`: `a collector rejects messages of this source (counter_fell): "firings fell"`,
		`"conflict"`: noticeSubject + " is invalid: it is not a JSON object",
		``:           "it is not a JSON object",
		head + `"reason":"conflict","text":"x"} {}`:                        "something follows",
		`{"source":"other","net":"orders","reason":"conflict","text":"x"}`: `it is about source "other" of net "orders"`,
		`{"source":"shop","net":"others","reason":"conflict","text":"x"}`:  `it is about source "shop" of net "others"`,
		head + `"epoch":-1,"reason":"conflict","text":"x"}`:                "epoch -1",
		head + `"epoch":"7","reason":"conflict","text":"x"}`:               "it is not a JSON object",
		head + `"text":"x"}`:                                            `reason ""`,
		head + `"reason":"Two processes","text":"x"}`:                   `reason "Two processes"`,
		head + `"reason":"` + strings.Repeat("x", 65) + `","text":"x"}`: `reason "xxx`,
		head + `"reason":"counter_fell","text":"\u001b[2J"}`:            `"\x1b[2J"`,
		head + `"reason":"conflict"}`:                                   "no text",
	} {
		s := newSession(t)
		s.receive(message(0, nil))
		for range 3 {
			s.c.Notice(noticeSubject, []byte(notice))
		}
		r := s.c.Report(s.now)
		if r.Right() || len(r.Sources) != 1 || len(r.Wrong) != 0 {
			t.Errorf("%s: %+v", notice, r)
			continue
		}
		if wrong := r.Sources[0].Wrong; len(wrong) != 1 || !strings.Contains(wrong[0].What, want) || wrong[0].Times != 3 {
			t.Errorf("%s: %+v, want %q", notice, wrong, want)
		}
	}
}

func TestEachReasonOfANoticeIsReported(t *testing.T) {
	s := newSession(t)
	for _, reason := range []string{"conflict", "counter_fell", "conflict"} {
		s.c.Notice(noticeSubject, fmt.Appendf(nil, `{"source":"shop","net":"orders","reason":%q,"text":"why"}`, reason))
	}
	r := s.c.Report(s.now)
	if len(r.Sources) != 1 || len(r.Sources[0].Wrong) != 2 || r.Sources[0].Source != "shop" || r.Sources[0].Net != "orders" {
		t.Errorf("%+v", r)
	}
	// A collector without an engine is not a source.
	if !slices.ContainsFunc(r.Wrong, func(what string) bool { return strings.Contains(what, "no message was received") }) {
		t.Errorf("%q", r.Wrong)
	}
}

func TestANoticeOnAnInvalidSubjectIsAFinding(t *testing.T) {
	s := newSession(t)
	s.c.Notice("petrinet.v1.notice.a=b.shop", []byte(`{"source":"shop","net":"a=b","reason":"conflict","text":"why"}`))
	r := s.c.Report(s.now)
	if len(r.Sources) != 1 || len(r.Sources[0].Wrong) != 1 || !strings.Contains(r.Sources[0].Wrong[0].What, string(telemetry.BadSubject)) {
		t.Errorf("%+v", r)
	}
}

func TestNoticesOfManySourcesAreBounded(t *testing.T) {
	c := New(telemetry.Subjects{}, now0)
	for i := range MaxSources + 5 {
		source := fmt.Sprint("s", i)
		c.Notice(telemetry.Subjects{}.Notice("orders", source), fmt.Appendf(nil, `{"source":%q,"net":"orders","reason":"conflict","text":"why"}`, source))
	}
	if r := c.Report(now0); len(r.Sources) != MaxSources || !strings.Contains(strings.Join(r.Wrong, "\n"), fmt.Sprintf("5 messages of more than %d sources", MaxSources)) {
		t.Errorf("%d sources, %q", len(r.Sources), r.Wrong)
	}
}
