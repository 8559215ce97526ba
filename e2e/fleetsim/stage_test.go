// SPDX-License-Identifier: Apache-2.0

package fleetsim

import (
	"cmp"
	"context"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"sync"
	"time"

	"github.com/prometheus/procfs"
	"golang.org/x/sync/errgroup"

	"github.com/pnagent/pnagent/internal/buildtest"
	"github.com/pnagent/pnagent/internal/measure"
)

// The kinds of stage: the sidecars that receive from the fleet.
const (
	flatOnly = "flat" // one sidecar
	treeOnly = "tree" // a root and several below it
	both     = "both" // one sidecar and a tree at once
)

// stageConfig configures a stage.
type stageConfig struct {
	kind      string
	sources   int // including the probe, which counts towards a sidecar's limit
	below     int // sidecars of a tree below the root
	interval  time.Duration
	churn     float64
	warmUp    time.Duration
	measure   time.Duration
	natsURL   string        // "" for a server in this process
	program   string        // pnagent
	processor int           // that the flat sidecar is pinned to; negative for none
	stateDir  string        // of the sidecars; "" for a directory of the stage
	silence   time.Duration // how long sidecars are measured while the whole fleet is silent; 0 for not
	memory    bool          // sidecars that stand alone keep nothing on a disk
	progress  func(format string, args ...any)
}

// stage is a running stage.
type stage struct {
	stageConfig
	dir        string
	starter    *sidecars
	fleet      *fleet
	probe      *probe
	flat, root *sidecar // nil if the kind has none
	children   []*sidecar
}

// outcome is what was measured in a stage.
type outcome struct {
	Kind     string           `json:"kind"`
	Sources  int              `json:"sources"`
	Interval float64          `json:"interval_seconds"` // of the sources, unless the sidecar asks for a longer one
	Load     string           `json:"load_average"`     // of the machine as the stage began: 1, 5 and 15 minutes
	Seconds  float64          `json:"measured_seconds"`
	Messages float64          `json:"messages_per_second"` // of the fleet
	Bytes    float64          `json:"bytes_per_second"`
	Full     float64          `json:"full_share"`   // of the messages
	Late     float64          `json:"late_seconds"` // the most that a message came after its turn
	Restarts uint64           `json:"restarts"`
	Silences uint64           `json:"silences"`
	Fleet    float64          `json:"fleet_cpu"` // processors that the fleet and its NATS server took
	Sidecars []sidecarOutcome `json:"sidecars"`
	Same     *bool            `json:"same,omitempty"`   // whether flat and root showed the same
	Faults   []string         `json:"faults,omitempty"` // where a View differed from the truth, or two Views from each other
}

// sidecarOutcome is what was measured of one process.
type sidecarOutcome struct {
	Name     string   `json:"name"`
	Pinned   bool     `json:"pinned"`
	CPU      float64  `json:"cpu"`                   // processors
	GC       float64  `json:"gc_share"`              // of CPU
	Waited   float64  `json:"waited"`                // processors' worth of threads that could run, but had no processor
	Disk     float64  `json:"disk_bytes_per_second"` // written
	RSS      int64    `json:"rss_bytes"`
	RSSTop   int64    `json:"rss_top_bytes"` // including while its outputs were read
	Age50    float64  `json:"view_age_p50_seconds"`
	Age99    float64  `json:"view_age_p99_seconds"`
	AgeMost  float64  `json:"view_age_max_seconds"`
	Ages     int      `json:"view_ages"` // how many were measured
	Metrics  reading  `json:"metrics"`
	View     reading  `json:"view"`
	Walk     reading  `json:"walk"`
	Received received `json:"received"`
	Silent   *silent  `json:"silent,omitempty"`   // nil if that was not measured
	True     *bool    `json:"true,omitempty"`     // whether it showed the truth; nil for a sidecar below the root
	Warnings []string `json:"warnings,omitempty"` // and errors
}

