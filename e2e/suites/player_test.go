// SPDX-License-Identifier: Apache-2.0

package suites

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/pnagent/pnagent/engine"
	"github.com/pnagent/pnagent/engine/journal"
	"github.com/pnagent/pnagent/engine/plain"
	"github.com/pnagent/pnagent/petri"
	"github.com/pnagent/pnagent/petri/bpmn"
	"github.com/pnagent/pnagent/stats"
)

// errUnnamed refuses an error of work whose place is not known.
var errUnnamed = fmt.Errorf("%w: an error of work has to name the event that catches it", errRefused)

// instances is how many instances of each process a scenario may have.
const instances = 12

// errRefused is wrapped by the errors of files that pnagent does not play.
// errWarned is wrapped by the errors of scenarios in whose files it has warned
// that an event waits for a user, where other engines compute when it occurs.
var (
	errRefused = errors.New("refused")
	errWarned  = errors.New("warned")
)

// player plays one scenario.
type player struct {
	engine  *engine.Engine
	stop    func() error // ends the engine
	config  engine.Config
	journal string // its folder, or "" for none
	nets    []*petri.Tables
	kinds   map[string]string   // of elements by id, such as "user task"
	begins  [][]string          // by net: the places that get a token when an instance begins, in order
	deleted []int               // by net: how many instances no longer count
	vars    map[string]any      // that the step gives
	on      map[string][]string // by the id of an activity: its boundary events
	warning string              // that an event waits for a user, or ""
}

// newPlayer reads the files of a scenario. An error wraps errRefused if pnagent
// refuses them.
func newPlayer(s *scenario, dir string) (*player, error) {
	p := &player{kinds: map[string]string{}, on: map[string][]string{}}
	files, err := read(s.files, filepath.Join(dir, s.suite))
	if err != nil {
		return nil, err
	}
	var configs []engine.NetConfig
	for _, f := range files {
		for _, w := range f.Warnings {
			if strings.Contains(w.Msg, "it waits for an event") {
				p.warning = w.Msg
			}
		}
		for i, n := range f.Nets {
			p.note(f, i)
			addReads(n, s.steps)
			c, err := p.add(n, s.hold)
			if err != nil {
				return nil, fmt.Errorf("%w: %w", errRefused, err)
			}
			configs = append(configs, c)
		}
	}
	if len(configs) == 0 { // such as a choreography
		return p, nil
	}
	p.deleted = make([]int, len(p.nets))
	p.config = engine.Config{Source: "s", Nets: configs, Instances: instances, Workers: 1}
	if p.engine, err = engine.New(p.config); err != nil {
		return nil, fmt.Errorf("%w: %w", errRefused, err)
	}
	return p, nil
}

// run begins to play, with what the journal records.
func (p *player) run(ctx context.Context) error {
	end := func() error { return nil }
	if p.journal != "" {
		log, _, err := journal.Open(p.journal, journal.Options{Mode: journal.SyncNone})
		if err != nil {
			return err
		}
		p.config.Journal, end = log, log.Close
		if p.engine, err = engine.New(p.config); err != nil {
			return errors.Join(err, end())
		}
	}
	ctx, stop := context.WithCancel(ctx)
	done := make(chan error, 1)
	go func() { done <- p.engine.Run(ctx) }()
	p.stop = func() error {
		stop()
		return errors.Join(<-done, end())
	}
	return nil
}

// read reads files together. Each is at its path, or at the path with one of the
// suites' suffixes.
func read(paths []string, dir string) ([]*bpmn.File, error) {
	var sources []bpmn.Source
	for _, path := range paths {
		path = filepath.Join(dir, path)
		r, err := os.Open(path)
		for _, suffix := range []string{".bpmn20.xml", ".bpmn"} {
			if errors.Is(err, fs.ErrNotExist) {
				r, err = os.Open(path + suffix)
			}
		}
		if err != nil {
			return nil, err
		}
		defer r.Close()
		sources = append(sources, bpmn.Source{Name: filepath.Base(path), Reader: r})
	}
	files, err := bpmn.ReadAll(sources, bpmn.Limits{})
	if err != nil {
		return nil, fmt.Errorf("%w: %w", errRefused, err)
	}
	return files, nil
}

// note remembers the elements of a process.
func (p *player) note(f *bpmn.File, process int) {
	for _, e := range f.Elements[process] {
		p.kinds[e.ID] = e.Kind
	}
	for _, e := range f.Graphs[process].Edges {
		if id, is := strings.CutSuffix(e.ID, "/attached"); is {
			host := f.Graphs[process].Nodes[e.From].ID
			p.on[host] = append(p.on[host], id)
		}
	}
}

