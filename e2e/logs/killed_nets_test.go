// SPDX-License-Identifier: Apache-2.0

package logs

import (
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/nats-io/nats.go"

	"github.com/pnagent/pnagent/e2e/kit"
	"github.com/pnagent/pnagent/petri"
	"github.com/pnagent/pnagent/petri/bpmn"
	"github.com/pnagent/pnagent/petri/pnml"
	"github.com/pnagent/pnagent/telemetry"
)

// mortal is a net that is played by an engine which is killed again and again.
type mortal struct {
	id, file string
	bindings string // of its transitions; "" for none
	into     string // the place that tokens are injected into
	data     string // that they carry; "" for none
	rest     string // how its instances come to rest; "" if they do not
}

// mortals are nets of all kinds: those that never rest, that end, that deadlock,
// with delays, with data, of a process.
func mortals() []mortal {
	net := func(id, places, transitions string, arcs ...string) string {
		var b strings.Builder
		fmt.Fprintf(&b, `<pnml xmlns="http://www.pnml.org/version-2009/grammar/pnml"><net id="%s" type="http://www.pnml.org/version-2009/grammar/ptnet"><page id="page">`, id)
		for _, p := range strings.Fields(places) {
			name, tokens, _ := strings.Cut(p, ":")
			fmt.Fprintf(&b, `<place id="%s"><initialMarking><text>%s</text></initialMarking></place>`, name, cmp.Or(tokens, "0"))
		}
		for _, t := range strings.Fields(transitions) {
			fmt.Fprintf(&b, `<transition id="%s"/>`, t)
		}
		for k, a := range arcs {
			from, to, _ := strings.Cut(a, ">")
			fmt.Fprintf(&b, `<arc id="a%d" source="%s" target="%s"/>`, k, from, to)
		}
		return b.String() + `</page></net></pnml>`
	}
	pace := "v: {delay: 10ms}"
	if os.Getenv("PNAGENT_KILLS") != "" {
		pace = "" // as fast as it can, which makes a log that is long to read
	}
	return []mortal{
		{id: "round", into: "a", bindings: pace, file: net("round", "a:1 b c", "t u v", "a>t", "t>b", "b>u", "u>c", "c>v", "v>a")},
		{id: "ends", into: "a", rest: "ended", file: net("ends", "a:1 b c", "t u", "a>t", "t>b", "b>u", "u>c")},
		{id: "stops", into: "a", rest: "deadlocked", file: net("stops", "a:1 b never c", "t u", "a>t", "t>b", "b>u", "never>u", "u>c")},
		{id: "slow", into: "a", file: net("slow", "a:1 b c", "t u v", "a>t", "t>b", "b>u", "u>c", "c>v", "v>a"),
			bindings: "t: {delay: 20ms}\n      u: {delay: {exponential: 30ms}}"},
		{id: "sorted", into: "in", data: `{"n":%d}`, file: net("sorted", "in even odd out", "left right again done", "in>left", "left>even", "in>right", "right>odd",
			"even>done", "done>out", "odd>again", "again>out"), rest: "ended",
			bindings: "left: {guard: \"n % 2 == 0\"}\n      right: {guard: \"n % 2 == 1\"}\n      done: {command: [\"true\"], retry: {first: 20ms}}"},
		{id: "hire", into: "asked/start", rest: "", file: hireProcess},
	}
}

// hireProcess has a process with gateways, which waits for no user.
const hireProcess = `<?xml version="1.0" encoding="UTF-8"?>
<definitions xmlns="http://www.omg.org/spec/BPMN/20100524/MODEL" id="d" targetNamespace="t">
  <process id="hire" isExecutable="true">
    <startEvent id="asked"/><parallelGateway id="fork"/><task id="read"/><task id="call"/><parallelGateway id="join"/>
    <exclusiveGateway id="fit"/><task id="sign"/><task id="decline"/><endEvent id="hired"/><endEvent id="declined"/>
    <sequenceFlow id="f1" sourceRef="asked" targetRef="fork"/><sequenceFlow id="f2" sourceRef="fork" targetRef="read"/>
    <sequenceFlow id="f3" sourceRef="fork" targetRef="call"/><sequenceFlow id="f4" sourceRef="read" targetRef="join"/>
    <sequenceFlow id="f5" sourceRef="call" targetRef="join"/><sequenceFlow id="f6" sourceRef="join" targetRef="fit"/>
    <sequenceFlow id="f7" sourceRef="fit" targetRef="sign"/><sequenceFlow id="f8" sourceRef="fit" targetRef="decline"/>
    <sequenceFlow id="f9" sourceRef="sign" targetRef="hired"/><sequenceFlow id="f10" sourceRef="decline" targetRef="declined"/>
  </process>
</definitions>
`

