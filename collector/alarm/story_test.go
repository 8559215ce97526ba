// SPDX-License-Identifier: Apache-2.0

package alarm

import (
	"bufio"
	"bytes"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"go.uber.org/goleak"

	"github.com/pnagent/pnagent/collector/merge"
	"github.com/pnagent/pnagent/petri"
	"github.com/pnagent/pnagent/stats"
	"github.com/pnagent/pnagent/telemetry/natslink"
)

const t0 = int64(1_790_000_000_000_000) // an arbitrary moment in 2026

func update() bool { return flag.Lookup("update").Value.String() == "true" }

func TestMain(m *testing.M) {
	flag.Bool("update", false, "write what is seen into testdata instead of comparing with it")
	goleak.VerifyTestMain(m)
}

// Each file of testdata/stories is a scenario over time. A line is a command; the lines
// after it that begin with "> " are its result.
//
//	rules                               the lines after it, after "| ", are the file
//	reload                              the same, for the running machine
//	net NET PLACE… / TRANSITION… / FROM>TO…    in the View from now on; again to replace its definition
//	drop NET                            not in the View any more
//	columns NET all | nothing | firings which columns the sources fill in
//	place NET PLACE tokens=3 oldest=5s  times are since the beginning
//	transition NET TRANSITION enabled=1 since=5s fired=7s due=9s firings=9 failures=1
//	since NET 5s                        the counters of the net restart
//	deadlocked NET 3
//	recalled NET 2                      number of its sources without messages since the start
//	source NAME NET up|stale|gone|forgotten|undefined|refused|conflict last=5s [region=R fence=1 [stopped=WHY]] [columns=nothing]   last is its last message
//	holds NAME NET nothing | silent | left=5s [region=R] [PLACE=3@1s] [TRANSITION=2] [dead=1]   what it does not report any more, and when that left the sums
//	without NAME                        not in the View any more
//	nats connected 5s SERVER            since when the sidecar is connected to NATS
//	nats away 5s REASON                 since when not, and why
//	agentx up|away 5s REASON            the same for the session with the AgentX master
//	agentx others NAMES                 the other sidecars of the group without one
//	interrupted on | off                whether what the View shows is from before a break
//	at 10s                              a step, and what it changes
//	from 11s to 60s                     a step a second
//	active                              the active alarms
//	texts                               their texts
//	severities                          their severities, and how many have each
//	close INDEX BY                      a person closes an alarm
//	restart                             a process ends and another starts
//	lost                                as restart, but its file is damaged
//	room 2                              the largest number of active alarms
func TestStories(t *testing.T) {
	files, err := filepath.Glob("testdata/stories/*.txt")
	if err != nil || len(files) == 0 {
		t.Fatalf("no stories: %v", err)
	}
	for _, file := range files {
		t.Run(strings.TrimSuffix(filepath.Base(file), ".txt"), func(t *testing.T) {
			text, err := os.ReadFile(file)
			if err != nil {
				t.Fatal(err)
			}
			got := play(t, text)
			if update() {
				if err := os.WriteFile(file, []byte(got), 0o644); err != nil {
					t.Fatal(err)
				}
			}
			if d := cmp.Diff(string(text), got); d != "" && !update() {
				t.Errorf("the story differs (-want +got):\n%s", d)
			}
		})
	}
}

// forgetAfter is that of the stories' collector.
const forgetAfter = 15 * time.Minute

// story is the state of one.
type story struct {
	t     *testing.T
	rules *Rules
	yaml  *strings.Builder // while rules are read
	goOn  bool             // with them
	m     *Machine
	view  *merge.View
	shown *merge.View // view as of the last step; nil if it has changed since
	now   int64
}

// play runs the commands and returns the file as it should read.
func play(t *testing.T, text []byte) string {
	s := &story{t: t, rules: DefaultRules(), view: &merge.View{}, now: t0}
	s.m = NewMachine(s.rules, Saved{}, forgetAfter)
	var out strings.Builder
	lines := bufio.NewScanner(bytes.NewReader(text))
	for lines.Scan() {
		line := lines.Text()
		if strings.HasPrefix(line, "> ") {
			continue
		}
		if yaml, ok := strings.CutPrefix(line, "| "); ok {
			fmt.Fprintln(&out, line)
			fmt.Fprintln(s.yaml, yaml)
			continue
		}
		s.takeRules()
		fmt.Fprintln(&out, line)
		if line == "" || line[0] == '#' {
			continue
		}
		for answer := range strings.Lines(s.do(line)) {
			fmt.Fprint(&out, "> ", answer)
		}
	}
	return out.String()
}