// add compiles a net whose instances begin by the step start, with variables.
func (p *player) add(n *petri.Net, hold []string) (engine.NetConfig, error) {
	var begins []string
	for i := range n.Places {
		if place := &n.Places[i]; place.Initial > 0 {
			begins = append(begins, slices.Repeat([]string{place.ID}, int(place.Initial))...)
			place.Initial = 0
		}
	}
	slices.SortStableFunc(begins, func(a, b string) int { return beginning(a) - beginning(b) })
	tables, err := petri.Compile(n)
	if err != nil {
		return engine.NetConfig{}, err
	}
	transitions, err := engine.Declared(tables)
	if err != nil {
		return engine.NetConfig{}, err
	}
	for i := range transitions {
		if slices.Contains(hold, element(n.Transitions[i].ID)) && n.Transitions[i].Trigger.Kind == petri.TriggerWork {
			transitions[i].Mode.Kind = plain.Manual
		}
	}
	p.nets, p.begins = append(p.nets, tables), append(p.begins, begins)
	return engine.NetConfig{Tables: tables, Transitions: transitions}, nil
}

// beginning is the order in which the first tokens of an instance are put: what
// waits for events first, and last what ends the process when it is empty.
func beginning(place string) int {
	switch _, word, _ := cutLast(place, "/"); word {
	case "armed":
		return 0
	case "watched":
		return 2
	case "active":
		return 3
	}
	return 1
}

// element returns the id of the element that a transition belongs to.
func element(transition string) string {
	_, id, _ := cutLast(transition, ":")
	id, _, _ = strings.Cut(id, "/")
	return id
}

// cutLast returns the text after the last separator, or all of it.
func cutLast(s, sep string) (before, after string, found bool) {
	if i := strings.LastIndex(s, sep); i >= 0 {
		return s[:i], s[i+len(sep):], true
	}
	return "", s, false
}

// restart ends the engine and begins another.
func (p *player) restart(ctx context.Context, l life) error {
	if l == resumes {
		time.Sleep(100 * time.Millisecond) // the engine looks at the journal twice
		synctest.Wait()
		if saved, _ := filepath.Glob(filepath.Join(p.journal, "*.snapshot")); len(saved) == 0 {
			return errors.New("no snapshot")
		}
	}
	if err := p.stop(); err != nil {
		return err
	}
	err := p.run(ctx)
	synctest.Wait()
	return err
}

// life is what becomes of the engine after each step of a scenario.
type life int

const (
	whole   life = iota // it continues
	replays             // it ends; the next one replays its journal
	resumes             // it ends; the next one begins with a snapshot
)

// play plays a scenario in a bubble of its own time, and returns what is wrong.
func play(t *testing.T, s *scenario, dir string, l life) (err error) {
	synctest.Test(t, func(t *testing.T) {
		var p *player
		if p, err = newPlayer(s, dir); err == nil && p.engine == nil {
			err = fmt.Errorf("%w: no process with flow nodes", errRefused)
		}
		if err != nil {
			if len(s.steps) > 0 && s.steps[0].verb == "refused" && errors.Is(err, errRefused) {
				err = nil
			}
			return
		}
		ctx := t.Context()
		if l != whole {
			p.journal = t.TempDir()
		}
		if l == resumes {
			p.config.SnapshotAfter = 1
		}
		if err = p.run(ctx); err != nil {
			return
		}
		for i := range s.steps {
			synctest.Wait()
			if l != whole && i > 0 {
				if err = p.restart(ctx, l); err != nil {
					return
				}
			}
			if err = p.step(ctx, &s.steps[i]); err != nil && !errors.Is(err, errRefused) {
				err = fmt.Errorf("line %d, %s: %w", s.steps[i].line, &s.steps[i], err)
				if p.warning != "" {
					err = fmt.Errorf("%w: %s", errWarned, p.warning)
				}
			}
			if err != nil {
				break
			}
		}
		if failed := p.stop(); err == nil {
			err = failed
		}
	})
	return err
}