// ledgerOf is what is known from outside of a net whose engine is killed.
type ledgerOf struct {
	mortal
	tables    *petri.Tables
	source    string
	instances int
	snapshots *nats.Subscription // of the engine

	injected uint64 // acknowledged, or found to be there
	open     uint64 // sent since, and not acknowledged
}

func (m mortal) ledger(t *testing.T, nc *nats.Conn, source string, instances int) *ledgerOf {
	t.Helper()
	snapshots, err := nc.SubscribeSync(telemetry.Subjects{}.Snapshot(m.id, source))
	if err != nil {
		t.Fatal(err)
	}
	var nets []*petri.Net
	if strings.HasPrefix(m.file, "<?xml") {
		f, err := bpmn.Read(strings.NewReader(m.file), m.id, bpmn.Limits{})
		if err != nil {
			t.Fatal(err)
		}
		nets = f.Nets
	} else {
		f, err := pnml.Read(strings.NewReader(m.file), m.id, pnml.DefaultLimits())
		if err != nil {
			t.Fatal(err)
		}
		nets = f.Nets
	}
	tables, err := petri.Compile(nets[0])
	if err != nil {
		t.Fatal(err)
	}
	return &ledgerOf{mortal: m, tables: tables, source: source, instances: instances, snapshots: snapshots}
}

func (l *ledgerOf) subject() string { return "petrinet.v1.inject." + l.id + "." + l.source }

func (l *ledgerOf) request() []byte {
	body := map[string]any{"instance": rand.IntN(l.instances), "place": l.into}
	if l.data != "" {
		body["data"] = json.RawMessage(fmt.Sprintf(l.data, rand.IntN(1000)))
	}
	text, _ := json.Marshal(body)
	return text
}

// inject puts a token in, and notes whether that was acknowledged.
func (l *ledgerOf) inject(nc *nats.Conn) bool {
	m, err := nc.Request(l.subject(), l.request(), time.Second)
	switch {
	case err == nil && string(m.Data) == `{"ok":true}`:
		l.injected++
		return true
	case !errors.Is(err, nats.ErrNoResponders):
		l.open++
	}
	return false
}

// acknowledged injects until that is acknowledged. The next snapshot is the first one that
// was received afterwards.
func (l *ledgerOf) acknowledged(t *testing.T, nc *nats.Conn) {
	t.Helper()
	kit.Until(t, "an injection into "+l.id+" is acknowledged", func() error {
		if !l.inject(nc) {
			return errors.New("it is not")
		}
		return nil
	})
	for pending, _, _ := l.snapshots.Pending(); pending > 0; pending, _, _ = l.snapshots.Pending() {
		l.snapshot(t)
	}
}

// taken returns a snapshot that was taken after what was acknowledged: the one after the
// next, for the next may have been on its way.
func (l *ledgerOf) taken(t *testing.T) *telemetry.Snapshot {
	t.Helper()
	l.snapshot(t)
	return l.snapshot(t)
}

// snapshot returns the next one that the engine publishes of the net.
func (l *ledgerOf) snapshot(t *testing.T) *telemetry.Snapshot {
	t.Helper()
	m, err := l.snapshots.NextMsg(kit.Patience)
	if err != nil {
		t.Fatalf("a snapshot of %s: %v", l.id, err)
	}
	var s telemetry.Snapshot
	if err := new(telemetry.Decoder).Decode(m.Data, &s); err != nil {
		t.Fatalf("a snapshot of %s: %v", l.id, err)
	}
	return &s
}

