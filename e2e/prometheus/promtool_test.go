// SPDX-License-Identifier: Apache-2.0

package prometheus

import (
	"syscall"
	"testing"

	"github.com/pnagent/pnagent/e2e/kit"
)

func TestPromtoolAcceptsEveryPageOfTheDemo(t *testing.T) {
	t.Parallel()
	d := kit.StartDemo(t)
	kit.Until(t, "every net is shown", func() error { return d.Shows(t, "order-fulfilment", "backup-window", "packaging-line") })
	for _, page := range []string{"/metrics", "/metrics/self", "/metrics/nets/order-fulfilment"} {
		kit.PromtoolIsSilent(t, d.Page(t, page))
	}
	d.Stop(t, syscall.SIGINT)
}
