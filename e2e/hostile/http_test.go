// SPDX-License-Identifier: Apache-2.0

package hostile

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/pnagent/pnagent/e2e/kit"
	"github.com/pnagent/pnagent/internal/httpserver"
)

// isProtected checks the headers of an answer.
func isProtected(t *testing.T, what string, h http.Header) {
	t.Helper()
	policy := httpserver.Policy
	if h.Get("Content-Type") == "image/svg+xml" && strings.HasSuffix(what, "net=orders") { // a picture has a style in it, and loads nothing
		policy = "default-src 'none'; style-src 'unsafe-inline'; frame-ancestors 'none'"
	}
	for name, want := range map[string]string{"Content-Security-Policy": policy, "X-Content-Type-Options": "nosniff",
		"X-Frame-Options": "DENY", "Referrer-Policy": "no-referrer"} {
		if got := h.Values(name); len(got) != 1 || got[0] != want {
			t.Errorf("%s: got %s %q; want %q", what, name, got, want)
		}
	}
}

// Only /embed may be in a frame, and only if origins are given.
func TestListedOriginsMayHaveOnePageInAFrame(t *testing.T) {
	t.Parallel()
	url := kit.StartNATS(t)
	listed := kit.Serve(t, url, "--mib-dir", "", "--web.frame-ancestors", "https://*.example.com,http://grafana.example:3000")
	closed := kit.Serve(t, url, "--mib-dir", "")
	frame := []string{"Sec-Fetch-Site", "cross-site", "Sec-Fetch-Mode", "navigate", "Sec-Fetch-Dest", "iframe"}
	response := sendRequest(t, listed.Web, "GET", "/embed?net=orders", "", frame...) //nolint:bodyclose // ask closes it
	want := strings.Replace(httpserver.Policy, "frame-ancestors 'none'", "frame-ancestors https://*.example.com http://grafana.example:3000", 1)
	if got := response.Header.Get("Content-Security-Policy"); response.StatusCode != http.StatusOK || got != want || response.Header.Get("X-Frame-Options") != "" {
		t.Errorf("a frame: got status %d, X-Frame-Options %q, policy %s; want 200, none, %s", response.StatusCode, response.Header.Get("X-Frame-Options"), got, want)
	}
	for _, c := range []struct {
		kit.Web
		path    string
		headers []string
		status  int
	}{{listed.Web, "/", nil, 200}, {listed.Web, "/", frame, 403}, {listed.Web, "/api/v1/overview", frame, 403}, {closed.Web, "/embed", frame, 403}, {closed.Web, "/embed", nil, 200}} {
		response := sendRequest(t, c.Web, "GET", c.path, "", c.headers...) //nolint:bodyclose // ask closes it
		if response.StatusCode != c.status {
			t.Errorf("%s: got status %d; want %d", c.path, response.StatusCode, c.status)
		}
		isProtected(t, c.path, response.Header)
	}
	kit.WantFailure(t, kit.Pnagent(t, "serve", "--nats", url, "--mib-dir", "", "--web.frame-ancestors", "https://*"), 2, `--web.frame-ancestors: "https://\*": not an origin; expected an origin such as https://grafana.example`)
}

