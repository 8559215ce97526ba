// SPDX-License-Identifier: Apache-2.0

package stream

import (
	"testing"
	"time"

	"github.com/nats-io/nats-server/v2/server"
	"github.com/nats-io/nats.go"

	"github.com/pnagent/pnagent/internal/natstest"
)

// options returns the options of a server with JetStream in a directory, and
// with sockets: clusters need them, and benchmarks are to include their cost.
func options(dir string) *server.Options {
	o := natstest.JetStream(dir)
	o.DontListen, o.Host, o.Port = false, "127.0.0.1", server.RANDOM_PORT
	return o
}

// connect returns a connection that reconnects without limit.
func connect(t testing.TB, url string) *nats.Conn {
	t.Helper()
	nc, err := nats.Connect(url, nats.MaxReconnects(-1), nats.ReconnectWait(10*time.Millisecond), nats.ReconnectJitter(0, 0))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(nc.Close)
	return nc
}
