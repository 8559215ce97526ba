// SPDX-License-Identifier: Apache-2.0

package etcdtest

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"math"
	"net/http"
	"os/exec"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
)

// The column of oldest ages in PETRINET-MIB, and that of ids, under the default
// root.
const (
	oldestAges = "1.3.6.1.4.1.8072.9999.9999.1.1.3.1.6"
	placeIDs   = "1.3.6.1.4.1.8072.9999.9999.1.1.3.1.2"
)

// program is pnagent that runs; it ends with the test.
type program struct {
	cmd  *exec.Cmd
	mu   sync.Mutex
	said bytes.Buffer
	done chan struct{}
}

func (p *program) Write(text []byte) (int, error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.said.Write(text)
}

// buildPnagent builds the binary as users get it.
func buildPnagent(t *testing.T) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), "pnagent")
	cmd := exec.Command("go", "build", "-o", path, "./cmd/pnagent")
	cmd.Dir = filepath.Join("..", "..", "..")
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Fatalf("building pnagent: %v\n%s", err, out)
	}
	return path
}

func run(t *testing.T, path string, args ...string) *program {
	t.Helper()
	p := &program{cmd: exec.Command(path, args...), done: make(chan struct{})}
	p.cmd.Stderr, p.cmd.Dir = p, t.TempDir()
	if err := p.cmd.Start(); err != nil {
		t.Fatal(err)
	}
	go func() {
		defer close(p.done)
		_ = p.cmd.Wait() // how it ended is in ProcessState
	}()
	t.Cleanup(func() {
		p.kill()
		if t.Failed() {
			t.Logf("%s\n%.4000s", strings.Join(args, " "), p.said.String())
		}
	})
	return p
}

func (p *program) kill() {
	_ = p.cmd.Process.Kill() // fails only where it has ended
	<-p.done
}

// says waits until stderr matches, and returns the groups.
func (p *program) says(t *testing.T, pattern string) (groups []string) {
	t.Helper()
	re := regexp.MustCompile(pattern)
	until(t, "pnagent says "+pattern, func() error {
		p.mu.Lock()
		defer p.mu.Unlock()
		if groups = re.FindStringSubmatch(p.said.String()); groups == nil {
			return errText("not said yet")
		}
		return nil
	})
	return groups
}

// metrics returns the values of one family by one label.
func metrics(t *testing.T, url, family, label string) map[string]float64 {
	t.Helper()
	req, err := http.NewRequestWithContext(t.Context(), http.MethodGet, url+"/metrics", nil)
	if err != nil {
		t.Fatal(err)
	}
	req.Header.Set("Cache-Control", "no-cache") // what is so now
	resp, err := http.DefaultClient.Do(req)
	if err != nil {
		t.Fatal(err)
	}
	defer resp.Body.Close()
	body, err := io.ReadAll(resp.Body)
	if err != nil {
		t.Fatal(err)
	}
	out := map[string]float64{}
	re := regexp.MustCompile(`(?m)^` + family + `\{[^}]*` + label + `="([^"]*)"[^}]*\} (\S+)`)
	for _, m := range re.FindAllStringSubmatch(string(body), -1) {
		if out[m[1]], err = strconv.ParseFloat(m[2], 64); err != nil {
			t.Fatal(err)
		}
	}
	return out
}

// snmp asks with a net-snmp tool and returns names and values.
func snmp(t *testing.T, tool, addr string, args ...string) map[string]string {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), patience)
	defer cancel()
	out, err := exec.CommandContext(ctx, tool, append([]string{"-v2c", "-c", "public", "-Onq", "-m", "", addr}, args...)...).Output()
	if err != nil {
		t.Fatalf("%s: %v", tool, err)
	}
	values := map[string]string{}
	for line := range strings.Lines(string(out)) {
		name, value, _ := strings.Cut(strings.TrimSpace(line), " ")
		values[strings.TrimPrefix(name, ".")] = strings.Trim(value, `"`)
	}
	return values
}