func (s *story) takeRules() {
	if s.yaml == nil {
		return
	}
	rules, err := ReadRules(strings.NewReader(s.yaml.String()), "rules.yaml")
	if err != nil {
		s.t.Fatal(err)
	}
	s.rules, s.yaml = rules, nil
	if s.goOn {
		s.m = s.m.With(rules)
		return
	}
	s.restart(s.m.Saved())
}

func (s *story) restart(saved Saved) {
	room := s.m.maxActive
	s.m = NewMachine(s.rules, saved, forgetAfter)
	s.m.maxActive = room
}

func (s *story) do(line string) string {
	words := strings.Fields(line)
	if words[0] != "at" && words[0] != "from" {
		s.shown = nil
	}
	switch words[0] {
	case "rules", "reload":
		s.yaml, s.goOn = &strings.Builder{}, words[0] == "reload"
	case "net", "drop":
		s.net(words[1], words[2:], words[0] == "drop")
	case "columns":
		s.netNamed(words[1]).Rows.Columns = map[string]stats.Columns{"all": stats.AllColumns, "nothing": 0, "firings": stats.ColFirings}[words[2]]
	case "place", "transition", "deadlocked", "recalled", "since":
		s.row(words)
	case "source":
		s.source(words[1], words[2], words[3], micros(s.t, strings.TrimPrefix(words[4], "last=")))
		s.region(words[1], words[2], words[5:])
	case "holds":
		s.holds(words[1], s.netNamed(words[2]), words[3], words[4:])
	case "close":
		_, changes, err := s.m.Close([]uint32{uint32(number(s.t, words[1]))}, "closed by "+words[2], s.now)
		if err != nil {
			return err.Error() + "\n"
		}
		var out strings.Builder
		s.changes(&out, changes)
		return out.String()
	case "nats":
		s.nats(words[1] == "connected", micros(s.t, words[2]), strings.Join(words[3:], " "))
	case "agentx":
		s.agentx(words[1], words[2:])
	case "interrupted":
		s.view.Interrupted = words[1] == "on"
	case "without":
		var left []merge.Source
		for _, src := range s.view.Sources {
			if src.Name != words[1] {
				left = append(left, src)
			}
		}
		s.view.Sources = left
	case "at":
		return s.steps(micros(s.t, words[1]), micros(s.t, words[1]), false)
	case "from":
		return s.steps(micros(s.t, words[1]), micros(s.t, words[3]), true)
	case "active":
		return s.active()
	case "texts":
		var out strings.Builder
		for _, a := range s.m.State(0).Active {
			fmt.Fprintf(&out, "%d %s\n", a.Index, a.Text)
		}
		return out.String()
	case "severities":
		return severitiesOf(s.m.State(0))
	case "restart":
		saved := s.m.Saved()
		read, err := ParseSaved(saved.Text())
		if err != nil {
			s.t.Fatal(err)
		}
		s.restart(read)
	case "lost":
		s.restart(Saved{Last: FirstIndex(s.now)})
	case "room":
		s.m.maxActive, _ = strconv.Atoi(words[1])
		s.m.moved()
	default:
		s.t.Fatalf("no command %q", line)
	}
	return ""
}

func (s *story) netNamed(name string) *merge.NetView {
	for _, n := range s.view.Nets {
		if n.Name == name {
			return n
		}
	}
	s.t.Fatalf("no net %q", name)
	return nil
}

func (s *story) net(name string, words []string, drop bool) {
	var nets []*merge.NetView
	old := stats.NewRows(0, 0)
	for _, n := range s.view.Nets {
		if n.Name != name {
			nets = append(nets, n)
		} else {
			old = n.Rows
		}
	}
	s.view.Nets = nets
	if drop {
		return
	}
	def, part := &petri.Net{ID: name}, 0
	for _, w := range words {
		from, to, arc := strings.Cut(w, ">")
		switch {
		case w == "/":
			part++
		case arc:
			def.Arcs = append(def.Arcs, petri.Arc{Source: from, Target: to, Weight: 1})
		case part == 0:
			def.Places = append(def.Places, petri.Place{ID: w})
		default:
			def.Transitions = append(def.Transitions, petri.Transition{ID: w})
		}
	}
	rows := stats.NewRows(len(def.Places), len(def.Transitions))
	rows.Columns = stats.AllColumns
	copy(rows.Places, old.Places)
	copy(rows.Transitions, old.Transitions)
	s.view.Nets = append(s.view.Nets, &merge.NetView{Name: name, Def: def, Final: def.FinalPlaces(), Rows: rows})
}

