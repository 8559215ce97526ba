// SPDX-License-Identifier: Apache-2.0

package fleetsim

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"os"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
)

func TestTimeOfTheGarbageCollectorIsReadFromGCTrace(t *testing.T) {
	const line = "gc 7 @2.104s 3%: 0.049+1.5+0.003 ms clock, 0.05+0.5/1.25/9.0+0.2 ms cpu, 7->8->4 MB, 8 MB goal, 0 MB stacks, 0 MB globals, 1 P"
	for text, want := range map[string]time.Duration{
		line:                                  2 * time.Millisecond, // 9 ms were of idle processors
		line + " (forced)":                    2 * time.Millisecond,
		"":                                    -1,
		"gc ":                                 -1,
		`{"level":"WARN"}`:                    -1,
		"scvg: 8 MB released":                 -1,
		strings.Replace(line, "/", "", 1):     -1,
		strings.Replace(line, "1.25", "x", 1): -1,
	} {
		got, is := gcTime(text)
		if !is {
			got = -1
		}
		if got != want {
			t.Errorf("%q: %v, want %v", text, got, want)
		}
	}
}

func TestUseOfAProcessIsRead(t *testing.T) {
	u, err := usedBy(os.Getpid())
	if err != nil || u.rss == 0 || u.rssTop < u.rss {
		t.Errorf("got %+v, %v; want a resident size, at most its maximum", u, err)
	}
}

func FuzzOutputOfProcesses(f *testing.F) {
	f.Add("gc 7 @2.104s 3%: 0.049+1.5+0.003 ms clock, 0.05+0.5/1.25/9.0+0.2 ms cpu, 7->8->4 MB")
	f.Add("# TYPE pnagent_messages_rejected_total counter\npnagent_messages_rejected_total{reason=\"overrun\"} 1\n")
	f.Fuzz(func(_ *testing.T, text string) {
		_, _ = gcTime(text)
		_, _ = readReceived(text)
		p := &sidecar{ready: make(chan struct{})}
		p.read(text)
		p.read(text)
	})
}

//promise:dropped load
func TestWhatWasDroppedIsReadFromTheMetrics(t *testing.T) {
	const page = `# HELP go_goroutines Number of goroutines.
# TYPE go_goroutines gauge
go_goroutines 7
# TYPE pnagent_messages_total counter
pnagent_messages_total 1000
# TYPE pnagent_bytes_total counter
pnagent_bytes_total 2e+06
# TYPE pnagent_messages_lost_total counter
pnagent_messages_lost_total 7
# TYPE pnagent_messages_rejected_total counter
pnagent_messages_rejected_total{reason="duplicate"} 2
pnagent_messages_rejected_total{reason="old_epoch"} 0
pnagent_messages_rejected_total{reason="overrun"} 5
`
	got, err := readReceived(page)
	want := received{Messages: 1000, Bytes: 2e6, Lost: 7, Rejected: map[string]uint64{"duplicate": 2, "overrun": 5}}
	if d := cmp.Diff(want, got); err != nil || d != "" {
		t.Errorf("got %v, -want +got\n%s", err, d)
	}
	if n := got.dropped(); n != 9 { // 5 of the 7 lost ones were dropped by overruns
		t.Errorf("%d dropped, want 9", n)
	}
	if _, err := readReceived(""); err == nil {
		t.Error("a page without the metrics is accepted")
	}
}

// stopped returns a small truth, and a View that shows it.
func stopped() (*truth, *viewNet, time.Time) {
	now := time.Unix(1_700_000_000, 0)
	want, v := &truth{}, &viewNet{}
	for i := range size {
		want.places[i] = placeTotal{tokens: 1, arrivals: 3, departures: 2, dwell: 5e6}
		want.firings[i] = 2
		want.injected[i] = []int64{now.Add(-5 * time.Minute).UnixMicro()}
	}
	want.created, want.finished, want.active = 9, 4, 5
	v.Instances.Created, v.Instances.Finished, v.Instances.Active = 9, 4, 5
	v.Places = append(v.Places, make([]viewPlace, size)...)
	v.Transitions = append(v.Transitions, make([]viewTransition, size)...)
	for i := range size {
		v.Places[i] = viewPlace{Tokens: 1, Arrivals: 3, Departures: 2, Dwell: viewHistogram{Count: 2, Sum: 5},
			OlderThan: map[string]uint64{"1s": 1, "10s": 1, "1m": 1, "10m": 0, "1h": 0, "6h": 0, "1d": 0, "7d": 0}}
		v.Transitions[i].Firings = 2
	}
	return want, v, now
}