// A token that is stuck for a known time, some of it while the adapter was killed
// and started again, is as old in snmpget and in Prometheus as it is.
func TestTheSameOldestAgeInSNMPAndPrometheus(t *testing.T) {
	for _, tool := range []string{"snmpget", "snmpwalk"} {
		if _, err := exec.LookPath(tool); err != nil {
			t.Skipf("%s is not installed (Debian package snmp)", tool)
		}
	}
	path := buildPnagent(t)
	e := startEtcd(t, false)
	m := emulate(e, 9)
	nats := startNATS(t)
	side := run(t, path, "serve", "--nats", nats, "--web.listen-address", "127.0.0.1:0", "--snmp", "127.0.0.1:0",
		"--mib-dir", t.TempDir(), "--log.format", "json")
	at := side.says(t, `"sidecar serves".*"http":"([^"]*)","snmp":"([^"]*)"`)
	url, agent := "http://"+at[1], at[2]
	attach := func() *program {
		p := run(t, path, "attach", "dipen", "--nats", nats, "--etcd", e.url(), "--etcd.prefix", prefix, "--state", filepath.Join(side.cmd.Dir, "state"),
			"--source", "adapter", "--interval", "200ms")
		p.says(t, `msg="watching etcd"`)
		return p
	}
	adapter := attach()
	stuck := m.inject(0)
	m.steps(60)
	m.crash("north") // so that nobody holds the token
	m.crash("south")
	for m.born[stuck].IsZero() {
		stuck = m.inject(0)
	}
	published := func() error {
		want, got := m.truth(), newSeen()
		for id, n := range metrics(t, url, "petrinet_transition_firings_total", "transition") {
			if n > 0 {
				got.Firings[id] = uint64(n)
			}
		}
		for id, n := range metrics(t, url, "petrinet_place_tokens", "place") {
			if n > 0 {
				got.Tokens[id] = uint64(n)
			}
		}
		got.Arrivals, got.Cancels, got.Running = want.Arrivals, want.Cancels, want.Running
		if d := cmp.Diff(want, got); d != "" {
			return errText(d)
		}
		return nil
	}
	until(t, "the faces show the truth", published)
	waitFor(t, m, 2*time.Second) // the time of every revision is noted by then
	adapter.kill()
	m.steps(30)
	m.crash("north")
	m.crash("south")
	attach()
	until(t, "the faces show the truth, with what happened meanwhile", published)
	waitFor(t, m, 4*time.Second)
	compareAges(t, m, url, agent)
}

// waitFor waits until the oldest token of every place is so old.
func waitFor(t *testing.T, m *emulation, age time.Duration) {
	t.Helper()
	until(t, fmt.Sprint("all oldest tokens are ", age, " old"), func() error {
		for _, born := range m.oldest() {
			if time.Since(born) <= age {
				return errText("not yet")
			}
		}
		return nil
	})
}

// compareAges compares the oldest age of each place with the truth, as both faces
// show it. What SNMP shows is made once a second and rounded up, so it is asked
// more than once where the machine is busy; a wrong age would stay wrong.
func compareAges(t *testing.T, m *emulation, url, agent string) {
	t.Helper()
	names := snmp(t, "snmpwalk", agent, placeIDs)
	for place, born := range m.oldest() {
		var oid string
		for name, id := range names {
			if id == place {
				oid = oldestAges + strings.TrimPrefix(name, placeIDs)
			}
		}
		if time.Since(born) < 4*time.Second {
			t.Fatalf("the oldest token of place %s is too young to compare", place)
		}
		until(t, "the ages of place "+place+" are right", func() error {
			prom := metrics(t, url, "petrinet_place_oldest_token_age_seconds", "place")[place]
			scraped := time.Since(born).Seconds()
			age, err := strconv.ParseFloat(snmp(t, "snmpget", agent, oid)[oid], 64)
			if is := time.Since(born).Seconds(); err != nil || math.Abs(prom-scraped) > 1 || math.Abs(age-is) > 1 {
				return fmt.Errorf("%v s in Prometheus, %v s over SNMP, of %v s: %w", prom, age, is, err)
			}
			return nil
		})
	}
}