// step performs a step, or checks what it expects.
func (p *player) step(ctx context.Context, s *step) error {
	p.vars = nil
	if s.vars != "" {
		if err := json.Unmarshal([]byte(s.vars), &p.vars); err != nil {
			return err
		}
	}
	switch s.verb {
	case "start":
		return p.start(ctx, s.args)
	case "delete":
		return p.forget(ctx)
	case "message":
		_, err := p.engine.Message(ctx, strings.Join(s.args, " "), "", p.data())
		return err
	case "unawaited":
		if _, err := p.engine.Message(ctx, strings.Join(s.args, " "), "", p.data()); !errors.Is(err, engine.ErrNoCatcher) {
			return fmt.Errorf("it was caught: %w", err)
		}
		return nil
	case "signal":
		_, err := p.engine.Signal(ctx, strings.Join(s.args, " "), p.data())
		return err
	case "advance":
		d, err := time.ParseDuration(s.args[0])
		time.Sleep(d)
		return err
	case "refused":
		return errors.New("pnagent reads the file")
	case "incident":
		return p.incident(ctx)
	case "reads":
		return p.reads(ctx, s)
	}
	seen, err := p.look(ctx)
	if err != nil {
		return err
	}
	switch s.verb {
	case "complete":
		return p.complete(ctx, s.args[0])
	case "occur":
		return p.fire(ctx, seen.first(func(w wait) bool { return w.element == s.args[0] }), "wait for it")
	case "fail":
		return p.fail(ctx, seen, s.args[0], s.args[1])
	case "at", "armed":
		want, err := tally(s.args)
		if err != nil {
			return err
		}
		if got := p.count(seen, s.verb == "armed"); !maps.Equal(got, want) {
			return fmt.Errorf("found %s", list(got))
		}
		return nil
	case "running", "ended":
		want := 0
		if s.verb == "running" {
			if want, err = strconv.Atoi(s.args[0]); err != nil {
				return err
			}
		}
		if len(seen.live) != want {
			return fmt.Errorf("found tokens in %d instances: %s", len(seen.live), strings.Join(slices.Concat(slices.Collect(maps.Values(seen.live))...), " "))
		}
	}
	return nil
}

// data returns the variables of a step as the data of a token; nil for none.
func (p *player) data() []byte {
	if p.vars == nil {
		return nil
	}
	out, err := json.Marshal(p.vars)
	if err != nil {
		panic(err) // it was JSON
	}
	return out
}

// start begins an instance of a process.
func (p *player) start(ctx context.Context, args []string) error {
	var net int
	if len(args) > 0 {
		net = slices.IndexFunc(p.nets, func(t *petri.Tables) bool { return t.Net.ID == args[0] })
	} else {
		net = slices.IndexFunc(p.begins, func(places []string) bool { return len(places) > 0 })
	}
	if net < 0 {
		return errors.New("no such process, or it does not begin by itself")
	}
	number, err := p.free(ctx, net)
	for i := 0; err == nil && i < len(p.begins[net]); i++ {
		err = p.inject(ctx, net, number, p.begins[net][i])
	}
	return err
}

func (p *player) inject(ctx context.Context, net, number int, place string) error {
	id := p.nets[net].Net.ID
	err := p.engine.InjectData(ctx, id, number, place, 1, p.data())
	if errors.Is(err, engine.ErrPlain) {
		err = p.engine.Inject(ctx, id, number, place, 1)
	}
	return err
}

// free returns the first instance of a net in which nothing has happened.
func (p *player) free(ctx context.Context, net int) (int, error) {
	for number := p.deleted[net]; number < instances; number++ {
		m, err := p.engine.Marking(ctx, p.nets[net].Net.ID, number)
		if err != nil || slices.Max(m) == 0 {
			return number, err
		}
	}
	return 0, errors.New("all instances have begun")
}

// forget leaves the instances so far out of account.
func (p *player) forget(ctx context.Context) error {
	for net := range p.nets {
		number, err := p.free(ctx, net)
		if err != nil {
			return err
		}
		p.deleted[net] = number
	}
	return nil
}

// wait is a transition of an instance that waits for something outside.
type wait struct {
	net, instance int
	transition    int
	element       string
	tokens        int // that wait for it
}

// sight is what can be seen of all instances: what waits, the oldest first, and
// by instance the places with tokens that are not at an end.
type sight struct {
	waits []wait
	live  map[string][]string
}

func (s *sight) first(ok func(wait) bool) *wait {
	if i := slices.IndexFunc(s.waits, ok); i >= 0 {
		return &s.waits[i]
	}
	return nil
}

// look reads all instances.
func (p *player) look(ctx context.Context) (*sight, error) {
	out := &sight{live: map[string][]string{}}
	for net, tables := range p.nets {
		for number := p.deleted[net]; number < instances; number++ {
			if err := p.lookAt(ctx, out, net, number, tables); err != nil {
				return nil, err
			}
		}
	}
	return out, nil
}

