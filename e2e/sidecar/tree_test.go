// SPDX-License-Identifier: Apache-2.0

package sidecar

import (
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"github.com/pnagent/pnagent/e2e/kit"
	"github.com/pnagent/pnagent/internal/porttest"
	"github.com/pnagent/pnagent/mib/smi"
	"github.com/pnagent/pnagent/snmp/snmptest"
	"github.com/pnagent/pnagent/telemetry"
)

func serveFlat(t *testing.T, natsURL string) *kit.Sidecar {
	t.Helper()
	return kit.Serve(t, natsURL, "--snmp", porttest.Addr(t), "--mib-dir", "")
}

// ofTree reports whether a family or a key of the view is about sources: there the root
// shows its children.
func ofTree(name string) bool {
	for _, own := range []string{"petrinet_source_", "petrinet_region_", "sources", "digests", "since", "generation", "traffic"} {
		if strings.HasPrefix(name, own) {
			return true
		}
	}
	return name == "at"
}

// moment is when something was read: between the two.
type moment struct{ begun, got time.Time }

// since returns the start of something that has an age in seconds.
func (m moment) since(age float64) kit.Dated {
	d := time.Duration(age * float64(time.Second))
	return kit.Dated{Earliest: m.begun.Add(-d), Latest: m.got.Add(-d)}
}

// sameAge reports whether two ages, each at its own time, are of the same thing.
func sameAge(a float64, at moment, b float64, then moment) bool {
	x, y := at.since(a), then.since(b)
	return !x.Earliest.After(y.Latest.Add(rounding)) && !y.Earliest.After(x.Latest.Add(rounding))
}

// rounding is how far two ages of one time may be apart, which are computed from
// microseconds in floating point.
const rounding = 10 * time.Microsecond

// sameMetrics compares all metrics of nets of two sidecars.
func sameMetrics(flat, root kit.Scrape) error {
	var faults []error
	read := func(s kit.Scrape, name string) map[string][]float64 {
		all := map[string][]float64{}
		for _, m := range s.Families[name].GetMetric() {
			values := []float64{m.GetGauge().GetValue(), m.GetCounter().GetValue(), float64(m.GetHistogram().GetSampleCount()), m.GetHistogram().GetSampleSum()}
			for _, b := range m.GetHistogram().GetBucket() {
				values = append(values, b.GetUpperBound(), float64(b.GetCumulativeCount()))
			}
			all[fmt.Sprint(m.GetLabel())] = values
		}
		return all
	}
	names := map[string]bool{}
	for _, s := range []kit.Scrape{flat, root} {
		for name := range s.Families {
			if strings.HasPrefix(name, "petrinet_") && !ofTree(name) {
				names[name] = true
			}
		}
	}
	if len(names) < 20 {
		return fmt.Errorf("only %d families are compared", len(names))
	}
	for name := range names {
		aged := strings.Contains(name, "age_seconds")
		same := cmp.Comparer(func(a, b float64) bool {
			return a == b || aged && (sameAge(a, moment{flat.Begun, flat.Got}, b, moment{root.Begun, root.Got}) || sameAge(b, moment{flat.Begun, flat.Got}, a, moment{root.Begun, root.Got}))
		})
		if d := cmp.Diff(read(flat, name), read(root, name), same); d != "" {
			faults = append(faults, fmt.Errorf("%s, -flat +root:\n%s", name, d))
		}
	}
	return errors.Join(faults...)
}

// sameViews compares all values of nets in /api/v1/view.
func sameViews(t *testing.T, flat, root kit.Web) error {
	t.Helper()
	read := func(w kit.Web) (v struct{ Nets []map[string]any }, at moment) {
		at.begun = time.Now()
		defer func() { at.got = time.Now() }()
		if err := json.Unmarshal(w.Page(t, "/api/v1/view"), &v); err != nil {
			t.Fatal(err)
		}
		for _, net := range v.Nets {
			for name := range net {
				if ofTree(name) {
					delete(net, name)
				}
			}
		}
		return v, at
	}
	ofFlat, at := read(flat)
	ofRoot, then := read(root)
	aged := cmp.FilterPath(func(p cmp.Path) bool {
		return strings.Contains(p.String(), "age_seconds") || strings.Contains(p.GoString(), "age_seconds")
	}, cmp.Comparer(func(a, b any) bool {
		x, isX := a.(float64)
		y, isY := b.(float64)
		return isX && isY && (x == y || sameAge(x, at, y, then) || sameAge(y, at, x, then))
	}))
	// A rate is of the Views that a sidecar has made; what is counted is compared.
	rates := cmpopts.IgnoreMapEntries(func(name string, _ any) bool {
		return name == "rate" || strings.HasPrefix(name, "rate_") || strings.HasSuffix(name, "_rate")
	})
	if d := cmp.Diff(ofFlat, ofRoot, aged, rates); d != "" {
		return fmt.Errorf("/api/v1/view, -flat +root:\n%s", d)
	}
	return nil
}