func TestDiffersFindsEachFault(t *testing.T) {
	want, v, now := stopped()
	if faults := want.differs(v, now); faults != nil {
		t.Fatal(faults)
	}
	for what, spoil := range map[string]func(*viewNet){
		"no rows":        func(v *viewNet) { v.Places = nil },
		"a token":        func(v *viewNet) { v.Places[3].Tokens++ },
		"an arrival":     func(v *viewNet) { v.Places[3].Arrivals-- },
		"a departure":    func(v *viewNet) { v.Places[49].Departures++ },
		"a dwell":        func(v *viewNet) { v.Places[3].Dwell.Count++ },
		"a sum":          func(v *viewNet) { v.Places[3].Dwell.Sum += 0.01 },
		"a firing":       func(v *viewNet) { v.Transitions[0].Firings++ },
		"an instance":    func(v *viewNet) { v.Instances.Active++ },
		"an age":         func(v *viewNet) { v.Places[3].OlderThan["10m"] = 1 },
		"an age missing": func(v *viewNet) { delete(v.Places[3].OlderThan, "7d") },
	} {
		want, v, now := stopped()
		spoil(v)
		if len(want.differs(v, now)) == 0 {
			t.Errorf("%s: got no difference; want one", what)
		}
	}
}

func TestSameFindsEachDifference(t *testing.T) {
	_, flat, _ := stopped()
	_, root, _ := stopped()
	flat.Up, root.Up, flat.Places[1].Oldest, root.Places[1].Oldest = 10_000, 4, 7, 7.5
	if faults := same(flat, root); faults != nil {
		t.Fatal(faults)
	}
	for what, spoil := range map[string]func(*viewNet){
		"size":       func(v *viewNet) { v.Places = v.Places[1:] },
		"tokens":     func(v *viewNet) { v.Places[3].Tokens++ },
		"age":        func(v *viewNet) { v.Places[3].Oldest = 2 },
		"ladder":     func(v *viewNet) { v.Places[3].OlderThan["7d"]++ },
		"percentile": func(v *viewNet) { v.Places[3].Dwell.P99++ },
		"stuck":      func(v *viewNet) { v.Places[3].Stuck = []viewToken{{Instance: "order-1"}} },
		"enabled":    func(v *viewNet) { v.Transitions[3].Enabled++ },
		"instances":  func(v *viewNet) { v.Instances.Failed++ },
		"blocks":     func(v *viewNet) { v.Blocks = []viewBlock{{Transition: "do-17"}} },
	} {
		_, spoiled, _ := stopped()
		spoil(spoiled)
		if len(same(flat, spoiled)) == 0 {
			t.Errorf("%s: got no difference; want one", what)
		}
	}
}

func TestStagesOfOptions(t *testing.T) {
	o, err := parse([]string{"--sources", "10, 20@3s,0", "--tree", "30", "--both", "0", "--below", "2"}, io.Discard)
	if err != nil {
		t.Fatal(err)
	}
	var got []string
	for _, s := range o.stages() {
		got = append(got, fmt.Sprint(s.kind, " ", s.sources, " ", s.interval))
	}
	if d := cmp.Diff([]string{"flat 10 1s", "flat 20 3s", "tree 30 1s"}, got); d != "" {
		t.Error(d)
	}
	for _, bad := range [][]string{{"--sources", "1"}, {"--sources", "x"}, {"--sources", "5@x"}, {"--sources", "5@-1s"}, {"--tree", "1"}, {"--both", "-1"}, {"--below", "0"},
		{"--interval", "0s"}, {"--measure", "0s"}, {"--warm-up", "-1s"}, {"10"}, {"--nosuch"}} {
		if _, err := parse(bad, io.Discard); err == nil {
			t.Errorf("%v: got no error; want one", bad)
		}
	}
}

