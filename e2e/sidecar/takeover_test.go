// SPDX-License-Identifier: Apache-2.0

package sidecar

import (
	"context"
	"fmt"
	"maps"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/nats-io/nats.go"

	"github.com/pnagent/pnagent/e2e/kit"
	"github.com/pnagent/pnagent/internal/busytest"
	"github.com/pnagent/pnagent/snmp/snmptest"
	"github.com/pnagent/pnagent/web/api"
)

// Take-overs of a pair while alarms come and go all the time, seen by a station.
// PNAGENT_TEST_TAKEOVERS says how many.

const shelves = 6

// shelfNet has places from which a person takes tokens.
func shelfNet() string {
	var b strings.Builder
	b.WriteString(`<pnml xmlns="http://www.pnml.org/version-2009/grammar/pnml"><net id="shelves" type="http://www.pnml.org/version-2009/grammar/ptnet"><page id="p">`)
	b.WriteString(`<place id="begin"><initialMarking><text>1</text></initialMarking></place><place id="end"/>`)
	for i := range shelves {
		fmt.Fprintf(&b, `<place id="s%d"/><transition id="t%d"/><arc id="a%d" source="s%d" target="t%d"/><arc id="b%d" source="t%d" target="end"/>`, i, i, i, i, i, i, i)
	}
	b.WriteString(`</page></net></pnml>`)
	return b.String()
}

func shelfBindings() string {
	var b strings.Builder
	b.WriteString("nets:\n  shelves:\n    transitions:\n")
	for i := range shelves {
		fmt.Fprintf(&b, "      t%d: manual\n", i)
	}
	return b.String()
}

// relay is a pair that takes turns.
type relay struct {
	t     *testing.T
	nats  *nats.Conn
	start func(t *testing.T, priority int) *kit.Sidecar
	rng   *rand.Rand
	full  [shelves]bool

	mu      sync.Mutex
	alive   map[int]*kit.Sidecar // by priority
	excused func() bool          // whether it is documented that none may be on duty; nil before one was killed
	samples map[int]int          // half-seconds by how many were on duty
	bad     []string
}

// flip has something get stuck or move.
func (r *relay) flip(shelf int) {
	r.full[shelf] = !r.full[shelf]
	if r.full[shelf] {
		kit.Request(r.t, r.nats, "inject", "shelves", "berlin", fmt.Sprintf(`{"instance":0,"place":"s%d","tokens":1}`, shelf))
		return
	}
	kit.Request(r.t, r.nats, "fire", "shelves", "berlin", fmt.Sprintf(`{"instance":0,"transition":"t%d"}`, shelf))
}

// until lets alarms come and go until check returns nil, for at least so long.
func (r *relay) until(what string, least time.Duration, check func() error) {
	r.t.Helper()
	begun := time.Now()
	for {
		r.flip(r.rng.IntN(shelves))
		time.Sleep(time.Duration(100+r.rng.IntN(400)) * time.Millisecond)
		err := check()
		if took := time.Since(begun); err == nil && took >= least {
			return
		} else if took > kit.Patience {
			r.t.Fatalf("%s: %v", what, err)
		}
	}
}

// onDuty waits until the sidecar of a priority is on duty.
func (r *relay) onDuty(priority int) {
	r.t.Helper()
	r.until(fmt.Sprintf("%d is on duty", priority), time.Duration(r.rng.IntN(3000))*time.Millisecond, func() error {
		if duty, _ := r.alive[priority].Scrape(r.t).Value("pnagent_sidecar_on_duty"); duty != 1 {
			return fmt.Errorf("on duty: %v", duty)
		}
		return nil
	})
}

func (r *relay) begin(priority int) {
	r.t.Helper()
	side := r.start(r.t, priority)
	r.mu.Lock()
	r.alive[priority] = side
	r.mu.Unlock()
}

// end kills a sidecar, or has it end.
func (r *relay) end(priority int, s syscall.Signal) {
	r.t.Helper()
	side := r.alive[priority]
	if s == syscall.SIGKILL {
		r.mu.Lock()
		delete(r.alive, priority)
		var others []int
		for _, other := range r.alive {
			others = append(others, other.Cmd.Process.Pid)
		}
		killed, waited := time.Now(), busytest.Since(others...)
		r.excused = func() bool { return time.Since(killed)-waited() < 4*time.Second }
		r.mu.Unlock()
		side.Kill(r.t)
		return
	}
	side.Stop(r.t, s)
	r.mu.Lock()
	delete(r.alive, priority)
	r.mu.Unlock()
}

// duties are what those that are alive say of their duty, by priority.
func (r *relay) duties() map[int]bool {
	out := map[int]bool{}
	for priority, side := range r.alive {
		if s, err := side.ReadMetrics(); err == nil {
			duty, _ := s.Value("pnagent_sidecar_on_duty")
			out[priority] = duty == 1
		}
	}
	return out
}

