// SPDX-License-Identifier: Apache-2.0

package dashboards

import (
	"context"
	"fmt"
	"io"
	"log/slog"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"github.com/nats-io/nats.go"

	"github.com/pnagent/pnagent/internal/logtest"
	"github.com/pnagent/pnagent/internal/natstest"
	"github.com/pnagent/pnagent/snmp/snmptest"
	"github.com/pnagent/pnagent/stats"
	"github.com/pnagent/pnagent/telemetry"
)

// trouble are nets in which something goes wrong: calls that fail, a loop, a
// deadlock, and more places than a small budget of series allows, in each of
// which a token is stuck.
const wide = 120

func trouble() string {
	var b strings.Builder
	net := func(id string, places, transitions string, arcs ...string) {
		fmt.Fprintf(&b, "<net id=%q type=\"http://www.pnml.org/version-2009/grammar/ptnet\"><page id=\"%s-page\">", id, id)
		for p := range strings.FieldsSeq(places) {
			name, marked := strings.CutSuffix(p, "*")
			fmt.Fprintf(&b, "<place id=%q>", name)
			if marked {
				b.WriteString("<initialMarking><text>1</text></initialMarking>")
			}
			b.WriteString("</place>")
		}
		for name := range strings.FieldsSeq(transitions) {
			fmt.Fprintf(&b, "<transition id=%q/>", name)
		}
		for i, arc := range arcs {
			from, to, _ := strings.Cut(arc, ">")
			fmt.Fprintf(&b, "<arc id=\"%s-arc%d\" source=%q target=%q/>", id, i, from, to)
		}
		b.WriteString("</page></net>")
	}
	b.WriteString(`<pnml xmlns="http://www.pnml.org/version-2009/grammar/pnml">`)
	net("claims", "asked answered", "ask call close", "ask>asked", "asked>call", "call>answered", "answered>close")
	net("circle", "left* right", "there back", "left>there", "there>right", "right>back", "back>left")
	net("dead-end", "begin* middle never end", "step leave", "begin>step", "step>middle", "middle>leave", "never>leave", "leave>end")
	var places, arcs []string
	for i := range wide {
		places, arcs = append(places, fmt.Sprintf("w%d*", i)), append(arcs, fmt.Sprintf("w%d>free", i))
	}
	net("wide", strings.Join(places, " "), "free", arcs...)
	return b.String() + "</pnml>"
}

const troubleBindings = `
  claims:
    priority: 2
    transitions:
      ask: {rate: 5/s}
      call: {http: {url: "http://%s/claims"}, retry: {first: 100ms, max: 500ms, factor: 2}, timeout: 5s}
  circle:
    transitions:
      there: {delay: 10ms}
      back: {delay: 10ms}
  wide:
    transitions:
      free: manual
`

// impatient are thresholds that raise every alarm within seconds. The state is written
// again in between, so that this can fail. No process listens at the webhook, so that events wait for it.
const impatient = `
settle: 1s
sinks:
  away: {webhook: "http://127.0.0.1:9"}
defaults:
  stuck:      {after: 3s, clear_after: 1s}
  starved:    {after: 3s, clear_after: 1s}
  lost:       {clear_after: 1s}
  conflict:   {for: 1s, clear_after: 1s}
  refused:    {for: 1s, clear_after: 1s}
  deadlocked: {for: 1s, clear_after: 1s}
  failures:   {above: 5%, runs: 5, window: 10s, clear_after: 1s}
  loop:       {above: 20/s, window: 5s, clear_after: 1s}
`

// load is a sidecar under load, with everything around it.
type load struct {
	dir     string
	bus     string
	address string   // of the sidecar's metrics
	engine  []string // a command line without nets
	serve   *process
	snmpd   *snmptest.Snmpd
}