// measuredReport returns a report with made-up figures.
func measuredReport() *report {
	yes, no := true, false
	top := sidecarOutcome{Name: "flat", Pinned: true, CPU: 0.12, GC: 0.05, RSS: 100 << 20, RSSTop: 110 << 20, Disk: 20_000, Age50: 0.5, Age99: 1.02, Ages: 100,
		Metrics: reading{0.1, 0.05, 500_000}, View: reading{0.2, 0.05, 600_000}, Walk: reading{1.5, 0.4, 20_000}, True: &yes}
	big := top
	big.CPU, big.RSS, big.True, big.Received = 0.39, 300<<20, &no, received{Lost: 3, Rejected: map[string]uint64{"overrun": 3}}
	root := sidecarOutcome{Name: "root", CPU: 0.02, RSS: 40 << 20, RSSTop: 40 << 20, Ages: 1, Age50: 1.5, Age99: 2.9, True: &yes}
	below := sidecarOutcome{Name: "below-1", CPU: 0.2, RSS: 120 << 20, RSSTop: 130 << 20}
	return &report{Machine: "a machine", Command: "go test ./e2e/fleetsim -run TestScale", Stages: []*outcome{
		{Kind: flatOnly, Sources: 1000, Interval: 1, Seconds: 30, Messages: 1000, Bytes: 1.6e6, Full: 0.1, Load: "0.10 0.20 0.30", Sidecars: []sidecarOutcome{top}},
		{Kind: flatOnly, Sources: 4000, Interval: 10, Seconds: 30, Messages: 4000, Bytes: 6.4e6, Sidecars: []sidecarOutcome{big}, Faults: []string{"step-00: tokens"}},
		{Kind: treeOnly, Sources: 2000, Interval: 0.5, Seconds: 30, Messages: 2000, Bytes: 3.2e6, Sidecars: []sidecarOutcome{root, below, below}},
		{Kind: both, Sources: 1000, Interval: 1, Seconds: 30, Messages: 1000, Bytes: 1.6e6, Sidecars: []sidecarOutcome{top, root}, Same: &yes},
	}}
}

func TestReportPrintsWhatWasMeasured(t *testing.T) {
	r := measuredReport()
	var text, markdown bytes.Buffer
	if err := r.text(&text); err != nil {
		t.Fatal(err)
	}
	if err := r.markdown(&markdown); err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{
		"| flat | 1,000 | 1 s | 1,000 | 1,600 | flat, pinned | 12.0 % | 5.0 % | 0.0 % | 100 MiB | 110 MiB | 20 | 500 ms | 1.02 s | 0 | the truth |",
		"| flat | 4,000 | 10 s | 4,000 | 6,400 | flat, pinned | 39.0 % | 5.0 % | 0.0 % | 300 MiB | 110 MiB | 20 | 500 ms | 1.02 s | 3 | NOT THE TRUTH |",
		"| tree | 2,000 | 0.5 s | 2,000 | 3,200 | below-1 | 20.0 % | 0.0 % | 0.0 % | 120 MiB | 130 MiB | 0 |  |  | 0 | a share |",
		"| both | 1,000 | 1 s | 1,000 | 1,600 | root | 2.0 % | 0.0 % | 0.0 % | 40 MiB | 40 MiB | 0 | 1.50 s | 2.90 s | 0 | the truth, the same |",
	} {
		if !strings.Contains(markdown.String(), want) {
			t.Errorf("got\n%s\nwant %q in it", markdown.String(), want)
		}
	}
	if !strings.Contains(text.String(), "the truth, the same") {
		t.Errorf("got\n%s\nwant \"the truth, the same\" in it", text.String())
	}
	err := r.verdict()
	if err == nil || !strings.Contains(err.Error(), "step-00: tokens") || !strings.Contains(err.Error(), "3 messages lost") {
		t.Errorf("got %v; want the faults of step-00 and the lost messages", err)
	}
	r.Stages = r.Stages[:1]
	if err := r.verdict(); err != nil {
		t.Errorf("verdict: %v", err)
	}
}

// The whole program: the processes of one sidecar and of a tree receive from the
// same small fleet.
func TestProcessesOfASmallFleetShowTheSame(t *testing.T) {
	t.Parallel()
	if testing.Short() {
		t.Skip("builds and runs pnagent")
	}
	ctx, cancel := context.WithTimeout(t.Context(), 5*enough)
	defer cancel()
	program, err := buildProgram(ctx, t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	out, err := runStage(ctx, stageConfig{kind: both, sources: 51, below: 4, interval: 200 * time.Millisecond, churn: 0.01, warmUp: time.Second, measure: 4 * time.Second, silence: time.Second,
		program: program, processor: -1, stateDir: t.TempDir(), progress: t.Logf})
	if err != nil {
		t.Fatal(err)
	}
	r := report{Stages: []*outcome{out}}
	if err := r.verdict(); err != nil {
		t.Error(err)
	}
	if out.Same == nil || !*out.Same || len(out.Sidecars) != 6 || out.Messages == 0 {
		t.Errorf("got %+v; want the same of 6 sidecars", out)
	}
	if quiet := out.Sidecars[0].Silent; quiet == nil || quiet.Alarms < 50 || quiet.RSS == 0 {
		t.Errorf("while the fleet is silent there is %+v; want an alarm of each source, and what that costs", quiet)
	}
	for i := range 2 {
		p := &out.Sidecars[i]
		if p.True == nil || !*p.True || p.Ages == 0 || p.RSS == 0 || p.CPU == 0 || p.Metrics.Amount == 0 || p.View.Amount == 0 || p.Received.Messages == 0 {
			t.Errorf("got %+v; want the truth, and every amount above 0", p)
		}
	}
}
