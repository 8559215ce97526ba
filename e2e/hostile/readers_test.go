// SPDX-License-Identifier: Apache-2.0

package hostile

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/pnagent/pnagent/e2e/kit"
)

// Clients fill all connections with requests, and read none of the answers. More of
// them take the places of those that are blocked, and the metrics are reachable.
func TestClientsThatReadNothingLeaveTheMetricsReachable(t *testing.T) {
	t.Parallel()
	side := kit.Serve(t, kit.StartNATS(t), "--mib-dir", "", "--web.viewers", "12", "--web.viewers-per-address", "10")
	const limit, page = 524, "/api/v1/openapi.json" // connections in all, 138 of an address
	pipelined(t, side.Web, 6, 120, page, 500)
	blocked := now(side.Process)
	kit.Until(t, "a scrape at a new connection is answered", func() error { return newly(side.Web, 10*time.Second) })
	within(t, "a scrape is answered", 30*time.Second, blocked, time.Now()) // no client blocks for longer
	kit.Until(t, "connections are closed whose client does not read", func() error {
		s, err := side.ReadMetrics()
		if err != nil {
			return err // its connection has made room for a newer one
		}
		open, _ := s.Value("pnagent_http_connections")
		if n, _ := s.Value("pnagent_http_connections_closed_total", "reason", "blocked"); n == 0 {
			pipelined(t, side.Web, 6, 1+max(0, limit-int(open))/6, page, 500) // the next scrape finds no room, and these at work
			return fmt.Errorf("none is, of %v", open)
		}
		return nil
	})
	side.Alarmed(t, "PnagentHTTPRefused", "pnagent_http_connections_closed_total")
	blocked = now(side.Process)
	kit.Until(t, "another scrape at a new connection is answered", func() error { return newly(side.Web, 10*time.Second) })
	within(t, "another scrape is answered", time.Second, blocked, time.Now())
}

// pipelined sends requests at connections from addresses 127.0.0.2 and up, and reads
// nothing. The connections stay open until the test ends. They have small buffers, so that
// the server soon waits for their clients.
func pipelined(t *testing.T, w kit.Web, addresses, connections int, path string, requests int) {
	t.Helper()
	text := strings.Repeat("GET "+path+" HTTP/1.1\r\nHost: 127.0.0.1\r\n\r\n", requests)
	for i := range addresses * connections {
		c, err := dialWith(w, fmt.Sprint("127.0.0.", 2+i%addresses), func(_, _ string, c syscall.RawConn) error {
			var err error
			return errors.Join(c.Control(func(fd uintptr) { err = syscall.SetsockoptInt(int(fd), syscall.SOL_SOCKET, syscall.SO_RCVBUF, 4096) }), err)
		})
		if err != nil {
			t.Fatal(err)
		}
		sent := make(chan struct{})
		go func() {
			defer close(sent)
			_, _ = io.WriteString(c, text) // until the server closes the connection
		}()
		t.Cleanup(func() {
			_ = c.Close() // ends the write
			<-sent
		})
	}
}

// newly sends GET /metrics at a new connection, and returns an error unless the answer
// is there within a time.
func newly(w kit.Web, within time.Duration) error {
	c, err := net.DialTimeout("tcp", strings.TrimPrefix(w.URL, "http://"), within)
	if err != nil {
		return err
	}
	defer c.Close()
	if err := c.SetDeadline(time.Now().Add(within)); err != nil {
		return err
	}
	if _, err := io.WriteString(c, "GET /metrics HTTP/1.1\r\nHost: 127.0.0.1\r\nConnection: close\r\n\r\n"); err != nil {
		return err
	}
	response, err := http.ReadResponse(bufio.NewReader(c), nil)
	if err != nil {
		return err
	}
	defer response.Body.Close()
	if _, err := io.Copy(io.Discard, response.Body); err != nil || response.StatusCode != http.StatusOK {
		return errors.Join(fmt.Errorf("got status %d", response.StatusCode), err)
	}
	return nil
}
