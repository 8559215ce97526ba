// SPDX-License-Identifier: Apache-2.0

package temporaltest

import (
	"context"
	"encoding/json"
	"io"
	"net/http"
	"net/url"
	"os/exec"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"sync"
	"testing"

	"github.com/gosnmp/gosnmp"

	"github.com/pnagent/pnagent/internal/buildtest"
	"github.com/pnagent/pnagent/internal/logtest"
	"github.com/pnagent/pnagent/internal/porttest"
)

// programs builds pnagent and a NATS server into the directory of TestMain.
var programs = sync.OnceValue(func() error {
	for name, from := range map[string]string{"pnagent": "./cmd/pnagent", "nats-server": "github.com/nats-io/nats-server/v2"} {
		if err := buildtest.Build(context.Background(), filepath.Join("..", "..", ".."), filepath.Join(binaries, name), from); err != nil {
			return err
		}
	}
	return nil
})

// built returns the directory of the programs.
func built(t *testing.T) string {
	t.Helper()
	if err := programs(); err != nil {
		t.Fatal(err)
	}
	return binaries
}

// program is a running program; it ends with the test.
type program struct {
	said logtest.Buffer
	cmd  *exec.Cmd
	done chan struct{}
}

func run(t *testing.T, name string, args ...string) *program {
	t.Helper()
	p := &program{cmd: exec.Command(filepath.Join(built(t), name), args...), done: make(chan struct{})}
	p.cmd.Stderr, p.cmd.Dir = &p.said, t.TempDir()
	if err := p.cmd.Start(); err != nil {
		t.Fatal(err)
	}
	go func() {
		defer close(p.done)
		p.cmd.Wait() //nolint:errcheck // it is killed
	}()
	t.Cleanup(func() {
		p.kill()
		if t.Failed() {
			t.Logf("%s %s\n%.4000s", name, strings.Join(args, " "), p.said.String())
		}
	})
	return p
}

func (p *program) kill() {
	p.cmd.Process.Kill() //nolint:errcheck // it may have ended
	<-p.done
}

// faces are a NATS server and a sidecar.
type faces struct {
	t              *testing.T
	nats, web, udp string
}

func newFaces(t *testing.T) *faces {
	t.Helper()
	f := &faces{t: t, nats: porttest.Addr(t), web: porttest.Addr(t), udp: porttest.Addr(t)}
	_, port, _ := strings.Cut(f.nats, ":")
	run(t, "nats-server", "-a", "127.0.0.1", "-p", port)
	run(t, "pnagent", "serve", "--nats", "nats://"+f.nats, "--snmp", f.udp, "--mib-dir", "", "--web.listen-address", f.web)
	return f
}

// attach runs the adapter.
func (f *faces) attach(s *server, args ...string) *program {
	f.t.Helper()
	return run(f.t, "pnagent", append([]string{"attach", "temporal", "--nats", "nats://" + f.nats, "--address", s.address, "--source", "adapter", "--interval", "300ms"}, args...)...)
}

// get returns what a path of a program's web server has, "" while it does not
// answer.
func get(t *testing.T, address, path string) string {
	t.Helper()
	req, err := http.NewRequestWithContext(t.Context(), http.MethodGet, "http://"+address+path, nil)
	if err != nil {
		t.Fatal(err)
	}
	req.Header.Set("Cache-Control", "no-cache")
	resp, err := http.DefaultClient.Do(req)
	if err != nil {
		return ""
	}
	defer resp.Body.Close()
	text, err := io.ReadAll(resp.Body)
	if err != nil {
		return ""
	}
	return string(text)
}

// metric returns the value of a series, by the labels that it has, in their order.
func (f *faces) metric(family, net, label, value string) (float64, bool) {
	f.t.Helper()
	found := regexp.MustCompile(`(?m)^` + family + `\{net="` + net + `",` + label + `="` + regexp.QuoteMeta(value) + `"\} (\S+)`).FindStringSubmatch(get(f.t, f.web, "/metrics"))
	if found == nil {
		return 0, false
	}
	n, err := strconv.ParseFloat(found[1], 64)
	return n, err == nil
}

// stuck is a token as the page and its API have it.
type stuck struct {
	Instance, Injected string
	Waits              []struct{ Reason, What, Until string }
}

// stuckAt returns the oldest token of a place, by the API.
func (f *faces) stuckAt(net, place string) (stuck, bool) {
	f.t.Helper()
	var view struct {
		Nets []struct {
			ID     string
			Places []struct {
				ID    string
				Stuck []stuck
			}
		}
	}
	if json.Unmarshal([]byte(get(f.t, f.web, "/api/v1/view?net="+url.QueryEscape(net))), &view) != nil {
		return stuck{}, false
	}
	for _, n := range view.Nets {
		for _, p := range n.Places {
			if n.ID == net && p.ID == place && len(p.Stuck) > 0 {
				return p.Stuck[0], true
			}
		}
	}
	return stuck{}, false
}

// stuckTable is where the table of the same name is, under the default root.
const stuckTable = "1.3.6.1.4.1.8072.9999.9999.1.1.6.1"

// stuckRow returns the row of stuckTable of an instance: its age and its reason.
func (f *faces) stuckRow(instance string) (age uint64, why string, found bool) {
	f.t.Helper()
	host, port, _ := strings.Cut(f.udp, ":")
	number, err := strconv.ParseUint(port, 10, 16)
	if err != nil {
		f.t.Fatal(err)
	}
	c := &gosnmp.GoSNMP{Target: host, Port: uint16(number), Community: "public", Version: gosnmp.Version2c, Timeout: gosnmp.Default.Timeout, Retries: 3, MaxOids: 60}
	if err := c.Connect(); err != nil {
		f.t.Fatal(err)
	}
	defer c.Conn.Close()
	columns := map[string]map[string]any{}
	err = c.BulkWalk("."+stuckTable, func(v gosnmp.SnmpPDU) error {
		column, row, _ := strings.Cut(strings.TrimPrefix(v.Name, "."+stuckTable+"."), ".")
		if columns[column] == nil {
			columns[column] = map[string]any{}
		}
		columns[column][row] = v.Value
		return nil
	})
	if err != nil {
		return 0, "", false
	}
	for row, name := range columns["2"] {
		if text, ok := name.([]byte); ok && string(text) == instance {
			why, _ := columns["6"][row].([]byte)
			return gosnmp.ToBigInt(columns["3"][row]).Uint64(), string(why), true
		}
	}
	return 0, "", false
}