// count is how many are on duty at one moment: all say the same when they are asked
// again. Otherwise a duty that is handed over between two answers counts twice.
func (r *relay) count() (n int, excused bool) {
	r.mu.Lock()
	defer r.mu.Unlock()
	said := r.duties()
	for range 10 {
		again := r.duties()
		if maps.Equal(said, again) {
			break
		}
		said = again
	}
	for _, duty := range said {
		if duty {
			n++
		}
	}
	return n, r.excused != nil && r.excused()
}

// watch counts each half-second how many are on duty. What is not one is looked at
// again a moment later: a duty is handed over within that.
func (r *relay) watch(ctx context.Context) {
	tick := time.NewTicker(500 * time.Millisecond)
	defer tick.Stop()
	for {
		select {
		case <-ctx.Done():
			return
		case <-tick.C:
		}
		n, excused := r.count()
		if n != 1 && !excused {
			time.Sleep(150 * time.Millisecond)
			n, excused = r.count()
		}
		if excused {
			continue
		}
		r.samples[n]++
		if n != 1 {
			r.bad = append(r.bad, fmt.Sprintf("%d on duty at %s", n, time.Now().Format("15:04:05.000")))
		}
	}
}

// figures are what a station computes from the values that it received.
type figures struct{ raises, clears, twice, unknown, unclear int }

func figuresOf(all []snmptest.Notification) (f figures) {
	raised, cleared := map[string]int{}, map[string]int{}
	for _, n := range all {
		switch s := kit.NoticeOf(n); s.Notification {
		case kit.TokenStuck:
			if raised[s.Alarm]++; raised[s.Alarm] == 1 {
				f.raises++
			} else {
				f.twice++
			}
		case kit.TokenMoving:
			if raised[s.Alarm] == 0 {
				f.unknown++
			}
			if cleared[s.Alarm]++; cleared[s.Alarm] == 1 {
				f.clears++
			} else {
				f.twice++
			}
		}
	}
	for index := range raised {
		if cleared[index] == 0 {
			f.unclear++
		}
	}
	return f
}

func takeOvers(t *testing.T) int {
	text := os.Getenv("PNAGENT_TEST_TAKEOVERS")
	if text == "" {
		return 4
	}
	n, err := strconv.Atoi(text)
	if err != nil {
		t.Fatal(err)
	}
	return n
}

//promise:clears kill stop
func TestAtEveryTakeOverEachRaiseHasItsClear(t *testing.T) {
	t.Parallel()
	rules := kit.Write(t, "alarms.yaml", strings.Replace(kit.Impatient, "settle: 0s", "settle: 6s", 1)+"  - {place: begin, stuck: off}\n")
	for _, c := range []struct {
		name   string
		agentX bool
	}{{"by trap sinks", false}, {"by snmpd", true}} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			var sink *snmptest.Snmptrapd
			var natsURL, master string
			if c.agentX {
				p := startPair(t)
				sink, natsURL, master = p.sink, p.natsURL, p.AgentX
			} else {
				sink, natsURL = snmptest.StartTrapd(t), kit.StartNATS(t)
			}
			dir := t.TempDir()
			r := &relay{t: t, nats: kit.Connect(t, natsURL), rng: rand.New(rand.NewPCG(1, 2)), alive: map[int]*kit.Sidecar{}, samples: map[int]int{},
				start: func(t *testing.T, priority int) *kit.Sidecar {
					args := []string{"--alarms", rules, "--mib-dir", "", "--agentx.priority", strconv.Itoa(priority),
						"--alarm-state", filepath.Join(dir, strconv.Itoa(priority))}
					if !c.agentX {
						return kit.Serve(t, natsURL, append(args, "--snmp.trap-sink", sink.Addr)...)
					}
					side := kit.Serve(t, natsURL, append(args, "--agentx", master)...)
					side.Registered(t)
					return side
				}}
			kit.RunEngine(t, natsURL, "berlin", "--bindings", kit.Write(t, "bindings.yaml", shelfBindings()), kit.Write(t, "shelves.pnml", shelfNet()))
			r.run(takeOvers(t), sink)
		})
	}
}

// run makes steps, and checks what the station received.
func (r *relay) run(turns int, sink *snmptest.Snmptrapd) {
	t := r.t
	t.Helper()
	r.begin(100)
	r.begin(127)
	r.onDuty(100)
	ctx, stop := context.WithCancel(t.Context())
	var watching sync.WaitGroup
	watching.Go(func() { r.watch(ctx) })
	for turn := 0; turn < turns; turn += 2 {
		r.end(100, []syscall.Signal{syscall.SIGKILL, syscall.SIGTERM}[turn/2%2])
		r.onDuty(127)
		r.begin(100)
		r.onDuty(100)
	}
	for shelf, full := range r.full {
		if full {
			r.flip(shelf)
		}
	}
	for _, side := range r.alive {
		kit.Until(t, "all is over", func() error {
			if n := len(side.Alarms(t)); n != 0 {
				return fmt.Errorf("%d alarms are active", n)
			}
			return nil
		})
	}
	var f figures
	kit.Until(t, "the station is notified that all is over", func() error {
		f = figuresOf(sink.Wait(t, 1))
		if f.unclear > 0 {
			return fmt.Errorf("%+v", f)
		}
		return nil
	})
	stop()
	watching.Wait()
	t.Logf("%d take-overs: %d raises, %d clears, %d came twice, %d clears of an unknown index, %d raises without a clear; half-seconds by how many were on duty: %v",
		turns, f.raises, f.clears, f.twice, f.unknown, f.unclear, r.samples)
	if f.raises == 0 || f.unknown > 0 || f.clears != f.raises {
		t.Errorf("got %+v of the station; want as many clears as raises, and none unknown", f)
	}
	if len(r.bad) > 0 {
		t.Errorf("not one was on duty: %s", strings.Join(r.bad, ", "))
	}
}

