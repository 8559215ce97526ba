// SPDX-License-Identifier: Apache-2.0

package main

import (
	"context"
	"errors"
	"fmt"
	"net"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"time"

	"github.com/nats-io/nats.go"

	"github.com/pnagent/pnagent/action"
	"github.com/pnagent/pnagent/engine"
	"github.com/pnagent/pnagent/petri"
	"github.com/pnagent/pnagent/petri/pnml"
	"github.com/pnagent/pnagent/region"
	"github.com/pnagent/pnagent/telemetry"
)

// netID is the id of all nets that are played here.
const netID = "bench"

// game is a net and how it is played.
type game struct {
	net       string // PNML
	bindings  string // YAML
	tokens    int    // of one instance
	instances int
	args      []string // more, of every engine
}

// pingpong is a net whose tokens go to and fro between the regions one and two.
func pingpong(tokens int, args ...string) game {
	return game{ringOf(2, tokens), "nets: {" + netID + ": {regions: {one: [t0], two: [t1]}}}\n", tokens, 1, args}
}

// worked is a ping-pong in which each firing takes so long, as work does.
func worked(tokens int, delay time.Duration) game {
	g := pingpong(tokens)
	g.bindings = fmt.Sprintf("nets: {%s: {transitions: {t0: {delay: %v}, t1: {delay: %v}}, regions: {one: [t0], two: [t1]}}}\n", netID, delay, delay)
	return g
}

// ring is a net of so many places, in each instance of which one token goes round
// in the region one.
func ring(places, instances int) game {
	all := make([]string, places)
	for i := range all {
		all[i] = "t" + strconv.Itoa(i)
	}
	return game{ringOf(places, 1), "nets: {" + netID + ": {regions: {one: [" + strings.Join(all, ", ") + "]}}}\n", 1, instances, nil}
}

func ringOf(places, tokens int) string {
	var b strings.Builder
	fmt.Fprintf(&b, `<pnml xmlns="http://www.pnml.org/version-2009/grammar/pnml"><net id=%q type="http://www.pnml.org/version-2009/grammar/ptnet"><page id="page">`, netID)
	for i := range places {
		fmt.Fprintf(&b, `<place id="p%d">`, i)
		if i == 0 {
			fmt.Fprintf(&b, `<initialMarking><text>%d</text></initialMarking>`, tokens)
		}
		fmt.Fprintf(&b, `</place><transition id="t%d"/><arc id="in%d" source="p%d" target="t%d"/><arc id="out%d" source="t%d" target="p%d"/>`,
			i, i, i, i, i, i, (i+1)%places)
	}
	b.WriteString(`</page></net></pnml>`)
	return b.String()
}

// world is a NATS server, and the engines that play one game over it.
type world struct {
	game
	programs
	dir     string
	url     string
	procs   int // of an engine: GOMAXPROCS, 0 for Go's own
	server  *process
	conn    *nats.Conn
	bound   engine.Net
	parts   []region.Part
	engines map[string]*process // that run
}

// newWorld starts the server. syncAlways has it sync every write.
func (b *bench) newWorld(ctx context.Context, g game, syncAlways bool) (w *world, err error) {
	w = &world{game: g, programs: b.programs, procs: b.procs, engines: map[string]*process{}}
	if w.dir, err = os.MkdirTemp(b.dir, "world"); err != nil {
		return nil, err
	}
	defer func() {
		if err != nil {
			err = errors.Join(err, w.close())
		}
	}()
	if err := w.read(); err != nil {
		return nil, err
	}
	port, err := freePort(ctx)
	if err != nil {
		return nil, err
	}
	w.url = fmt.Sprintf("nats://127.0.0.1:%d", port)
	conf := fmt.Sprintf("listen: \"127.0.0.1:%d\"\njetstream {\n  store_dir: %q\n", port, filepath.Join(w.dir, "store"))
	if syncAlways {
		conf += "  sync_interval: always\n"
	}
	for name, text := range map[string]string{"nats.conf": conf + "}\n", "net.pnml": g.net, "bindings.yaml": g.bindings} {
		if err := os.WriteFile(filepath.Join(w.dir, name), []byte(text), 0o600); err != nil {
			return nil, err
		}
	}
	if w.server, err = start(ctx, w.dir, "nats-server", nil, w.programs.server, "-c", filepath.Join(w.dir, "nats.conf")); err != nil {
		return nil, err
	}
	return w, w.connect(ctx)
}