// counted is what a sidecar shows of a net.
type counted struct {
	ID        string
	Instances struct{ Created, Finished, Failed, Active, Deadlocked uint64 }
	Places    []struct {
		ID                           string
		Tokens, Arrivals, Departures uint64
		Dwell                        struct{ Count uint64 }
	}
	Transitions []struct {
		ID                string
		Firings, Failures uint64
	}
}

// account holds what a sidecar shows to what is known: each token that was
// acknowledged, those that arrived less those that left, and the marking that the
// firings make of the initial one. What was open and is there is acknowledged from
// then on.
func (l *ledgerOf) account(shown *counted) error {
	firings := map[string]uint64{}
	for _, t := range shown.Transitions {
		firings[t.ID] = t.Firings
	}
	in, out := make([]uint64, l.tables.Places()), make([]uint64, l.tables.Places())
	for p, m := range l.tables.Initial {
		in[p] = uint64(m) * uint64(l.instances)
	}
	for tr := range l.tables.Transitions() {
		for _, e := range l.tables.Effects(tr) {
			n := firings[l.tables.Net.Transitions[tr].ID]
			in[e.Place] += n * uint64(e.Put)
			out[e.Place] += n * uint64(e.Take)
		}
	}
	injected := uint64(0)
	for p, row := range shown.Places {
		if row.ID == l.into {
			injected = row.Arrivals - in[p]
			in[p] = row.Arrivals
		}
		if row.Arrivals != in[p] || row.Departures != out[p] || row.Dwell.Count != out[p] || row.Tokens != in[p]-out[p] {
			return fmt.Errorf("place %s: %+v; expected %d arrivals, %d departures, as the transitions fired: %v", row.ID, row, in[p], out[p], firings)
		}
	}
	if injected < l.injected || injected > l.injected+l.open {
		return fmt.Errorf("%d tokens were injected; expected %d, and up to %d more", injected, l.injected, l.open)
	}
	n := shown.Instances
	switch {
	case n.Created-n.Finished-n.Failed != n.Active, n.Failed > 0:
		return fmt.Errorf("instances %+v", n)
	case l.rest != "ended" && l.id != "hire" && (n.Created != uint64(l.instances) || n.Finished > 0):
		return fmt.Errorf("instances %+v; expected %d created and none finished", n, l.instances)
	case l.rest == "ended" && l.data == "" && n.Active > 0, l.rest == "deadlocked" && n.Deadlocked != uint64(l.instances):
		return fmt.Errorf("instances %+v, not at rest", n)
	case n.Created > uint64(l.instances)+injected:
		return fmt.Errorf("instances %+v; expected at most one more for each of %d injections", n, injected)
	}
	l.injected, l.open = injected, 0
	return nil
}

// show returns what a sidecar shows of the net once it has merged that snapshot, if
// there is one to wait for.
func (l *ledgerOf) show(w kit.Web, merged *telemetry.Snapshot) (*counted, error) {
	var v struct {
		Nets    []counted
		Sources []struct {
			Name, Net string
			Epoch     int64
			Seq       uint64
		}
	}
	_, text, err := w.Get("/api/v1/view")
	if err == nil {
		err = json.Unmarshal(text, &v)
	}
	if err != nil {
		return nil, err
	}
	shown := merged == nil
	for _, s := range v.Sources {
		shown = shown || s.Name == l.source && s.Net == l.id && s.Epoch == merged.Epoch && s.Seq >= merged.Seq
	}
	if !shown {
		return nil, fmt.Errorf("sources are shown as %v; waiting for epoch %d, snapshot %d of net %s", v.Sources, merged.Epoch, merged.Seq, l.id)
	}
	for k := range v.Nets {
		if v.Nets[k].ID == l.id && len(v.Nets[k].Places) == l.tables.Places() {
			return &v.Nets[k], nil
		}
	}
	return nil, fmt.Errorf("net %s is not shown", l.id)
}

// killsOfNet is how often the engine of each net is killed.
func killsOfNet() int {
	if os.Getenv("PNAGENT_KILLS") != "" {
		return kills()
	}
	return 2
}