// row sets fields of a row of a net.
func (s *story) row(words []string) {
	n := s.netNamed(words[1])
	switch words[0] {
	case "deadlocked":
		n.Rows.Net.Deadlocked = number(s.t, words[2])
		return
	case "recalled":
		n.Recalled = int(number(s.t, words[2]))
		return
	case "since":
		n.Since = t0 + micros(s.t, words[2])
		return
	}
	for _, w := range words[3:] {
		name, value, _ := strings.Cut(w, "=")
		if words[0] == "place" {
			s.place(n, words[2], name, value)
		} else {
			s.transition(n, words[2], name, value)
		}
	}
}

func (s *story) place(n *merge.NetView, id, name, value string) {
	for i := range n.Def.Places {
		if n.Def.Places[i].ID != id {
			continue
		}
		switch p := &n.Rows.Places[i]; name {
		case "tokens":
			p.Tokens = number(s.t, value)
		case "oldest":
			p.Oldest, p.Ages = moment(s.t, value), stats.Ladder{}
			if p.Oldest != 0 {
				p.Ages.Add(p.Oldest, max(s.now, p.Oldest), p.Tokens)
			}
		}
		return
	}
	s.t.Fatalf("no place %q", id)
}

func (s *story) transition(n *merge.NetView, id, name, value string) {
	for i := range n.Def.Transitions {
		if n.Def.Transitions[i].ID != id {
			continue
		}
		switch tr := &n.Rows.Transitions[i]; name {
		case "enabled":
			tr.Enabled = number(s.t, value)
		case "since":
			tr.EnabledSince = moment(s.t, value)
		case "fired":
			tr.LastFiring = moment(s.t, value)
		case "due":
			tr.NextDue = moment(s.t, value)
		case "firings":
			tr.Firings = number(s.t, value)
		case "failures":
			tr.Failures = number(s.t, value)
		}
		return
	}
	s.t.Fatalf("no transition %q", id)
}

// region sets the region of a source.
func (s *story) region(name, net string, words []string) {
	for i := range s.view.Sources {
		src := &s.view.Sources[i]
		if src.Name != name || src.Net != net {
			continue
		}
		src.RegionStopped = ""
		for _, w := range words {
			switch key, value, _ := strings.Cut(w, "="); key {
			case "region":
				src.Region = value
			case "fence":
				src.Fence = number(s.t, value)
			case "log": // when it was created, and with it the process that owns it
				src.Since, src.Epoch = moment(s.t, value), moment(s.t, value)
			case "stopped":
				src.RegionStopped = value
			case "columns":
				src.Columns = 0
			}
		}
	}
}

func (s *story) source(name, net, state string, received int64) {
	src := merge.Source{Name: name, Net: net, LastMessage: t0 + received,
		State: map[string]merge.SourceState{"up": merge.Up, "stale": merge.Stale, "gone": merge.Gone, "forgotten": merge.Gone, "undefined": merge.Undefined,
			"refused": merge.Refused, "conflict": merge.Refused, "unread": merge.Refused}[state], Conflict: state == "conflict", Unread: state == "unread",
		Forgotten: state == "forgotten", Columns: stats.AllColumns}
	if src.State == merge.Refused {
		src.Reason = "counter_fell: arrivals of place 0"
	}
	if src.Conflict {
		src.Reason = "two processes publish as this source"
	}
	for i := range s.view.Sources {
		if old := &s.view.Sources[i]; old.Name == name && old.Net == net {
			*old = src
			return
		}
	}
	s.view.Sources = append(s.view.Sources, src)
}

// holds sets what a source of a net does not report any more.
func (s *story) holds(name string, n *merge.NetView, left string, words []string) {
	n.Remnants = slices.DeleteFunc(slices.Clone(n.Remnants), func(r *merge.Remnant) bool { return r.Source == name })
	if left == "nothing" {
		return
	}
	r := &merge.Remnant{Source: name}
	if at, is := strings.CutPrefix(left, "left="); is {
		r.Left = moment(s.t, at)
	}
	for _, w := range words {
		key, value, _ := strings.Cut(w, "=")
		tokens, oldest, is := strings.Cut(value, "@")
		switch {
		case key == "region":
			r.Region = value
		case key == "dead":
			r.Deadlocked = number(s.t, value)
		case is:
			p := merge.RemnantPlace{Place: slices.IndexFunc(n.Def.Places, func(p petri.Place) bool { return p.ID == key }), Tokens: number(s.t, tokens), Oldest: moment(s.t, oldest)}
			p.Ages.Add(p.Oldest, max(s.now, p.Oldest), p.Tokens)
			r.Places = append(r.Places, p)
		default:
			r.Transitions = append(r.Transitions, merge.RemnantTransition{Enabled: number(s.t, value), Fired: true,
				Transition: slices.IndexFunc(n.Def.Transitions, func(t petri.Transition) bool { return t.ID == key })})
		}
	}
	n.Remnants = append(n.Remnants, r)
}