// read compiles the net, and cuts it as the engines do.
func (w *world) read() error {
	nets, err := pnml.Read(strings.NewReader(w.net), "net.pnml", pnml.DefaultLimits())
	if err != nil {
		return err
	}
	tables, err := petri.Compile(nets.Nets[0])
	if err != nil {
		return err
	}
	bindings, err := engine.ReadBindings(strings.NewReader(w.bindings), "bindings.yaml")
	if err != nil {
		return err
	}
	plan, err := bindings.Split(tables)
	if err != nil {
		return err
	}
	w.parts = region.Regions(tables, plan)
	w.bound, err = bindings.Bind(tables, action.Peers{})
	return err
}

// connectWithin is how long the server may take to begin, and connectEvery how
// often it is tried.
const (
	connectWithin = 10 * time.Second
	connectEvery  = 20 * time.Millisecond
)

func (w *world) connect(ctx context.Context) error {
	end := time.Now().Add(connectWithin)
	for {
		conn, err := nats.Connect(w.url)
		if err == nil {
			w.conn = conn
			return nil
		}
		if time.Now().After(end) {
			return w.server.failed(err.Error())
		}
		if err := pause(ctx, connectEvery); err != nil {
			return err
		}
	}
}

func freePort(ctx context.Context) (int, error) {
	var config net.ListenConfig
	l, err := config.Listen(ctx, "tcp", "127.0.0.1:0")
	if err != nil {
		return 0, err
	}
	defer l.Close()
	return l.Addr().(*net.TCPAddr).Port, nil
}

// play starts an engine that plays a region, or stands by.
func (w *world) play(ctx context.Context, source, part string) error {
	args := append([]string{"engine", "--nats", w.url, "--journal", "jetstream", "--bindings", filepath.Join(w.dir, "bindings.yaml"),
		"--region", part, "--source", source, "--instances", strconv.Itoa(w.instances), "--interval", "250ms"}, w.args...)
	var env []string
	if w.procs > 0 {
		env = []string{"GOMAXPROCS=" + strconv.Itoa(w.procs)}
	}
	p, err := start(ctx, w.dir, source, env, w.pnagent, append(args, filepath.Join(w.dir, "net.pnml"))...)
	if err != nil {
		return err
	}
	w.engines[source] = p
	return nil
}

// end ends all engines as an operator does.
func (w *world) end() error {
	var errs []error
	for source, p := range w.engines {
		errs = append(errs, p.stop())
		delete(w.engines, source)
	}
	return errors.Join(errs...)
}

// close ends what still runs and removes what it has written.
func (w *world) close() error {
	var errs []error
	for _, p := range w.engines {
		errs = append(errs, p.kill())
	}
	if w.conn != nil {
		w.conn.Close()
	}
	if w.server != nil {
		errs = append(errs, w.server.kill())
	}
	return errors.Join(append(errs, os.RemoveAll(w.dir))...)
}

// surveyFor is long enough to hear every member several times.
const surveyFor = 150 * time.Millisecond

// settled waits until owner plays a region and standby, unless that is "", follows
// it.
func (w *world) settled(ctx context.Context, part, owner, standby string) error {
	ctx, cancel := context.WithTimeout(ctx, endWithin)
	defer cancel()
	for {
		listening, heard := context.WithTimeout(ctx, surveyFor)
		all, err := region.Survey(listening, w.conn, telemetry.Subjects{}, netID)
		heard()
		if err != nil {
			return err
		}
		for _, s := range all {
			if s.Part == part && s.Owner == owner && (standby == "" || follows(s, standby)) {
				return nil
			}
		}
		if ctx.Err() != nil {
			return fmt.Errorf("region %q is not played by %q with %q standing by: %+v", part, owner, standby, all)
		}
	}
}

// near is how many commits a stand-by may be behind that is to take over.
const near = 1000

func follows(s region.Status, standby string) bool {
	for _, by := range s.Standbys {
		if by.Source == standby {
			return by.Lag < near
		}
	}
	return false
}