// An engine that is killed at any moment counts on where it was, whatever its nets
// do: what a sidecar shows is what the acknowledgements and the net's own equation
// say, after each kill.
//
//promise:counters kill
func TestKilledEnginesCountWhatTheirNetsDid(t *testing.T) {
	t.Parallel()
	natsURL := kit.StartNATS(t)
	s := kit.Serve(t, natsURL)
	for _, m := range mortals() {
		t.Run(m.id, func(t *testing.T) {
			t.Parallel()
			live(t, natsURL, s.Web, "only "+m.id, []mortal{m})
		})
	}
	t.Run("all nets at once", func(t *testing.T) {
		t.Parallel()
		natsURL := kit.StartNATS(t) // counts are of a net over all engines
		live(t, natsURL, kit.Serve(t, natsURL).Web, "all", mortals())
	})
}

// live has an engine of nets killed and started again, and holds what a sidecar
// shows to account after each start.
func live(t *testing.T, natsURL string, w kit.Web, name string, nets []mortal) {
	const instances = 20
	source := strings.ReplaceAll(name, " ", "-")
	dir := t.TempDir()
	args := []string{"--journal", filepath.Join(dir, "journal"), "--instances", fmt.Sprint(instances), "--workers", "2"}
	nc := kit.Connect(t, natsURL)
	bindings := "nets:\n"
	var ledgers []*ledgerOf
	var files []string
	for _, m := range nets {
		ledgers = append(ledgers, m.ledger(t, nc, source, instances))
		suffix := ".pnml"
		if strings.HasPrefix(m.file, "<?xml") {
			suffix = ".bpmn"
		}
		files = append(files, kit.Write(t, m.id+suffix, m.file))
		if m.bindings != "" {
			bindings += "  " + m.id + ":\n    transitions:\n      " + m.bindings + "\n"
		}
	}
	if bindings != "nets:\n" {
		args = append(args, "--bindings", kit.Write(t, "bindings.yaml", bindings))
	}
	balanced := func(life int) {
		for _, l := range ledgers {
			l.acknowledged(t, nc)
		}
		for _, l := range ledgers {
			merged := l.taken(t)
			kit.Until(t, fmt.Sprintf("life %d: net %s is shown as it is", life, l.id), func() error {
				shown, err := l.show(w, merged)
				if err != nil {
					return err
				}
				return l.account(shown)
			})
		}
	}
	for life := range killsOfNet() {
		e := kit.RunEngine(t, natsURL, source, append(args, files...)...)
		balanced(life)
		stop := time.Now().Add(time.Duration(rand.IntN(300)) * time.Millisecond)
		var injecting sync.WaitGroup
		for _, l := range ledgers {
			injecting.Go(func() {
				for time.Now().Before(stop) {
					l.inject(nc)
				}
				l.open++ // one more is under way when the process dies
				_ = nc.Publish(l.subject(), l.request())
			})
		}
		injecting.Wait()
		_ = nc.Flush()
		e.Kill(t)
	}
	e := kit.RunEngine(t, natsURL, source, append(args, files...)...)
	balanced(killsOfNet())
	e.Stop(t, os.Interrupt)
	r := kit.ParseReport(t, e.Out.String())
	for _, l := range ledgers {
		kit.Until(t, "the sidecar shows what "+l.id+" ended with", func() error {
			shown, err := l.show(w, nil)
			if err != nil {
				return err
			}
			metrics, err := w.ReadMetrics()
			if err != nil {
				return err
			}
			for _, tr := range shown.Transitions {
				want := r.Nets[l.id].Transitions[tr.ID]
				exported, _ := metrics.Value("petrinet_transition_firings_total", "net", l.id, "transition", tr.ID)
				if tr.Firings != want || exported != float64(want) {
					return fmt.Errorf("transition %s: %d firings, %v in /metrics; the engine has counted %d", tr.ID, tr.Firings, exported, want)
				}
			}
			return nil
		})
	}
	total := uint64(0)
	for _, l := range ledgers {
		total += l.injected
	}
	t.Logf("%d kills, %d tokens injected, %d firings", killsOfNet(), total, r.Firings)
}