func (s *story) agentx(what string, words []string) {
	state := merge.Master{}
	if s.view.AgentX != nil {
		state = *s.view.AgentX
	}
	if what == "others" {
		state.Others = strings.Join(words, " ")
	} else {
		state.ConnState = natslink.ConnState{Connected: what == "up", Server: "unix:/a", Since: t0 + micros(s.t, words[0]), Reason: strings.Join(words[1:], " ")}
	}
	s.view.AgentX = &state
}

func (s *story) nats(connected bool, since int64, text string) {
	state := &natslink.ConnState{Connected: connected, Since: t0 + since}
	if s.view.NATS != nil {
		state.Server = s.view.NATS.Server
	}
	if connected {
		state.Server = text
	} else {
		state.Reason = text
	}
	s.view.NATS = state
}

// published returns the View as a Merger publishes it: it never changes, and shares with the
// previous one what is the same.
func (s *story) published() *merge.View {
	if s.shown == nil {
		v := *s.view
		v.Sources, v.Nets = slices.Clone(v.Sources), slices.Clone(v.Nets)
		for i, n := range v.Nets {
			net, rows := *n, *n.Rows
			rows.Places, rows.Transitions = slices.Clone(rows.Places), slices.Clone(rows.Transitions)
			net.Rows = &rows
			v.Nets[i] = &net
		}
		s.shown = &v
	}
	v := *s.shown
	return &v
}

// steps takes a step a second.
func (s *story) steps(from, to int64, stamped bool) string {
	var out strings.Builder
	for at := from; at <= to; at += 1e6 {
		s.now = t0 + at
		changes := stepped(s.t, s.m, s.published(), s.now)
		if stamped {
			for _, c := range changes {
				fmt.Fprintf(&out, "%s ", time.Duration(at)*time.Microsecond)
				s.changes(&out, []Change{c})
			}
			continue
		}
		s.changes(&out, changes)
	}
	return out.String()
}

func (s *story) changes(out *strings.Builder, changes []Change) {
	for _, c := range changes {
		what := "cleared"
		if c.Raise {
			what = "raised"
		}
		if want := s.m.ruleOf(&c.Alarm).Severity; c.Alarm.Severity != want {
			s.t.Errorf("a change of alarm %d has severity %s; want %s", c.Alarm.Index, c.Alarm.Severity, want)
		}
		fmt.Fprintf(out, "%s %d %s %s %s: %s\n", what, c.Alarm.Index, c.Alarm.Kind, c.Alarm.Net, c.Alarm.Subject, c.Alarm.Text)
	}
}

func (s *story) active() string {
	var out strings.Builder
	state := s.m.State(0)
	for _, a := range state.Active {
		fmt.Fprintf(&out, "%d %s %s %s raised=%s since=%s affected=%d\n", a.Index, a.Kind, a.Net, a.Subject, since(a.Raised), since(a.Since), a.Affected)
	}
	fmt.Fprintf(&out, "changed at %s, dropped %d\n", since(state.LastChange), s.m.Tally().Dropped)
	return out.String()
}

func severitiesOf(state *ActiveSet) string {
	var out strings.Builder
	for _, a := range state.Active {
		fmt.Fprintf(&out, "%d %s\n", a.Index, a.Severity)
	}
	for s, n := range state.BySeverity() {
		if n > 0 {
			fmt.Fprintf(&out, "%s: %d\n", Severity(s), n)
		}
	}
	return out.String()
}

// since is a time since the beginning; 0 is none.
func since(at int64) string {
	if at == 0 {
		return "none"
	}
	return (time.Duration(at-t0) * time.Microsecond).String()
}

func micros(t *testing.T, text string) int64 {
	t.Helper()
	d, err := time.ParseDuration(text)
	if err != nil {
		t.Fatal(err)
	}
	return d.Microseconds()
}

// moment is a time since the beginning; none is 0.
func moment(t *testing.T, text string) int64 {
	t.Helper()
	if text == "none" {
		return 0
	}
	return t0 + micros(t, text)
}

func number(t *testing.T, text string) uint64 {
	t.Helper()
	n, err := strconv.ParseUint(text, 10, 64)
	if err != nil {
		t.Fatal(err)
	}
	return n
}