func TestEveryAnswerOverHTTPHasTheHeadersThatProtectABrowser(t *testing.T) {
	t.Parallel()
	url := kit.StartNATS(t)
	config := kit.Write(t, "web.yaml", "basic_auth_users:\n  anna: $2b$04$yPlFfhLwVDSbvhSdpIwCxe45jjkhBGcxNb1yQIQzXKLZhY71AVpJq\n")
	open := kit.Serve(t, url, "--config", kit.Write(t, "serve.yaml", "snmp.packet-rate: 5000\n"), "--mib-dir", "", kit.Write(t, "orders.pnml", kit.OrdersNet))
	closed := kit.Serve(t, url, "--mib-dir", "", "--web.config.file", config)
	e := kit.Start(t, kit.Built().Pnagent, "engine", "--web.listen-address", "127.0.0.1:0", kit.Write(t, "orders.pnml", kit.OrdersNet))
	at := e.Says(t, `address=(127\.0\.0\.1:\d+)`)
	lines := kit.Start(t, kit.Built().Pnagent, "attach", "lines", "--nats", url, "--source", "shop", "--http", "127.0.0.1:0", kit.Write(t, "orders.pnml", kit.OrdersNet))
	events := lines.Says(t, `receiving HTTP posts.*http=(\S+)`)
	for _, c := range []struct {
		kit.Web
		method, path string
		status       int
	}{
		{open.Web, "GET", "/", 200}, {open.Web, "GET", "/main.js", 200}, {open.Web, "GET", "/metrics", 200}, {open.Web, "GET", "/metrics/self", 200},
		{open.Web, "GET", "/metrics/nets/orders", 200}, {open.Web, "GET", "/metrics/nets/none", 404}, {open.Web, "GET", "/sd", 200}, {open.Web, "GET", "/endpoints", 200},
		{open.Web, "GET", "/-/healthy", 200}, {open.Web, "GET", "/-/ready", 200}, {open.Web, "POST", "/-/reload", 200}, {open.Web, "GET", "/-/reload", 404},
		{open.Web, "GET", "/api/v1/view", 200}, {open.Web, "GET", "/api/v1/alarms", 200}, {open.Web, "GET", "/api/v1/live", 200}, {open.Web, "GET", "/api/v1/openapi.json", 200},
		{open.Web, "GET", "/api/v1/drawing.svg?net=orders", 200}, {open.Web, "GET", "/none", 404}, {open.Web, "DELETE", "/metrics", 405}, {open.Web, "GET", "//metrics", 307},
		{closed.Web, "GET", "/metrics", 401},
		{kit.Web{URL: "http://" + at[1]}, "GET", "/metrics", 200}, {kit.Web{URL: "http://" + at[1]}, "GET", "/", 404},
		{kit.Web{URL: "http://" + events[1]}, "GET", "/events", 405}, {kit.Web{URL: "http://" + events[1]}, "POST", "/events", 200},
	} {
		response := sendRequest(t, c.Web, c.method, c.path, "") //nolint:bodyclose // ask closes it
		what := c.method + " " + c.path
		if response.StatusCode != c.status {
			t.Errorf("%s: got status %d; want %d", what, response.StatusCode, c.status)
		}
		isProtected(t, what, response.Header)
	}
}

// A page of another site reaches the port by its own name, which it changes to
// 127.0.0.1 (DNS rebinding), or by 127.0.0.1 from its own origin.
func TestAPageOfAnotherSiteNeitherReadsNorChangesAnything(t *testing.T) {
	t.Parallel()
	url := kit.StartNATS(t)
	config := kit.Write(t, "serve.yaml", "snmp.packet-rate: 5000\n")
	side := kit.Serve(t, url, "--config", config, "--mib-dir", "")
	lines := kit.Start(t, kit.Built().Pnagent, "attach", "lines", "--nats", url, "--source", "shop", "--http", "127.0.0.1:0", kit.Write(t, "orders.pnml", kit.OrdersNet))
	events := kit.Web{URL: "http://" + lines.Says(t, `receiving HTTP posts.*http=(\S+)`)[1]}
	cross := []string{"Sec-Fetch-Site", "cross-site", "Origin", "http://evil.example"}
	rebound := []string{"Sec-Fetch-Site", "same-origin", "Origin", "http://evil.example:9797"}
	for _, c := range []struct {
		rule string
		kit.Web
		method, path, host string
		headers            []string
		status             int
	}{
		{"a form of another site", side.Web, "POST", "/-/reload", "", cross, 403},
		{"a form of another site, in an old browser", side.Web, "PUT", "/-/reload", "", cross[2:], 403},
		{"events of another site", events, "POST", "/events", "", cross, 403},
		{"an event stream for another site", side.Web, "GET", "/api/v1/live", "", cross, 403},
		{"a rebound name reloads", side.Web, "POST", "/-/reload", "evil.example:9797", rebound, 403},
		{"a rebound name sends events", events, "POST", "/events", "evil.example:9797", rebound, 403},
		{"a rebound name reads", side.Web, "GET", "/api/v1/view", "evil.example:9797", nil, 403},
		{"a rebound name reads a stream", side.Web, "GET", "/api/v1/live", "evil.example:9797", nil, 403},
		{"a program reloads", side.Web, "POST", "/-/reload", "", nil, 200},
		{"localhost", side.Web, "GET", "/metrics", "localhost:9797", nil, 200},
	} {
		response := sendRequest(t, c.Web, c.method, c.path, c.host, c.headers...) //nolint:bodyclose // ask closes it
		if response.StatusCode != c.status {
			t.Errorf("%s: got status %d; want %d", c.rule, response.StatusCode, c.status)
		}
		isProtected(t, c.rule, response.Header)
	}
	s := side.Scrape(t)
	for reason, want := range map[string]float64{"host": 3, "origin": 3} {
		if got, _ := s.Value("pnagent_http_requests_refused_total", "reason", reason); got != want {
			t.Errorf("got %v requests refused for their %s; want %v", got, reason, want)
		}
	}
	side.Alarmed(t, "PnagentHTTPRefused", "pnagent_http_requests_refused_total")
	proxied := kit.Serve(t, url, "--mib-dir", "", "--web.allowed-hosts", "nets.example,other.example")
	if got := sendRequest(t, proxied.Web, "GET", "/metrics", "nets.example").StatusCode; got != 200 { //nolint:bodyclose // ask closes it
		t.Errorf("got status %d for a name of --web.allowed-hosts; want 200", got)
	}
}