// sameCounters compares every counter of nets over SNMP.
func sameCounters(t *testing.T, flat, root *kit.Sidecar) error {
	t.Helper()
	counters := func(s *kit.Sidecar) map[string]uint64 {
		all := map[string]uint64{}
		for name, v := range kit.Walk(t, snmptest.Client{Addr: s.SNMP}) {
			own := strings.HasPrefix(name, kit.OIDRoot+".1.1.1.") || strings.HasPrefix(name, fmt.Sprintf("%s.1.1.%d.", kit.OIDRoot, kit.SourceTable))
			if (v.Type == smi.TypeCounter64 || v.Type == smi.TypeCounter32) && !own {
				all[name] = v.Num
			}
		}
		return all
	}
	want := counters(flat)
	if len(want) < 10 {
		return fmt.Errorf("only %d counters in a walk", len(want))
	}
	if d := cmp.Diff(want, counters(root)); d != "" {
		return fmt.Errorf("a walk, -flat +root:\n%s", d)
	}
	return nil
}

// equalFlat waits until every face of the root shows what the flat one does.
func equalFlat(t *testing.T, flat, root *kit.Sidecar) {
	t.Helper()
	kit.Until(t, "the root shows what a sidecar shows that receives every engine", func() error {
		return errors.Join(sameMetrics(flat.Scrape(t), root.Scrape(t)), sameViews(t, flat.Web, root.Web), sameCounters(t, flat, root))
	})
}

//promise:faces stop
func TestRootOfATreeShowsInEveryFaceWhatAFlatSidecarDoes(t *testing.T) {
	t.Parallel()
	snmptest.RequireTools(t)
	for mode, config := range map[string]string{"sifted": "", "mapped": telemetry.Subjects{}.Mappings(2, false)} {
		t.Run(mode, func(t *testing.T) {
			t.Parallel()
			natsURL := kit.StartNATS(t, "--config", kit.Write(t, "nats.conf", config))
			nc, dir := kit.Connect(t, natsURL), t.TempDir()
			net, bindings := kit.Write(t, "claims.pnml", kit.StuckNet), kit.Write(t, "bindings.yaml", kit.StuckBindings)
			flat, root := serveFlat(t, natsURL), kit.ServeRoot(t, natsURL)
			one := kit.ServeShare(t, natsURL, "1/2", "child 1", dir)
			two := kit.ServeShare(t, natsURL, "2/2", "child 2", dir)
			for i, source := range []string{"berlin", "osaka", "lima 3"} {
				kit.RunEngine(t, natsURL, source, "--bindings", bindings, "--instances", fmt.Sprint(i+1), "--dispatch", []string{"turn", "quoted", "fifo"}[i], net)
			}
			kit.Request(t, nc, "inject", "claims", "osaka", `{"instance":1,"place":"inbox","tokens":5}`)
			kit.Request(t, nc, "fire", "claims", "lima 3", `{"instance":2,"transition":"answer"}`)
			kit.Until(t, "the root shows all", func() error {
				if d := cmp.Diff(kit.Claims(6*40+5, 1), root.View(t).Numbers()); d != "" {
					return errors.New(d)
				}
				return nil
			})
			equalFlat(t, flat, root)
			kit.PromtoolIsSilent(t, root.Scrape(t).Text)

			view := root.View(t)
			for _, child := range []string{"child 1", "child 2"} {
				if state := view.Source("claims", child); state != "up" {
					t.Errorf("%s is %q at the root", child, state)
				}
			}
			if len(view.Sources) != 2 {
				t.Errorf("sources of the root: %+v", view.Sources)
			}
			said := map[string]string{"sifted": "maps no subjects", "mapped": "maps subjects to shares"}[mode]
			for _, child := range []*kit.Sidecar{one, two} {
				child.Says(t, said)
				s := child.Scrape(t)
				passed, _ := s.Value("pnagent_messages_passed_over_total")
				published, _ := s.Value("pnagent_up_snapshots_total")
				saves, _ := s.Value("pnagent_state_saves_total")
				if (passed > 0) != (mode == "sifted") || published == 0 || saves == 0 {
					t.Errorf("%v passed over, %v published, %v saves", passed, published, saves)
				}
				for reason, n := range child.View(t).Traffic.Rejected { // sparse ones may come before the definition does
					if n > 0 && reason != "unknown_digest" {
						t.Errorf("got %d messages rejected as %s; want only unknown_digest", n, reason)
					}
				}
				kit.PromtoolIsSilent(t, s.Text)
			}
		})
	}
}

