// SPDX-License-Identifier: Apache-2.0

package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"time"

	"golang.org/x/sync/errgroup"
)

// What hears the fleet in a stage.
const (
	flatOnly = "flat" // one sidecar
	treeOnly = "tree" // a root and some below
	both     = "both" // at once
)

// stageConfig is one stage.
type stageConfig struct {
	kind      string
	sources   int // the probe included: a sidecar's limit counts it
	below     int // sidecars of a tree below the root
	interval  time.Duration
	churn     float64
	warmUp    time.Duration
	measure   time.Duration
	natsURL   string // "" for a server in this process
	program   string // pnagent
	processor int    // that the flat sidecar is pinned to; negative for none
	stateDir  string // of the sidecars below; "" for a directory of the stage
	progress  func(format string, args ...any)
}

// stage is one that runs.
type stage struct {
	stageConfig
	dir        string
	starter    *sidecars
	fleet      *fleet
	probe      *probe
	flat, root *sidecar // nil without
	children   []*sidecar
}

// outcome is what was measured in a stage.
type outcome struct {
	Kind     string           `json:"kind"`
	Sources  int              `json:"sources"`
	Load     string           `json:"load_average"` // of the machine as the stage began: 1, 5 and 15 minutes
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
	Faults   []string         `json:"faults,omitempty"` // where a View was not the truth, or not the same
}

// sidecarOutcome is what was measured of one process.
type sidecarOutcome struct {
	Name    string   `json:"name"`
	Pinned  bool     `json:"pinned"`
	CPU     float64  `json:"cpu"`      // processors
	GC      float64  `json:"gc_share"` // of CPU
	Waited  float64  `json:"waited"`   // processors' worth of threads that could run, but others did
	RSS     int64    `json:"rss_bytes"`
	RSSTop  int64    `json:"rss_top_bytes"` // faces read whole included
	Age50   float64  `json:"view_age_p50_seconds"`
	Age99   float64  `json:"view_age_p99_seconds"`
	AgeMost float64  `json:"view_age_max_seconds"`
	Ages    int      `json:"view_ages"` // how many were measured
	Metrics face     `json:"metrics"`
	View    face     `json:"view"`
	Walk    face     `json:"walk"`
	Heard   heard    `json:"heard"`
	True    *bool    `json:"true,omitempty"` // whether it showed the truth; not asked of those below
	Said    []string `json:"said,omitempty"` // warnings and errors
}

// runStage runs one to its end.
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
	out = &outcome{Kind: s.kind, Sources: s.sources, Load: loadAverage()}
	defer s.stop()
	if err := s.start(ctx); err != nil {
		return nil, err
	}
	return out, s.run(ctx, out)
}