// startLoad runs a sidecar with all its faces, and engines.
func startLoad(t *testing.T, bin string) *load {
	t.Helper()
	l := &load{dir: t.TempDir(), snmpd: snmptest.Start(t, snmptest.Config{})}
	l.bus = natstest.Run(t, natstest.Listen).ClientURL()
	peer := startPeer(t)
	bindings, err := os.ReadFile("../examples/bindings.yaml")
	if err != nil {
		t.Fatal(err)
	}
	bind := l.write(t, "bindings.yaml", string(bindings)+fmt.Sprintf(troubleBindings, peer))
	if err := os.Mkdir(filepath.Join(l.dir, "state"), 0o700); err != nil {
		t.Fatal(err)
	}
	l.serve = start(t, bin, "serve", "--nats", l.bus, "--up", "above", "--up.nats", l.bus, "--mib-dir", l.dir, "--web.listen-address", "127.0.0.1:0",
		"--snmp", "127.0.0.1:0", "--agentx", l.snmpd.AgentX, "--snmp.trap-sink", "127.0.0.1:9", "--snmp.inform",
		"--alarms", l.write(t, "alarms.yaml", impatient), "--alarm-state", filepath.Join(l.dir, "state", "alarms.state"),
		"--metrics.series-budget", "3000", "--forget-after", "10m")
	l.address = l.serve.says(t, `http=(127\.0\.0\.1:\d+)`)[1]
	nets := []string{"../examples/order-fulfilment.pnml", "../examples/backup-window.pnml", "../examples/packaging-line.pnml"}
	l.engine = []string{bin, "engine", "--nats", l.bus, "--bindings", bind, "--dispatch", "quoted", "--instances", "20", "--interval", "500ms"}
	l.run(t, "berlin", nets...)
	lost := l.run(t, "osaka", nets...)
	lost.says(t, "engine runs")
	l.waitFor(t, `petrinet_source_up\{net="backup-window",source="osaka"\} 1`)
	lost.signal(t, syscall.SIGKILL)
	return l
}

// run starts an engine.
func (l *load) run(t *testing.T, source string, nets ...string) *process {
	t.Helper()
	args := append(append(slices.Clone(l.engine[1:]), "--source", source), nets...)
	return start(t, l.engine[0], args...)
}

func (l *load) write(t *testing.T, name, text string) string {
	t.Helper()
	path := filepath.Join(l.dir, name)
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	return path
}

// waitFor waits until the sidecar shows a line.
func (l *load) waitFor(t *testing.T, pattern string) {
	t.Helper()
	re := regexp.MustCompile(pattern)
	await(t, "the sidecar shows "+pattern, func() bool {
		text, _ := get("http://" + l.address + "/metrics")
		return re.MatchString(text)
	})
}

// trouble causes each fault once: alarms cannot be written, their new thresholds are
// invalid, and an engine runs nets that deadlock.
func (l *load) trouble(t *testing.T) {
	t.Helper()
	if err := os.RemoveAll(filepath.Join(l.dir, "state")); err != nil {
		t.Fatal(err)
	}
	l.write(t, "state", "where a directory was")
	l.write(t, "alarms.yaml", "defaults: {stuck: never}\n")
	l.serve.signal(t, syscall.SIGHUP)
	l.run(t, "troubled", l.write(t, "trouble.pnml", trouble()))
}

// misbehave does again and again what engines and people should not, so that
// rates are not zero.
func (l *load) misbehave(t *testing.T, stop <-chan struct{}) {
	nc, err := nats.Connect(l.bus, nats.Timeout(patience))
	if err != nil {
		t.Error(err)
		return
	}
	defer nc.Close()
	for _, end := range []func(){split(t, nc, "north", 0), split(t, nc, "south", 1), twin(t, nc), twin(t, nc)} {
		defer end()
	}
	for seq := uint64(1); ; seq += 10 {
		if err := nc.Publish(telemetry.Subjects{}.Snapshot("claims", "garbler"), []byte("no snapshot")); err != nil {
			t.Error(err)
		}
		if err := nc.Publish(telemetry.Subjects{}.Snapshot("claims", "gappy"), gappy(t, seq)); err != nil {
			t.Error(err)
		}
		// A short timeout: the agent may be gone already.
		_, _ = l.snmpd.Run(t.Context(), "snmpgetnext", []string{"-t", "1", "-r", "0"}, ".1.3.6.1.4.1.8072.9999.9999")
		select {
		case <-stop:
			return
		case <-time.After(time.Second):
		}
	}
}

// crowd asks for more pages at once than the sidecar gives, until it refuses.
// Prometheus is refused meanwhile, too.
func (l *load) crowd(t *testing.T) {
	t.Helper()
	var refused atomic.Bool
	await(t, "a scrape is refused", func() bool {
		var many sync.WaitGroup
		for range 100 {
			many.Go(func() {
				text, err := get("http://" + l.address + "/metrics")
				if err != nil || strings.Contains(text, "no more are taken") {
					refused.Store(true)
				}
			})
		}
		many.Wait()
		return refused.Load()
	})
}

// gappy is a snapshot of a source that loses nine of ten.
func gappy(t *testing.T, seq uint64) []byte {
	s := telemetry.Snapshot{Source: "gappy", Epoch: 1, Seq: seq, SentAt: time.Now().UnixMicro(), Interval: time.Second,
		Net: "claims", Digest: strings.Repeat("0", 32), Full: true, Rows: stats.Rows{Columns: stats.ColInstances}}
	text, err := new(telemetry.Encoder).Append(nil, &s)
	if err != nil {
		t.Error(err)
	}
	return text
}