// runStage runs a stage to its end.
func runStage(ctx context.Context, cfg stageConfig) (out *outcome, err error) {
	s := &stage{stageConfig: cfg}
	if s.dir, err = os.MkdirTemp("", "fleetsim-"); err != nil {
		return nil, err
	}
	defer os.RemoveAll(s.dir)
	if s.natsURL == "" {
		shares := s.below
		if s.kind == flatOnly {
			shares = 0
		}
		ns, err := startNATS(s.dir, shares)
		if err != nil {
			return nil, err
		}
		defer func() { ns.Shutdown(); ns.WaitForShutdown() }()
		s.natsURL = ns.ClientURL()
	}
	s.progress("%s, %d sources: begins", s.kind, s.sources)
	if s.fleet, err = newFleet(fleetConfig{sources: s.sources - 1, interval: s.interval, churn: s.churn, seed: 1}, s.natsURL, time.Now().UnixMicro()); err != nil {
		return nil, err
	}
	defer s.fleet.close()
	if s.probe, err = newProbe(s.natsURL); err != nil {
		return nil, err
	}
	defer s.probe.conn.Close()
	out = &outcome{Kind: s.kind, Sources: s.sources, Interval: s.interval.Seconds(), Load: loadAverage()}
	defer s.stop()
	if err := s.start(ctx); err != nil {
		return nil, err
	}
	return out, s.run(ctx, out)
}

func (s *stage) start(ctx context.Context) (err error) {
	state := cmp.Or(s.stateDir, s.dir)
	s.starter, err = newSidecars(s.program, s.dir, state, s.natsURL, s.probe.net, s.fleet.net)
	if err != nil {
		return err
	}
	s.starter.sources = s.sources
	if s.memory {
		s.starter.state = ""
	}
	if s.kind != treeOnly {
		if s.flat, err = s.starter.start(ctx, "flat", s.processor); err != nil {
			return err
		}
	}
	if s.kind == flatOnly {
		return nil
	}
	if s.root, err = s.starter.start(ctx, "root", -1, "--nats.prefix", "petrinet.root"); err != nil {
		return err
	}
	s.starter.state = state // a sidecar below another one must keep its counters
	for i := 1; i <= s.below; i++ {
		child, err := s.starter.start(ctx, fmt.Sprint("below-", i), -1, "--share", fmt.Sprintf("%d/%d", i, s.below),
			"--up", "petrinet.root", "--up.source", fmt.Sprint("below-", i))
		if err != nil {
			return err
		}
		s.children = append(s.children, child)
	}
	return nil
}

// all returns every sidecar of the stage; those of tops come first.
func (s *stage) all() (all []*sidecar) {
	return append(s.tops(), s.children...)
}

// tops returns the sidecars that show the whole fleet.
func (s *stage) tops() (tops []*sidecar) {
	for _, p := range []*sidecar{s.flat, s.root} {
		if p != nil {
			tops = append(tops, p)
		}
	}
	return tops
}

func (s *stage) stop() {
	var all sync.WaitGroup
	for _, p := range s.all() {
		all.Go(p.stop)
	}
	all.Wait()
}

// run runs the fleet, measures, stops the fleet and compares.
func (s *stage) run(ctx context.Context, out *outcome) error {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	listening := len(s.children)
	if s.flat != nil {
		listening++
	}
	if err := s.fleet.awaitCollectors(ctx, listening); err != nil {
		return err
	}
	g, running := errgroup.WithContext(ctx)
	g.Go(func() error { return s.fleet.run(running) })
	g.Go(func() error { return s.probe.run(running) })
	g.Go(func() error {
		defer cancel()
		s.progress("%s, %d sources: warms up for %v", s.kind, s.sources, s.warmUp)
		if !waits(running, s.warmUp) {
			return running.Err()
		}
		for _, step := range []func(context.Context, *outcome) error{s.window, s.readAll, s.compare, s.quiet} {
			if err := step(running, out); err != nil {
				return err
			}
		}
		return nil
	})
	return g.Wait()
}

