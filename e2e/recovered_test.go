// SPDX-License-Identifier: Apache-2.0

package e2e

import (
	"encoding/json"
	"strings"
	"testing"
	"time"
)

// within checks that a state was there in the time that SECURITY.md documents, after an
// attack ended. A busy machine may take 5 s more, or half of the documented time if that
// is more.
func within(t *testing.T, what string, documented time.Duration, ended, there time.Time) {
	t.Helper()
	took, busy := there.Sub(ended), max(5*time.Second, documented/2)
	if took > documented+busy {
		t.Errorf("%s after %v; want the documented %v, and at most %v more", what, took, documented, busy)
		return
	}
	t.Logf("%s after %v; the documented time is %v", what, took, documented)
}

// admits checks that a new source, whose net was not known, is shown in the documented
// time after an attack, or after its own start if that is later.
func (s *sidecar) admits(t *testing.T, natsURL string, documented time.Duration, ended time.Time) {
	t.Helper()
	runEngine(t, natsURL, "late", "--instances", "1", theNet(t))
	v := s.untilView(t, "a net that was not known is shown", func(v view) error { return v.shows(shopNet) })
	for _, source := range v.Sources {
		if started := time.UnixMicro(source.Epoch); source.Name == "late" && started.After(ended) {
			ended = started
		}
	}
	within(t, "a new net is shown", documented, ended, v.At)
}

// untilView waits until a check accepts a View, and returns it.
func (w web) untilView(t *testing.T, what string, check func(view) error) (v view) {
	t.Helper()
	until(t, what, func() error {
		v = w.view(t)
		return check(v)
	})
	return v
}

// lastSaid returns when the process last logged a message, as JSON.
func (p *process) lastSaid(t *testing.T, message string) (at time.Time) {
	t.Helper()
	for line := range strings.Lines(p.err.String()) {
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