// twin is one of two processes of a source, until it is ended.
func twin(t *testing.T, nc *nats.Conn) (end func()) {
	const pnml = `<pnml><net id="twins" type="http://www.pnml.org/version-2009/grammar/ptnet"><page id="page"><place id="one"/></page></net></pnml>`
	return publish(t, telemetry.Config{Conn: nc, Source: "twin", Nets: []telemetry.SourceNet{{ID: "twins", PNML: []byte(pnml), Places: 1}}})
}

// split is the owner of a region that has some standbys, until it is ended.
func split(t *testing.T, nc *nats.Conn, region string, standbys uint32) (end func()) {
	const pnml = `<pnml><net id="split" type="http://www.pnml.org/version-2009/grammar/ptnet"><page id="page"><place id="shared"/></page></net></pnml>`
	var commits uint64
	return publish(t, telemetry.Config{Conn: nc, Source: region,
		Nets: []telemetry.SourceNet{{ID: "split", PNML: []byte(pnml), Places: 1, Region: region, Fence: 3, Since: 1}},
		Region: func(int) *telemetry.RegionState {
			commits++
			state := &telemetry.RegionState{Position: commits, Standbys: standbys}
			if standbys == 0 {
				state.Stopped = "a log has lost commits"
			}
			if standbys > 0 {
				state.Lag = new(uint64)
			}
			return state
		},
		Refused: func(int) *stats.RefusedRequests { return &stats.RefusedRequests{commits} }})
}

// publish publishes rows of tokens until it is ended.
func publish(t *testing.T, cfg telemetry.Config) (end func()) {
	cfg.Interval, cfg.Log = 200*time.Millisecond, slog.New(slog.DiscardHandler)
	cfg.Rows = func(_ int, _ int64, into *stats.Rows) error { into.Columns = stats.ColTokens; return nil }
	p, err := telemetry.Start(cfg)
	if err != nil {
		t.Error(err)
		return func() {}
	}
	return func() {
		ctx, cancel := context.WithTimeout(context.Background(), time.Second)
		defer cancel()
		_ = p.Leave(ctx) // the server may be gone already
	}
}

// startPeer is what claims call: it fails nine times of ten.
func startPeer(t *testing.T) string {
	t.Helper()
	var mu sync.Mutex
	calls := 0
	return serveHTTP(t, http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		mu.Lock()
		calls++
		fails := calls%10 != 0
		mu.Unlock()
		if fails {
			http.Error(w, "busy", http.StatusServiceUnavailable)
		}
	}))
}

// process is a program that runs until the test ends.
type process struct {
	logtest.Buffer // what it has said so far
	cmd            *exec.Cmd
}

func start(t *testing.T, path string, args ...string) *process {
	t.Helper()
	p := &process{cmd: exec.Command(path, args...)}
	p.cmd.Stdout, p.cmd.Stderr = io.Discard, p
	if err := p.cmd.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		_ = p.cmd.Process.Kill() // it may have ended
		_ = p.cmd.Wait()         // how it ended does not matter
		if t.Failed() {
			t.Logf("%s:\n%.4000s", strings.Join(args, " "), p)
		}
	})
	return p
}

func (p *process) signal(t *testing.T, s syscall.Signal) {
	t.Helper()
	if err := p.cmd.Process.Signal(s); err != nil {
		t.Error(err)
	}
}

// says waits until the program's log matches, and returns the groups.
func (p *process) says(t *testing.T, pattern string) []string {
	t.Helper()
	re := regexp.MustCompile(pattern)
	var groups []string
	await(t, "the log says "+pattern, func() bool {
		groups = re.FindStringSubmatch(p.String())
		return groups != nil
	})
	return groups
}

// client keeps no connections, so that nothing is left when a test ends.
var client = &http.Client{Transport: &http.Transport{DisableKeepAlives: true}, Timeout: patience}

func get(url string) (string, error) {
	response, err := client.Get(url)
	if err != nil {
		return "", err
	}
	defer response.Body.Close()
	text, err := io.ReadAll(response.Body)
	return string(text), err
}

// await waits until a condition holds.
func await(t *testing.T, what string, holds func() bool) {
	t.Helper()
	for deadline := time.Now().Add(time.Minute); !holds(); <-time.After(50 * time.Millisecond) {
		if time.Now().After(deadline) {
			t.Fatalf("waiting until %s took more than a minute", what)
		}
	}
}