// window measures while only the probe reads.
func (s *stage) window(ctx context.Context, out *outcome) error {
	s.progress("%s, %d sources: measures for %v", s.kind, s.sources, s.measure)
	all := s.all()
	before := make([]used, len(all))
	sent, own, err := s.snapshot(before)
	if err != nil {
		return err
	}
	s.fleet.counts.late.Store(0)
	ages := make([][]time.Duration, len(s.tops()))
	watching, stop := context.WithTimeout(ctx, s.measure)
	defer stop()
	g, _ := errgroup.WithContext(watching)
	for i, p := range s.tops() {
		g.Go(func() (err error) {
			ages[i], err = s.probe.watch(watching, p.snmp)
			return err
		})
	}
	if err := g.Wait(); err != nil {
		return err
	}
	if ctx.Err() != nil {
		return ctx.Err()
	}
	after := make([]used, len(all))
	sentAfter, ownAfter, err := s.snapshot(after)
	if err != nil {
		return err
	}
	for i, p := range all {
		out.Sidecars = append(out.Sidecars, measured(p, before[i], after[i], p == s.flat && s.processor >= 0 && s.starter.taskset != ""))
	}
	for i, a := range ages {
		o := &out.Sidecars[i]
		o.Age50, o.Age99, o.AgeMost, o.Ages = quantile(a, 0.5).Seconds(), quantile(a, 0.99).Seconds(), quantile(a, 1).Seconds(), len(a)
	}
	out.Seconds = ownAfter.at.Sub(own.at).Seconds()
	out.Fleet = (ownAfter.cpu - own.cpu).Seconds() / out.Seconds
	out.Messages, out.Bytes = (sentAfter[0]-sent[0])/out.Seconds, (sentAfter[1]-sent[1])/out.Seconds
	out.Full = (sentAfter[2] - sent[2]) / (sentAfter[0] - sent[0])
	out.Late = time.Duration(s.fleet.counts.late.Load()).Seconds()
	return nil
}

// snapshot stores in all what each sidecar has used so far. It returns the
// messages, bytes and full messages that the fleet sent, and what this process
// has used.
func (s *stage) snapshot(all []used) (sent [3]float64, own used, err error) {
	for i, p := range s.all() {
		if all[i], err = p.used(); err != nil {
			return sent, own, fmt.Errorf("%s: %w: %s", p.name, err, strings.Join(p.warnings(), "; "))
		}
	}
	f := &s.fleet.counts
	sent = [3]float64{float64(f.messages.Load()), float64(f.bytes.Load()), float64(f.full.Load())}
	own, err = usedBy(os.Getpid())
	return sent, own, err
}

func measured(p *sidecar, before, after used, pinned bool) sidecarOutcome {
	o := sidecarOutcome{Name: p.name, Pinned: pinned, RSS: after.rss, RSSTop: after.rssTop}
	cpu := after.cpu - before.cpu
	passed := after.at.Sub(before.at).Seconds()
	o.Disk = float64(after.disk-before.disk) / passed
	o.Waited = max(after.waited-before.waited, 0).Seconds() / passed
	o.CPU = cpu.Seconds() / passed
	if cpu > 0 {
		o.GC = float64(after.gc-before.gc) / float64(cpu)
	}
	return o
}

// readAll reads each output of the sidecars once, while the fleet publishes.
func (s *stage) readAll(ctx context.Context, out *outcome) (err error) {
	s.progress("%s, %d sources: reads every output", s.kind, s.sources)
	for i, p := range s.tops() {
		o := &out.Sidecars[i]
		if o.Metrics, err = p.page(ctx, "/metrics"); err != nil {
			return err
		}
		if o.View, err = p.page(ctx, "/api/v1/view"); err != nil {
			return err
		}
		if o.Walk, err = p.walk(ctx); err != nil {
			return err
		}
	}
	return nil
}

// patience is how long Views may take to show the truth of a stopped fleet.
const patience = 2 * time.Minute

// compare stops the fleet and compares what the sidecars show with the truth.
func (s *stage) compare(ctx context.Context, out *outcome) error {
	s.progress("%s, %d sources: compares", s.kind, s.sources)
	want, err := s.fleet.stop(ctx)
	if err != nil {
		return err
	}
	nets := make([]*viewNet, len(s.tops()))
	faults, err := settled(ctx, func() (faults []string, err error) {
		for i, p := range s.tops() {
			now := time.Now()
			v, err := p.view(ctx)
			if err != nil {
				return nil, err
			}
			nets[i] = v.orders()
			wrong := want.differs(nets[i], now)
			right := len(wrong) == 0
			out.Sidecars[i].True = &right
			for _, w := range wrong {
				faults = append(faults, p.name+": "+w)
			}
		}
		if s.kind == both {
			wrong := same(nets[0], nets[1])
			right := len(wrong) == 0
			out.Same, faults = &right, append(faults, wrong...)
		}
		return faults, nil
	})
	if err != nil {
		return err
	}
	out.Faults = faults
	out.Restarts, out.Silences = s.fleet.counts.restarts.Load(), s.fleet.counts.silences.Load()
	for i, p := range s.all() {
		o := &out.Sidecars[i]
		if o.Received, err = p.received(ctx); err != nil {
			return err
		}
		u, err := p.used()
		if err != nil {
			return err
		}
		o.RSSTop, o.Warnings = u.rssTop, p.warnings()
	}
	return nil
}

