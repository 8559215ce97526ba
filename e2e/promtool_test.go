// SPDX-License-Identifier: Apache-2.0

package e2e

import (
	"bytes"
	"os/exec"
	"syscall"
	"testing"
)

// promtoolIsSilent checks a scrape as Prometheus' own linter does.
func promtoolIsSilent(t *testing.T, text []byte) {
	t.Helper()
	cmd := exec.CommandContext(t.Context(), need(t, "promtool", "prometheus"), "check", "metrics")
	cmd.Stdin = bytes.NewReader(text)
	if out, err := cmd.CombinedOutput(); err != nil || len(out) > 0 {
		t.Errorf("promtool check metrics: got %v\n%s\nwant no fault", err, out)
	}
}

func TestPromtoolAcceptsEveryPageOfTheDemo(t *testing.T) {
	t.Parallel()
	d := startDemo(t)
	until(t, "every net is shown", func() error { return d.shows(t, "order-fulfilment", "backup-window", "packaging-line") })
	for _, page := range []string{"/metrics", "/metrics/self", "/metrics/nets/order-fulfilment"} {
		promtoolIsSilent(t, d.page(t, page))
	}
	d.stop(t, syscall.SIGINT)
}
