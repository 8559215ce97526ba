// SPDX-License-Identifier: Apache-2.0

package natslink_test

import (
	"bufio"
	"fmt"
	"net"
	"sync/atomic"
	"testing"
	"time"

	"github.com/pnagent/pnagent/telemetry/natslink"
)

// counting is a NATS server for one connection, which counts pings.
func counting(t *testing.T) (url string, pings *atomic.Int64) {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	pings = new(atomic.Int64)
	ended := make(chan struct{})
	t.Cleanup(func() { _ = l.Close(); <-ended })
	go func() {
		defer close(ended)
		c, err := l.Accept()
		if err != nil {
			return
		}
		defer c.Close()
		fmt.Fprintf(c, "INFO {\"server_id\":\"x\",\"version\":\"2.10.0\",\"max_payload\":1048576}\r\n")
		for lines := bufio.NewScanner(c); lines.Scan(); {
			if lines.Text() == "PING" {
				pings.Add(1)
				fmt.Fprint(c, "PONG\r\n")
			}
		}
	}()
	return "nats://" + l.Addr().String(), pings
}

// While a process pings with what it publishes, the Link does not wake for pings of its own. It
// pings again when these end.
func TestALinkPingsOnlyAServerFromWhichNothingComes(t *testing.T) {
	t.Parallel()
	url, pings := counting(t)
	l, _ := open(t, url)
	until(t, "connected", func() bool { return l.State().Connected && pings.Load() > 0 })
	natslink.Ping(l.Conn)
	until(t, "answered", func() bool { return pings.Load() >= 2 })
	before, sent := pings.Load(), int64(0)
	every := time.NewTicker(natslink.PingAfter * 3 / 5)
	defer every.Stop()
	for begin := time.Now(); time.Since(begin) < 3*natslink.PingAfter; sent++ {
		<-every.C
		natslink.Ping(l.Conn)
	}
	until(t, "all pings", func() bool { return pings.Load() >= before+sent })
	if more := pings.Load() - before - sent; more > 1 { // one may follow that for the first connection
		t.Errorf("the Link sent %d pings of its own beside %d", more, sent)
	}
	until(t, "a ping of the Link", func() bool { return pings.Load() >= before+sent+2 })
}