// closedAt returns when the server closes each of the connections, the first one first.
func closedAt(connections []net.Conn) <-chan time.Time {
	at := make(chan time.Time, len(connections))
	for _, c := range connections {
		go func() {
			_, _ = io.Copy(io.Discard, c) // until either side closes it
			at <- time.Now()
		}()
	}
	return at
}

// Clients hold far more connections than the process may have open files. The
// metrics are reachable, and what lasts is saved.
func TestIdleConnectionsTakeNeitherTheMetricsNorTheFiles(t *testing.T) {
	t.Parallel()
	url, dir := kit.StartNATS(t), t.TempDir()
	state := filepath.Join(dir, "alarms.state")
	rules := kit.Write(t, "alarms.yaml", "defaults:\n  stuck: {after: 1s}\n")
	p := kit.Start(t, "sh", "-c", `ulimit -n 256 && exec "$0" "$@"`, kit.Built().Pnagent, "serve", "--nats", url, "--from-zero", "--web.listen-address", "127.0.0.1:0",
		"--log.format", "json", "--mib-dir", filepath.Join(dir, "mibs"), "--alarms", rules, "--alarm-state", state)
	side := kit.Web{URL: "http://" + p.Says(t, `"sidecar serves".*"http":"([^"]*)"`)[1]}
	p.Says(t, `fewer HTTP connections than viewers`)
	var silent []net.Conn
	for i := range 600 {
		ip := fmt.Sprintf("127.0.0.%d", 2+i%4)
		if i%2 == 0 { // waits before its first request
			c, err := dialFrom(side, ip)
			if err != nil {
				t.Fatal(err)
			}
			t.Cleanup(func() { _ = c.Close() })
			silent = append(silent, c)
		} else if _, status, err := requestFrom(t, side, ip, "/-/healthy"); err != nil || status != 200 {
			t.Fatalf("got %d, %v; want 200 for the newest connection", status, err)
		}
	}
	ended := now(p)
	closed := closedAt(silent)
	for _, ip := range []string{"127.0.0.1", "127.0.0.2"} {
		if _, status, err := requestFrom(t, side, ip, "/metrics"); err != nil || status != 200 {
			t.Errorf("got %d, %v for /metrics from %s; want 200", status, err, ip)
		}
	}
	within(t, "the metrics are reachable", 0, ended, time.Now())
	if closed, _ := side.Self(t).Value("pnagent_http_connections_closed_total", "reason", "waiting"); closed < 400 {
		t.Errorf("got %v connections closed that waited; want 400 or more of 600", closed)
	}
	side.Alarmed(t, "PnagentHTTPRefused", "pnagent_http_connections_closed_total")
	kit.RunEngine(t, url, "berlin", "--bindings", kit.Write(t, "bindings.yaml", kit.StuckBindings), kit.Write(t, "claims.pnml", kit.StuckNet))
	kit.Until(t, "an alarm and the numbers of a new net are saved", func() error {
		alarms, err := os.ReadFile(state)
		numbers, err2 := os.ReadFile(filepath.Join(dir, "mibs", "oids.lock"))
		err = errors.Join(err, err2)
		if err == nil && (!strings.Contains(string(alarms), "claims") || !strings.Contains(string(numbers), "claims")) {
			err = fmt.Errorf("%.200s and %.200s", alarms, numbers)
		}
		return err
	})
	last := ended.Time
	for range silent {
		if at := <-closed; at.After(last) {
			last = at
		}
	}
	within(t, "all connections without a request are closed", 5*time.Second, ended, last)
	if text := p.Err.String(); strings.Contains(text, "too many open files") {
		t.Errorf("got too many open files; want some left: %.2000s", text)
	}
	p.Stop(t, syscall.SIGTERM)
}

