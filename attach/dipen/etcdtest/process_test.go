// SPDX-License-Identifier: Apache-2.0

package etcdtest

import (
	"context"
	"encoding/hex"
	"fmt"
	"io"
	"net/http"
	"os/exec"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/pnagent/pnagent/internal/buildtest"
	"github.com/pnagent/pnagent/internal/logtest"
)

// The requested objects of PETRINET-MIB, under the default root: the time of
// the View, the age of the table, and the ids, ages and dates of the oldest
// tokens of places.
const (
	viewTime    = "1.3.6.1.4.1.8072.9999.9999.1.1.1.5.0"
	viewAge     = "1.3.6.1.4.1.8072.9999.9999.1.1.1.6.0"
	oldestSince = "1.3.6.1.4.1.8072.9999.9999.1.1.3.1.7"
	oldestAges  = "1.3.6.1.4.1.8072.9999.9999.1.1.3.1.6"
	placeIDs    = "1.3.6.1.4.1.8072.9999.9999.1.1.3.1.2"
)

// program is a running pnagent; it ends with the test.
type program struct {
	said logtest.Buffer
	cmd  *exec.Cmd
	done chan struct{}
}

// buildPnagent builds the binary as users get it.
func buildPnagent(t *testing.T) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), "pnagent")
	if err := buildtest.Build(t.Context(), filepath.Join("..", "..", ".."), path, "./cmd/pnagent"); err != nil {
		t.Fatal(err)
	}
	return path
}

func run(t *testing.T, path string, args ...string) *program {
	t.Helper()
	p := &program{cmd: exec.Command(path, args...), done: make(chan struct{})}
	p.cmd.Stderr, p.cmd.Dir = &p.said, t.TempDir()
	if err := p.cmd.Start(); err != nil {
		t.Fatal(err)
	}
	go func() {
		defer close(p.done)
		_ = p.cmd.Wait() // the result is in ProcessState
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
	_ = p.cmd.Process.Kill() // fails only if it has ended
	<-p.done
}

// says waits until stderr matches, and returns the groups.
func (p *program) says(t *testing.T, pattern string) (groups []string) {
	t.Helper()
	re := regexp.MustCompile(pattern)
	until(t, "pnagent says "+pattern, func() error {
		if groups = re.FindStringSubmatch(p.said.String()); groups == nil {
			return errText("not said yet")
		}
		return nil
	})
	return groups
}

// page returns the present content of /metrics.
func page(t *testing.T, url string) []byte {
	t.Helper()
	req, err := http.NewRequestWithContext(t.Context(), http.MethodGet, url+"/metrics", nil)
	if err != nil {
		t.Fatal(err)
	}
	req.Header.Set("Cache-Control", "no-cache") // not a cached page
	resp, err := http.DefaultClient.Do(req)
	if err != nil {
		t.Fatal(err)
	}
	defer resp.Body.Close()
	body, err := io.ReadAll(resp.Body)
	if err != nil {
		t.Fatal(err)
	}
	return body
}

// metrics returns the values of one family by one label.
func metrics(t *testing.T, url, family, label string) map[string]float64 {
	t.Helper()
	out := map[string]float64{}
	re := regexp.MustCompile(`(?m)^` + family + `\{[^}]*` + label + `="([^"]*)"[^}]*\} (\S+)`)
	for _, m := range re.FindAllStringSubmatch(string(page(t, url)), -1) {
		out[m[1]] = number(t, m[2])
	}
	return out
}

// snmp runs a net-snmp tool and returns names and values.
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

// The age of a stuck token is right in snmpget and in Prometheus, even if the
// adapter was killed and restarted meanwhile.
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
			"--source", "adapter", "--interval", "200ms", "--web.listen-address", "127.0.0.1:0")
		p.says(t, `msg="watching etcd"`)
		return p
	}
	// agree waits until the faces show the true state, and the adapter is
	// certain of its times.
	agree := func(p *program) {
		t.Helper()
		until(t, "the faces show the truth", func() error { return facesShow(t, m, url) })
		itself := "http://" + p.says(t, `msg="Listening on" address=(\S+)`)[1]
		until(t, "the adapter has received everything", func() error {
			if alone(t, itself, "pnagent_dipen_revision") < float64(m.revision) {
				return errText("not yet")
			}
			return nil
		})
		m.received()
		looks, snapshots := alone(t, itself, "pnagent_dipen_looks_total"), 0.0
		until(t, "the adapter has looked", func() error {
			snapshots = alone(t, itself, "pnagent_dipen_snapshots_total")
			if alone(t, itself, "pnagent_dipen_looks_total") == looks {
				return errText("not yet")
			}
			return nil
		})
		views := 0.0
		until(t, "it has published what it is sure of", func() error {
			views = alone(t, url, "pnagent_view_generation")
			if alone(t, itself, "pnagent_dipen_snapshots_total") < snapshots+2 {
				return errText("not yet")
			}
			return nil
		})
		until(t, "that is added up", func() error {
			if alone(t, url, "pnagent_view_generation") < views+2 {
				return errText("not yet")
			}
			return nil
		})
	}
	adapter := attach()
	stuck := m.inject(0)
	m.steps(60)
	m.crash("north") // so that no transition holds the token
	m.crash("south")
	for m.born[stuck].IsZero() {
		stuck = m.inject(0)
	}
	agree(adapter)
	adapter.kill()
	m.steps(30)
	m.crash("north")
	m.crash("south")
	agree(attach())
	waitFor(t, m, 4*time.Second) // so that tokens of the new process would show a difference
	compareAges(t, m, url, agent)
}

