// SPDX-License-Identifier: Apache-2.0

package main

import (
	"cmp"
	"fmt"
	"time"

	"github.com/nats-io/nats.go"

	"github.com/pnagent/pnagent/telemetry/natslink"
)

// connectWithin is how long a command that shows something once waits for NATS.
const connectWithin = 5 * time.Second

// unreachable returns err, or why there is no connection to NATS.
func unreachable(link *natslink.Link, url string, err error) error {
	state := link.State()
	if state.Connected || state.Reason == "" {
		return err
	}
	return fmt.Errorf("no connection to NATS at %s: %s", natslink.Redact(cmp.Or(url, nats.DefaultURL)), state.Reason)
}
