// SPDX-License-Identifier: Apache-2.0

package commands

import (
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"github.com/pnagent/pnagent/e2e/kit"
)

// Rules for alarms are read again by a signal or over HTTP; a fault in them is
// answered with its place and changes nothing; the rest of the configuration
// is not taken, and said to be so.
func TestTheConfigurationIsReadAgain(t *testing.T) {
	t.Parallel()
	calm := "snmp.packet-rate: 5000\n" + kit.Inline("defaults:\n  stuck: {after: 1h, clear_after: 100ms}\n  starved: off\n  deadlocked: off")
	config := kit.Write(t, "serve.yaml", calm)
	rewrite := func(text string) {
		t.Helper()
		if err := os.WriteFile(config, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	url := kit.StartNATS(t)
	side := kit.Serve(t, url, "--config", config, "--mib-dir", "")
	kit.RunEngine(t, url, "berlin", "--bindings", kit.Write(t, "bindings.yaml", kit.StuckBindings), kit.Write(t, "claims.pnml", kit.StuckNet))
	alarms := func(want int) {
		t.Helper()
		kit.Until(t, fmt.Sprintf("%d alarms are active", want), func() error {
			if got := side.Alarms(t); len(got) != want {
				return fmt.Errorf("%+v", got)
			}
			return nil
		})
	}
	good := func(want float64) {
		t.Helper()
		kit.Until(t, "the metrics tell how it went", func() error {
			if got, ok := side.Scrape(t).Value("pnagent_config_last_reload_successful"); !ok || got != want {
				return fmt.Errorf("%v, %v", got, ok)
			}
			return nil
		})
	}
	kit.Until(t, "the engine is received", func() error {
		if v := side.View(t); len(v.Nets) != 1 {
			return fmt.Errorf("%d nets", len(v.Nets))
		}
		return nil
	})
	alarms(0)

	rewrite(strings.Replace(calm, "after: 1h", "after: 1s", 1))
	side.Signal(t, syscall.SIGHUP)
	alarms(1)
	good(1)

	rewrite(strings.Replace(calm, "after: 1h", "after: soon", 1))
	if status, body := reloads(t, side.Web); status != http.StatusInternalServerError || !strings.Contains(body, `serve.yaml:4:20: found "soon"; expected a duration`) {
		t.Errorf("got %d: %s; want 500 with the fault", status, body)
	}
	good(0)
	alarms(1)

	rewrite(strings.Replace(calm, "5000", "6000", 1))
	if status, body := reloads(t, side.Web); status != http.StatusOK {
		t.Errorf("got %d: %s; want 200", status, body)
	}
	alarms(0)
	good(1)
	side.Says(t, `"configuration changed","key":"alarms","effect":"now"`)
	side.Says(t, `"configuration changed","key":"snmp.packet-rate","effect":"at the next start"`)

	rewrite(calm + "agentx: /var/agentx\n")
	if status, body := reloads(t, side.Web); status != http.StatusInternalServerError || !strings.Contains(body, `expected unix:/path or tcp:host:port`) {
		t.Errorf("got %d: %s; want 500 with the fault of a key that takes effect at the next start", status, body)
	}
	good(0)
	rewrite(calm + "log.level: error\n")
	if status, body := reloads(t, side.Web); status != http.StatusOK {
		t.Errorf("got %d: %s; want 200", status, body)
	}
	side.Says(t, `"configuration changed","key":"log.level","effect":"now"`)
	good(1)
}

// systemd opens the socket and keeps it while the sidecar is restarted.
func TestHTTPIsServedAtTheSocketOfSystemd(t *testing.T) {
	t.Parallel()
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer listener.Close()
	socket, err := listener.(*net.TCPListener).File()
	if err != nil {
		t.Fatal(err)
	}
	defer socket.Close()
	at := kit.Web{URL: "http://" + listener.Addr().String()}
	url := kit.StartNATS(t)
	for range 2 {
		side := kit.StartWith(t, []*os.File{socket}, "sh", "-c", `LISTEN_PID=$$ LISTEN_FDS=1 exec "$0" "$@"`,
			kit.Built().Pnagent, "serve", "--nats", url, "--mib-dir", "", "--web.systemd-socket")
		at.Page(t, "/-/healthy")
		if side.Cmd.ProcessState != nil { // which waits in the socket until it is there
			t.Fatal("the sidecar has ended; want it to run on")
		}
		side.Stop(t, syscall.SIGTERM)
	}
	r := kit.Pnagent(t, "serve", "--nats", url, "--mib-dir", filepath.Join(t.TempDir(), "none"), "--web.systemd-socket")
	kit.WantFailure(t, r, 2, "--web.systemd-socket: 0 sockets were handed over; expected one")
}

// reloads asks for the configuration to be read again, and returns what is
// answered.
func reloads(t *testing.T, w kit.Web) (status int, body string) {
	t.Helper()
	response, err := http.Post(w.URL+"/-/reload", "", nil)
	if err != nil {
		t.Fatal(err)
	}
	defer response.Body.Close()
	text, err := io.ReadAll(response.Body)
	if err != nil {
		t.Fatal(err)
	}
	return response.StatusCode, string(text)
}
