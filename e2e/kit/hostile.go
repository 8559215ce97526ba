// SPDX-License-Identifier: Apache-2.0

package kit

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/url"
	"os"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"
)

// Ask sends a request with a Host header, which may be "", and other headers.
func (w Web) Ask(t *testing.T, method, path, host string, headers ...string) *http.Response {
	t.Helper()
	r, err := http.NewRequest(method, w.URL+path, nil)
	if err != nil {
		t.Fatal(err)
	}
	r.Host = host
	for i := 0; i < len(headers); i += 2 {
		r.Header.Set(headers[i], headers[i+1])
	}
	client := http.Client{Timeout: Patience, Transport: &http.Transport{DisableKeepAlives: true},
		CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }}
	response, err := client.Do(r)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = response.Body.Close() })
	return response
}

// DialFrom opens a connection from an address of this machine.
func (w Web) DialFrom(ip string) (net.Conn, error) { return dialFrom(w, ip, nil) }

func dialFrom(w Web, ip string, set func(network, address string, c syscall.RawConn) error) (net.Conn, error) {
	d := net.Dialer{LocalAddr: &net.TCPAddr{IP: net.ParseIP(ip)}, Control: set}
	return d.DialContext(context.Background(), "tcp", strings.TrimPrefix(w.URL, "http://"))
}

// RequestFrom sends a request at a new connection, and returns the connection, which
// stays open, and the status of the answer.
func (w Web) RequestFrom(t *testing.T, ip, path string) (net.Conn, int, error) {
	t.Helper()
	c, err := w.DialFrom(ip)
	if err != nil {
		return nil, 0, err
	}
	t.Cleanup(func() { _ = c.Close() })
	if err := c.SetDeadline(time.Now().Add(Patience)); err != nil {
		return c, 0, err
	}
	if _, err := fmt.Fprintf(c, "GET %s HTTP/1.1\r\nHost: 127.0.0.1\r\n\r\n", path); err != nil {
		return c, 0, err
	}
	response, err := http.ReadResponse(bufio.NewReader(c), nil) //nolint:bodyclose // closed with the connection
	if err != nil {
		return c, 0, err
	}
	return c, response.StatusCode, nil
}

// Peak is the most memory that a process ever had, in MiB: VmHWM of Linux.
func (p *Process) Peak(t *testing.T) int {
	t.Helper()
	text, err := os.ReadFile(fmt.Sprintf("/proc/%d/status", p.Cmd.Process.Pid))
	if err != nil {
		t.Skipf("the memory of a process cannot be read here: %v", err)
	}
	for line := range strings.Lines(string(text)) {
		if fields := strings.Fields(line); len(fields) > 1 && fields[0] == "VmHWM:" {
			kib, err := strconv.Atoi(fields[1])
			if err != nil {
				t.Fatal(err)
			}
			return kib >> 10
		}
	}
	t.Fatal("got no VmHWM; want one")
	return 0
}

// Pipelined sends requests at connections from addresses 127.0.0.2 and up, and reads
// nothing. The connections stay open until the test ends. They have small buffers, so that
// the server soon waits for their clients.
func (w Web) Pipelined(t *testing.T, addresses, connections int, path string, requests int) {
	t.Helper()
	text := strings.Repeat("GET "+path+" HTTP/1.1\r\nHost: 127.0.0.1\r\n\r\n", requests)
	for i := range addresses * connections {
		c, err := dialFrom(w, fmt.Sprint("127.0.0.", 2+i%addresses), func(_, _ string, c syscall.RawConn) error {
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

// Newly sends GET /metrics at a new connection, and returns an error unless the answer
// is there within a time.
func (w Web) Newly(within time.Duration) error {
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

// Named is the name of a net, and of those of its places that an engine reports, and how
// many more there are.
func (v View) Named() string {
	var b strings.Builder
	b.WriteString(v.Nets[0].Name)
	for _, p := range v.Nets[0].Places {
		if !strings.HasPrefix(p.ID, "x") {
			b.WriteString(", " + p.ID + " " + p.Name)
		}
	}
	return b.String()
}

// Nodes are the ids and names of what is drawn of a net.
func (w Web) Nodes(t *testing.T, net string) []struct{ ID, Name string } {
	t.Helper()
	var drawing struct{ Nodes []struct{ ID, Name string } }
	if err := json.Unmarshal(w.Page(t, "/api/v1/drawing?"+url.Values{"net": {net}}.Encode()), &drawing); err != nil {
		t.Fatal(err)
	}
	return drawing.Nodes
}