func (p *player) lookAt(ctx context.Context, out *sight, net, number int, tables *petri.Tables) error {
	in, err := p.engine.Instance(ctx, tables.Net.ID, p.engine.InstanceName(number))
	if err != nil {
		return err
	}
	by := map[[2]string]int{} // tokens by transition and place
	for _, tok := range in.Tokens {
		if i, _ := tables.PlaceIndex(tok.Place); !tables.Final(i) {
			key := fmt.Sprintf("%s %d", tables.Net.ID, number)
			out.live[key] = append(out.live[key], tok.Place)
		}
		for _, w := range tok.Waits {
			if strings.Contains(w.Transition, reading) {
				continue
			}
			if w.Reason != stats.ReasonManual.String() && w.Reason != stats.ReasonDelayed.String() {
				continue
			}
			tr, ok := tables.TransitionIndex(w.Transition)
			if !ok {
				return fmt.Errorf("transition %q is not in the net", w.Transition)
			}
			by[[2]string{w.Transition, tok.Place}] += int(tok.Tokens)
			n := by[[2]string{w.Transition, tok.Place}]
			if i := slices.IndexFunc(out.waits, func(o wait) bool { return o.net == net && o.instance == number && o.transition == tr }); i >= 0 {
				out.waits[i].tokens = max(out.waits[i].tokens, n)
				continue
			}
			out.waits = append(out.waits, wait{net, number, tr, element(w.Transition), n})
		}
	}
	return nil
}

// count returns what waits, by element: boundary events and starts of event
// sub-processes, or everything else.
func (p *player) count(seen *sight, events bool) map[string]int {
	out := map[string]int{}
	for _, w := range seen.waits {
		kind := p.kinds[w.element]
		if events == (strings.HasSuffix(kind, "boundary event") || strings.HasSuffix(kind, "start event")) {
			out[w.element] += w.tokens
		}
	}
	return out
}

// fire fires a transition that waits.
func (p *player) fire(ctx context.Context, w *wait, otherwise string) error {
	if w == nil {
		return fmt.Errorf("found nothing; expected something to %s", otherwise)
	}
	tables := p.nets[w.net]
	id := tables.Net.Transitions[w.transition].ID
	err := p.engine.FireData(ctx, tables.Net.ID, w.instance, id, p.data())
	if errors.Is(err, engine.ErrPlain) {
		err = p.engine.Fire(ctx, tables.Net.ID, w.instance, id)
	}
	return err
}

// complete completes an activity, ID, or several times, ID*N.
func (p *player) complete(ctx context.Context, arg string) error {
	times, err := tally([]string{arg})
	if err != nil {
		return err
	}
	for id, n := range times {
		for range n {
			seen, err := p.look(ctx)
			if err == nil {
				err = p.fire(ctx, seen.first(func(w wait) bool { return w.element == id }), "wait for it")
			}
			if err != nil {
				return err
			}
			synctest.Wait()
		}
	}
	return nil
}

// fail lets the event occur that catches an error of an activity. Who does the
// work names that event in pnagent, and has to know it if several wait for the
// code and none of them is on the activity itself.
func (p *player) fail(ctx context.Context, seen *sight, id, code string) error {
	if seen.first(func(w wait) bool { return w.element == id }) == nil {
		return errors.New("the activity does not wait")
	}
	var found []*wait
	for i := range seen.waits {
		w := &seen.waits[i]
		name := p.nets[w.net].Net.Transitions[w.transition].Trigger.Name
		if !strings.HasPrefix(p.kinds[w.element], "error ") || name != code && name != w.element {
			continue
		}
		if slices.Contains(p.on[id], w.element) {
			return p.fire(ctx, w, "")
		}
		found = append(found, w)
	}
	switch len(found) {
	case 0:
		return errors.New("nothing waits for the error")
	case 1:
		return p.fire(ctx, found[0], "")
	}
	return errUnnamed
}

// incident returns an error unless a transition has failed or waits for a user
// after a mistake.
func (p *player) incident(ctx context.Context) error {
	for net := range p.nets {
		rows := stats.NewRows(p.nets[net].Places(), p.nets[net].Transitions())
		if err := p.engine.Rows(ctx, net, time.Now().UnixMicro(), rows); err != nil {
			return err
		}
		if rows.Net.Failed > 0 || slices.ContainsFunc(rows.Transitions, func(t stats.Transition) bool { return t.Failures > 0 }) {
			return nil
		}
	}
	return errors.New("no instance has one")
}