// facesShow compares the metrics with the true state.
func facesShow(t *testing.T, m *emulation, url string) error {
	t.Helper()
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

// alone returns the value of a family without labels.
func alone(t *testing.T, url, family string) float64 {
	t.Helper()
	found := regexp.MustCompile(`(?m)^` + family + ` (\S+)`).FindSubmatch(page(t, url))
	if found == nil {
		t.Fatalf("there is no %s", family)
	}
	return number(t, string(found[1]))
}

// waitFor waits until the oldest token of every place has an age.
func waitFor(t *testing.T, m *emulation, age time.Duration) {
	t.Helper()
	until(t, fmt.Sprint("all oldest tokens are ", age, " old"), func() error {
		for _, born := range m.oldest() {
			if time.Since(born.earliest) <= age {
				return errText("not yet")
			}
		}
		return nil
	})
}

// compareAges compares when the oldest token of each place was put with both
// faces: with the age in Prometheus at the time of the scrape, and with the
// date and the age of one table over SNMP.
func compareAges(t *testing.T, m *emulation, url, agent string) {
	t.Helper()
	names := snmp(t, "snmpwalk", agent, placeIDs)
	for place, want := range m.oldest() {
		var row string
		for name, id := range names {
			if id == place {
				row = strings.TrimPrefix(name, placeIDs)
			}
		}
		begun := time.Now()
		age := ago(metrics(t, url, "petrinet_place_oldest_token_age_seconds", "place")[place])
		want.within(t, place+" in Prometheus", begun.Add(age), time.Now().Add(age))

		cells := snmp(t, "snmpget", agent, viewTime, viewAge, oldestSince+row, oldestAges+row)
		since, viewed := dateAndTime(t, cells[oldestSince+row]), dateAndTime(t, cells[viewTime])
		want.within(t, "pnPlaceOldestSince of "+place, since, since.Add(tenth))
		// Ages are rounded up, as of the time of the table.
		age = ago(number(t, cells[oldestAges+row])) - ago(number(t, cells[viewAge]))
		want.within(t, "pnPlaceOldestAge of "+place, viewed.Add(age-time.Second), viewed.Add(age+tenth+time.Second))
	}
}

// tenth is the precision of a date.
const tenth = 100 * time.Millisecond

func ago(seconds float64) time.Duration { return -time.Duration(seconds * float64(time.Second)) }

// within checks that d overlaps a range of time.
func (d dated) within(t *testing.T, what string, from, to time.Time) {
	t.Helper()
	if d.latest.Before(from) || d.earliest.Truncate(time.Microsecond).After(to) {
		t.Errorf("%s: since %v to %v, want %v to %v", what, from, to, d.earliest, d.latest)
	}
}

func number(t *testing.T, text string) float64 {
	t.Helper()
	n, err := strconv.ParseFloat(text, 64)
	if err != nil {
		t.Fatal(err)
	}
	return n
}

// dateAndTime parses a DateAndTime in UTC, which tools without MIB modules
// print as octets.
func dateAndTime(t *testing.T, text string) time.Time {
	t.Helper()
	b, err := hex.DecodeString(strings.ReplaceAll(strings.TrimSpace(text), " ", ""))
	if err != nil || len(b) != 11 || b[9] != 0 || b[10] != 0 {
		t.Fatalf("%q is no DateAndTime in UTC: %v", text, err)
	}
	return time.Date(int(b[0])<<8|int(b[1]), time.Month(b[2]), int(b[3]), int(b[4]), int(b[5]), int(b[6]), int(b[7])*1e8, time.UTC)
}