//promise:bounds hostile
func TestViewersOfOneAddressLeaveRoomForThoseOfAnother(t *testing.T) {
	t.Parallel()
	side := kit.Serve(t, kit.StartNATS(t), "--mib-dir", "", "--web.viewers", "12", "--web.viewers-per-address", "10")
	var viewers []net.Conn
	count := func(ip string, n int) map[int]int {
		statuses := map[int]int{}
		for range n {
			c, status, err := requestFrom(t, side.Web, ip, "/api/v1/live")
			if err != nil {
				t.Fatal(err)
			}
			viewers = append(viewers, c)
			statuses[status]++
		}
		return statuses
	}
	if got := count("127.0.0.2", 30); got[200] != 10 || got[429] != 20 {
		t.Errorf("got statuses %v for 30 viewers of an address; want 10 accepted", got)
	}
	if got := count("127.0.0.3", 4); got[200] != 2 || got[503] != 2 {
		t.Errorf("got statuses %v for 4 viewers of another address; want 2 accepted", got)
	}
	s := side.Scrape(t)
	for reason, want := range map[string]float64{"address": 20, "viewers": 2, "requests": 0} {
		if got, _ := s.Value("pnagent_web_requests_refused_total", "reason", reason); got != want {
			t.Errorf("got %v refused for %s; want %v", got, reason, want)
		}
	}
	response := sendRequest(t, side.Web, "GET", "/api/v1/live", "") //nolint:bodyclose // ask closes it
	if text, err := io.ReadAll(response.Body); err != nil || response.StatusCode != http.StatusServiceUnavailable || response.Header.Get("Retry-After") == "" || !strings.Contains(string(text), "12 viewers") {
		t.Errorf("got %d, %s, %v; want 503, when to retry, and the limit", response.StatusCode, text, err)
	}
	side.Alarmed(t, "PnagentHTTPRefused", "pnagent_web_requests_refused_total")
	for _, c := range viewers {
		_ = c.Close()
	}
	ended := now(side.Process)
	kit.Until(t, "a viewer is accepted", func() error {
		_, status, err := requestFrom(t, side.Web, "127.0.0.3", "/api/v1/live")
		if err == nil && status != http.StatusOK {
			err = fmt.Errorf("status %d", status)
		}
		return err
	})
	within(t, "a viewer is accepted", 0, ended, time.Now())
}

// sendRequest sends a request with a Host header, which may be "", and other headers.
func sendRequest(t *testing.T, w kit.Web, method, path, host string, headers ...string) *http.Response {
	t.Helper()
	r, err := http.NewRequest(method, w.URL+path, nil)
	if err != nil {
		t.Fatal(err)
	}
	r.Host = host
	for i := 0; i < len(headers); i += 2 {
		r.Header.Set(headers[i], headers[i+1])
	}
	client := http.Client{Timeout: kit.Patience, Transport: &http.Transport{DisableKeepAlives: true},
		CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }}
	response, err := client.Do(r)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = response.Body.Close() })
	return response
}

// dialFrom opens a connection from an address of this machine.
func dialFrom(w kit.Web, ip string) (net.Conn, error) { return dialWith(w, ip, nil) }

func dialWith(w kit.Web, ip string, set func(network, address string, c syscall.RawConn) error) (net.Conn, error) {
	d := net.Dialer{LocalAddr: &net.TCPAddr{IP: net.ParseIP(ip)}, Control: set}
	return d.DialContext(context.Background(), "tcp", strings.TrimPrefix(w.URL, "http://"))
}

// requestFrom sends a request at a new connection, and returns the connection, which
// stays open, and the status of the answer.
func requestFrom(t *testing.T, w kit.Web, ip, path string) (net.Conn, int, error) {
	t.Helper()
	c, err := dialFrom(w, ip)
	if err != nil {
		return nil, 0, err
	}
	t.Cleanup(func() { _ = c.Close() })
	if err := c.SetDeadline(time.Now().Add(kit.Patience)); err != nil {
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