// silent is what a sidecar uses while its fleet is silent, and nothing but the probe reads.
type silent struct {
	Alarms int     `json:"alarms"` // that are active
	CPU    float64 `json:"cpu"`
	RSS    int64   `json:"rss_bytes"`
}

// quiet makes the whole fleet silent, and measures once there are as many alarms as the sidecars
// will have.
func (s *stage) quiet(ctx context.Context, out *outcome) error {
	if s.silence == 0 {
		return nil
	}
	s.progress("%s, %d sources: all fall silent", s.kind, s.sources)
	s.fleet.silent.Store(true)
	tops, want := s.tops(), s.sources-1
	if s.kind == treeOnly {
		want = 0 // the sources of a root are the sidecars below, which publish
	}
	for i, p := range tops {
		o := &silent{}
		_, err := settled(ctx, func() (missing []string, err error) {
			body, err := p.get(ctx, "/metrics")
			if o.Alarms = strings.Count(string(body), "\npetrinet_alarm_active{"); p == s.flat && o.Alarms < want {
				missing = append(missing, fmt.Sprintf("%d alarms", o.Alarms))
			}
			return missing, err
		})
		if err != nil {
			return err
		}
		out.Sidecars[i].Silent = o
	}
	s.progress("%s, %d sources: measures the silence for %v", s.kind, s.sources, s.silence)
	before := make([]used, len(tops))
	for i, p := range tops {
		var err error
		before[i], err = p.used()
		if err != nil {
			return err
		}
	}
	if !waits(ctx, s.silence) {
		return ctx.Err()
	}
	for i, p := range tops {
		after, err := p.used()
		if err != nil {
			return err
		}
		m := measured(p, before[i], after, false)
		out.Sidecars[i].Silent.CPU, out.Sidecars[i].Silent.RSS = m.CPU, m.RSS
	}
	return nil
}

// settled repeats a check until it finds no fault or patience is over, and
// returns the faults that it found last.
func settled(ctx context.Context, check func() ([]string, error)) ([]string, error) {
	end := time.Now().Add(patience)
	for {
		faults, err := check()
		if err != nil || len(faults) == 0 || time.Now().After(end) {
			return faults, err
		}
		if !waits(ctx, time.Second) {
			return nil, ctx.Err()
		}
	}
}

// loadAverage returns that of the machine, or "" if /proc does not have it.
func loadAverage() string {
	fs, err := procfs.NewDefaultFS()
	if err != nil {
		return ""
	}
	load, err := fs.LoadAvg()
	if err != nil {
		return ""
	}
	return fmt.Sprintf("%.2f %.2f %.2f", load.Load1, load.Load5, load.Load15)
}

// machine describes the machine that fleetsim runs on.
func machine() string {
	memory := ""
	if fs, err := procfs.NewDefaultFS(); err == nil {
		if m, err := fs.Meminfo(); err == nil && m.MemTotal != nil {
			memory = fmt.Sprintf(", %d GiB", (*m.MemTotal+1<<19)>>20)
		}
	}
	return fmt.Sprintf("%s, %d processors%s, %s", measure.Processor(), runtime.NumCPU(), memory, runtime.Version())
}

// buildProgram builds pnagent from this checkout and returns its path.
func buildProgram(ctx context.Context, dir string) (string, error) {
	program := filepath.Join(dir, "pnagent")
	if err := buildtest.Build(ctx, ".", program, "github.com/pnagent/pnagent/cmd/pnagent"); err != nil {
		return "", err
	}
	return program, nil
}