func TestBothSidecarsOfAPairShowTheSameAlarmsUnderTheSameIndices(t *testing.T) {
	t.Parallel()
	rules := kit.Write(t, "alarms.yaml", strings.Replace(kit.Impatient, "settle: 0s", "settle: 6s", 1)+"  - {place: begin, stuck: off}\n")
	sink, natsURL := snmptest.StartTrapd(t), kit.StartNATS(t)
	begin := func(priority string) *kit.Sidecar {
		return kit.Serve(t, natsURL, "--alarms", rules, "--mib-dir", "", "--agentx.priority", priority, "--snmp.trap-sink", sink.Addr, "--snmp", "127.0.0.1:0")
	}
	primary := begin("100")
	kit.RunEngine(t, natsURL, "berlin", "--bindings", kit.Write(t, "bindings.yaml", shelfBindings()), kit.Write(t, "shelves.pnml", shelfNet()))
	r := &relay{t: t, nats: kit.Connect(t, natsURL)}
	same := func(n int, sides ...*kit.Sidecar) {
		t.Helper()
		kit.Until(t, "all show the same", func() error {
			first := identities(sides[0].Alarms(t))
			if len(first) != n {
				return fmt.Errorf("there is %v", first)
			}
			for _, side := range sides[1:] {
				if diff := cmp.Diff(first, identities(side.Alarms(t))); diff != "" {
					return fmt.Errorf("another list: %s", diff)
				}
			}
			return nil
		})
	}
	for i := range 3 {
		r.flip(i)
		same(i+1, primary)
	}
	r.flip(1)
	same(2, primary)
	osaka := kit.RunEngine(t, natsURL, "osaka", "--bindings", kit.Write(t, "bindings.yaml", shelfBindings()), kit.Write(t, "shelves.pnml", shelfNet()))
	kit.Request(t, r.nats, "inject", "shelves", "osaka", `{"instance":0,"place":"s5","tokens":2}`)
	same(3, primary)
	osaka.Kill(t)
	silent(t, primary)
	standby := begin("127") // has no earlier state, and does not receive osaka's messages
	silent(t, standby)
	same(3, primary, standby)
	r.flip(1)
	same(4, primary, standby)
	before := identities(primary.Alarms(t))
	primary.Kill(t)
	kit.OnDuty(t, standby)
	same(4, standby)
	if diff := cmp.Diff(before, identities(standby.Alarms(t))); diff != "" {
		t.Errorf("the one that took over shows other indices: %s", diff)
	}
	r.flip(0)
	same(3, standby)
	primary = begin("100") // without a file
	silent(t, primary)
	same(3, primary, standby)
	kit.OnDuty(t, primary, standby)
	silent(t, primary)
	same(3, primary, standby) // what osaka holds is stuck still
}

// silent waits until a sidecar shows, by all of its faces, that osaka is stale and
// holds two tokens.
func silent(t *testing.T, side *kit.Sidecar) {
	t.Helper()
	kit.Until(t, "all faces show what is silent", func() error {
		m := side.Scrape(t)
		tokens, _ := m.Value("petrinet_place_tokens", "net", "shelves", "place", "s5")
		up, has := m.Value("petrinet_source_up", "net", "shelves", "source", "osaka")
		if state := side.View(t).Source("shelves", "osaka"); state != "stale" || tokens != 2 || !has || up != 0 {
			return fmt.Errorf("the source is %q in the View; in metrics up %v, %v, and there are %v tokens", state, up, has, tokens)
		}
		table := kit.Walk(t, snmptest.Client{Addr: side.SNMP})
		for index, name := range table.Column(kit.SourceTable, kit.ColumnID) {
			if name.Str == "osaka" && table.Column(kit.SourceTable, kit.SourceState)[index].Num == 2 {
				return nil
			}
		}
		return fmt.Errorf("not stale by SNMP: %v", table.Column(kit.SourceTable, kit.SourceState))
	})
}

// identities are index and place of alarms.
func identities(alarms []api.Alarm) []string {
	var out []string
	for _, a := range alarms {
		out = append(out, fmt.Sprintf("%d %s", a.Index, a.Place))
	}
	slices.Sort(out)
	return out
}
