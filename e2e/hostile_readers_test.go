// SPDX-License-Identifier: Apache-2.0

package e2e

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"strings"
	"testing"
	"time"
)

// pipelined sends requests at connections from addresses 127.0.0.2 and up, and reads
// nothing. The connections stay open until the test ends.
func (w web) pipelined(t *testing.T, addresses, connections int, path string, requests int) {
	t.Helper()
	text := strings.Repeat("GET "+path+" HTTP/1.1\r\nHost: 127.0.0.1\r\n\r\n", requests)
	for i := range addresses * connections {
		c, err := w.dialFrom(fmt.Sprint("127.0.0.", 2+i%addresses))
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
func (w web) newly(within time.Duration) error {
	c, err := net.DialTimeout("tcp", strings.TrimPrefix(w.url, "http://"), within)
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

// Clients fill all connections with requests, and read none of the answers. More of
// them take the places of those that are blocked, and the metrics are reachable.
func TestClientsThatReadNothingLeaveTheMetricsReachable(t *testing.T) {
	t.Parallel()
	side := serve(t, startNATS(t), "--mib-dir", "", "--web.viewers", "12", "--web.viewers-per-address", "10")
	side.pipelined(t, 6, 120, "/main.js", 2000) // of 524 connections in all, 138 of an address
	blocked := time.Now()
	until(t, "a scrape at a new connection is answered", func() error { return side.newly(10 * time.Second) })
	within(t, "a scrape is answered", 30*time.Second, blocked, time.Now()) // no client blocks for longer
	polls := 0
	until(t, "connections are closed whose client does not read", func() error {
		if polls++; polls%250 == 0 { // those of before are over after 30 seconds
			side.pipelined(t, 6, 100, "/main.js", 2000)
		}
		side.pipelined(t, 2, 1, "/main.js", 2000)
		s, err := side.readMetrics()
		if n, _ := s.value("pnagent_http_connections_closed_total", "reason", "blocked"); err == nil && n == 0 {
			err = errors.New("none is")
		}
		return err
	})
	side.alarmed(t, "PnagentHTTPRefused", "pnagent_http_connections_closed_total")
	blocked = time.Now()
	until(t, "another scrape at a new connection is answered", func() error { return side.newly(10 * time.Second) })
	within(t, "another scrape is answered", time.Second, blocked, time.Now())
}