// Whatever becomes of the sidecars below while engines fire: no counter of the
// root ever falls, and in the end it has what the engines did.
//
//promise:counters kill load
func TestChildrenThatAreKilledUnderLoadCountEverythingOnce(t *testing.T) {
	t.Parallel()
	natsURL, dir := kit.StartNATS(t), t.TempDir()
	net := kit.Write(t, "ticker.pnml", kit.TickingNet)
	bindings := kit.Write(t, "ticker.yaml", "nets: {ticker: {transitions: {tick: {rate: 500/s}}}}")
	flat, root := serveFlat(t, natsURL), kit.ServeRoot(t, natsURL)
	run := map[string]func() *kit.Sidecar{
		"child 1": func() *kit.Sidecar { return kit.ServeShare(t, natsURL, "1/2", "child 1", dir) },
		"child 2": func() *kit.Sidecar { return kit.ServeShare(t, natsURL, "2/2", "child 2", dir) },
	}
	children := map[string]*kit.Sidecar{"child 1": run["child 1"](), "child 2": run["child 2"]()}
	var engines []*kit.Engine
	for _, source := range []string{"a", "b", "c", "d"} { // two in each share
		engines = append(engines, kit.RunEngine(t, natsURL, source, "--bindings", bindings, net))
	}
	firings := func(s *kit.Sidecar) (sum uint64) {
		for _, n := range s.View(t).Numbers().Firings {
			sum += n
		}
		return sum
	}
	moves := func(past uint64) {
		t.Helper()
		kit.Until(t, "the root counts on", func() error {
			if n := firings(root); n <= past {
				return fmt.Errorf("it has %d, want more than %d", n, past)
			}
			return nil
		})
	}
	kit.Until(t, "the root receives both", func() error {
		if v := root.View(t); v.Source("ticker", "child 1") != "up" || v.Source("ticker", "child 2") != "up" {
			return fmt.Errorf("%+v", v.Sources)
		}
		return nil
	})
	seen := watchCounters(t, root.Web, nil)
	for _, name := range []string{"child 1", "child 2", "child 1"} {
		children[name].Kill(t)
		before := firings(flat)
		children[name] = run[name]()
		moves(before + 500)
	}
	children["child 2"].Stop(t, syscall.SIGTERM) // says bye
	before := firings(flat)
	children["child 2"] = run["child 2"]()
	moves(before + 500)
	seen.check(t)

	var truth uint64
	for _, e := range engines {
		e.Signal(t, syscall.SIGTERM)
		truth += e.End(t).Firings
	}
	kit.Until(t, "the root has what the engines did", func() error {
		if n, all := firings(root), firings(flat); n != truth || all != truth {
			return fmt.Errorf("the root has %d, a flat sidecar %d, the engines did %d", n, all, truth)
		}
		return nil
	})
	for _, name := range []string{"child 1", "child 2"} {
		if setbacks, _ := root.Scrape(t).Value("petrinet_region_setbacks_total", "net", "ticker", "region", "up/"+name, "source", name); setbacks != 0 {
			t.Errorf("%s had counted less than it published, %v times", name, setbacks)
		}
	}
}

func TestTreeFlagsThatMakeNoSenseAreRefused(t *testing.T) {
	t.Parallel()
	for _, c := range []struct{ args, says string }{
		{"--share 0/8", "--share.*expected I/N"},
		{"--share 9/8", "--share.*expected I/N"},
		{"--share x", "--share.*expected I/N"},
		{"--up petrinet.v1", "would receive what it publishes"},
		{"--up petrinet.v1.shared.8.1", "would receive what it publishes"},
		{"--up my.space --nats.prefix my.space", "would receive what it publishes"},
		{"--up a..b", "--up: subject prefix"},
		{"--up.source x", "need --up"},
		{"--share.by net", "needs --share"},
		{"--share 1/2 --share.by place", "--share.by"},
		{"--up a --up.nats.creds /nowhere", "need --up.nats"},
	} {
		t.Run(c.args, func(t *testing.T) {
			t.Parallel()
			kit.WantFailure(t, kit.Pnagent(t, append([]string{"serve"}, strings.Fields(c.args)...)...), 2, c.says)
		})
	}
}