func (s *stage) start(ctx context.Context) (err error) {
	if s.starter, err = newSidecars(s.program, s.dir, s.natsURL, s.probe.net, s.fleet.net); err != nil {
		return err
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
	state := s.stateDir
	if state == "" {
		state = s.dir
	}
	for i := 1; i <= s.below; i++ {
		dir, err := os.MkdirTemp(state, "fleetsim-up-")
		if err != nil {
			return err
		}
		child, err := s.starter.start(ctx, fmt.Sprint("below-", i), -1, "--share", fmt.Sprintf("%d/%d", i, s.below),
			"--up", "petrinet.root", "--up.source", fmt.Sprint("below-", i), "--state-dir", dir)
		if err != nil {
			return errors.Join(err, os.RemoveAll(dir))
		}
		s.children = append(s.children, child)
		if s.stateDir != "" {
			go func() { <-child.done; _ = os.RemoveAll(dir) }()
		}
	}
	return nil
}

// all is every sidecar of the stage, those first that are compared.
func (s *stage) all() (all []*sidecar) {
	return append(s.tops(), s.children...)
}

// tops are the sidecars that show the whole fleet.
func (s *stage) tops() (tops []*sidecar) {
	for _, p := range []*sidecar{s.flat, s.root} {
		if p != nil {
			tops = append(tops, p)
		}
	}
	return tops
}

func (s *stage) stop() {
	for _, p := range s.all() {
		p.stop()
	}
}

// run lets the fleet speak, measures, and compares once it rests.
func (s *stage) run(ctx context.Context, out *outcome) error {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	listening := len(s.children)
	if s.flat != nil {
		listening++
	}
	if err := s.fleet.heard(ctx, listening); err != nil {
		return err
	}
	g, running := errgroup.WithContext(ctx)
	g.Go(func() error { return s.fleet.run(running) })
	g.Go(func() error { return s.probe.run(running) })
	measured := func() error {
		defer cancel()
		if err := s.warm(running); err != nil {
			return err
		}
		if err := s.window(running, out); err != nil {
			return err
		}
		if err := s.faces(running, out); err != nil {
			return err
		}
		return s.compare(running, out)
	}
	g.Go(measured)
	return g.Wait()
}

func (s *stage) warm(ctx context.Context) error {
	s.progress("%s, %d sources: warms up for %v", s.kind, s.sources, s.warmUp)
	if !waits(ctx, s.warmUp) {
		return ctx.Err()
	}
	return nil
}

// window measures while nobody reads but the probe.
func (s *stage) window(ctx context.Context, out *outcome) error {
	s.progress("%s, %d sources: measures for %v", s.kind, s.sources, s.measure)
	all := s.all()
	before := make([]used, len(all))
	said, own, err := s.snapshot(before)
	if err != nil {
		return err
	}
	s.fleet.said.late.Store(0)
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
	saidAfter, ownAfter, err := s.snapshot(after)
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
	out.Messages, out.Bytes = (saidAfter[0]-said[0])/out.Seconds, (saidAfter[1]-said[1])/out.Seconds
	out.Full = (saidAfter[2] - said[2]) / (saidAfter[0] - said[0])
	out.Late = time.Duration(s.fleet.said.late.Load()).Seconds()
	return nil
}

// snapshot is what everybody has used and the fleet has said so far.
func (s *stage) snapshot(all []used) (said [3]float64, own used, err error) {
	for i, p := range s.all() {
		if all[i], err = p.used(); err != nil {
			return said, own, fmt.Errorf("%s: %w: %s", p.name, err, strings.Join(p.words(), "; "))
		}
	}
	f := &s.fleet.said
	said = [3]float64{float64(f.messages.Load()), float64(f.bytes.Load()), float64(f.full.Load())}
	own, err = usedBy(os.Getpid())
	return said, own, err
}

func measured(p *sidecar, before, after used, pinned bool) sidecarOutcome {
	o := sidecarOutcome{Name: p.name, Pinned: pinned, RSS: after.rss, RSSTop: after.rssTop}
	cpu := after.cpu - before.cpu
	passed := after.at.Sub(before.at).Seconds()
	o.Waited = max(after.waited-before.waited, 0).Seconds() / passed
	if o.CPU = cpu.Seconds() / passed; cpu > 0 {
		o.GC = float64(after.gc-before.gc) / float64(cpu)
	}
	return o
}

// faces reads the whole of every face once, while the fleet speaks.
func (s *stage) faces(ctx context.Context, out *outcome) (err error) {
	s.progress("%s, %d sources: reads every face", s.kind, s.sources)
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

// patience is how long the Views of a fleet that rests may take to show the truth.
const patience = time.Minute

// compare brings the fleet to rest and looks at what is shown.
func (s *stage) compare(ctx context.Context, out *outcome) error {
	s.progress("%s, %d sources: compares", s.kind, s.sources)
	want, err := s.fleet.rest(ctx)
	if err != nil {
		return err
	}
	nets := make([]*viewNet, len(s.tops()))
	faults, err := s.settled(ctx, func() (faults []string, err error) {
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
	out.Restarts, out.Silences = s.fleet.said.restarts.Load(), s.fleet.said.silences.Load()
	for i, p := range s.all() {
		o := &out.Sidecars[i]
		if o.Heard, err = p.heard(ctx); err != nil {
			return err
		}
		u, err := p.used()
		if err != nil {
			return err
		}
		o.RSSTop, o.Said = u.rssTop, p.words()
	}
	return nil
}

// settled repeats a check until it finds nothing, for as long as patience lasts,
// and returns what it found last.
func (s *stage) settled(ctx context.Context, check func() ([]string, error)) ([]string, error) {
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

// loadAverage is that of the machine; "" where it does not tell.
func loadAverage() string {
	text, _ := os.ReadFile("/proc/loadavg")
	fields := strings.Fields(string(text))
	return strings.Join(fields[:min(3, len(fields))], " ")
}

// machine names where this runs.
func machine() string {
	name := runtime.GOARCH
	text, _ := os.ReadFile("/proc/cpuinfo")
	for line := range strings.Lines(string(text)) {
		if key, value, ok := strings.Cut(line, ":"); ok && strings.TrimSpace(key) == "model name" {
			name = strings.TrimSpace(value)
			break
		}
	}
	memory := ""
	if text, err := os.ReadFile("/proc/meminfo"); err == nil {
		memory = fmt.Sprintf(", %d GiB", (kilobytes(string(text), "MemTotal:")+1<<19)>>20)
	}
	return fmt.Sprintf("%s, %d processors%s, %s", name, runtime.NumCPU(), memory, runtime.Version())
}

// buildProgram builds pnagent of this checkout.
func buildProgram(ctx context.Context, dir string) (string, error) {
	program := filepath.Join(dir, "pnagent")
	if out, err := command(ctx, "go", "build", "-o", program, "github.com/pnagent/pnagent/cmd/pnagent"); err != nil {
		return "", fmt.Errorf("build pnagent: %w: %s", err, out)
	}
	return program, nil
}
