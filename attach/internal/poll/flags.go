// SPDX-License-Identifier: Apache-2.0

// Package poll is the command line of the adapters that poll an engine: the flags that they
// share, and what runs such an adapter.
package poll

import (
	"time"

	"github.com/pnagent/pnagent/cli"
)

// Flags are what all adapters have that poll an engine.
type Flags struct {
	NATS     cli.NATS      `embed:"" group:"NATS"`
	Source   string        `help:"Name of this source, unique among all publishers; keep it over restarts. Default: the host's name and the adapter's."`
	Interval time.Duration `default:"5s" help:"Time between two polls of the engine, and two snapshots."`
	Timeout  time.Duration `default:"30s" help:"How long a poll may take."`
	State    string        `type:"path" placeholder:"FILE" help:"File that keeps what was counted, so that after a restart no firing is lost or counted twice."`
	Web      cli.Web       `embed:""`
}
