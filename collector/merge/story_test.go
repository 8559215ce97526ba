// SPDX-License-Identifier: Apache-2.0

package merge

import (
	"bufio"
	"bytes"
	"flag"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"go.uber.org/goleak"

	"github.com/pnagent/pnagent/petri"
	"github.com/pnagent/pnagent/stats"
	"github.com/pnagent/pnagent/telemetry"
)

func update() bool { return flag.Lookup("update").Value.String() == "true" }

func TestMain(m *testing.M) {
	flag.Bool("update", false, "write what is seen into testdata instead of comparing with it")
	flag.Parse()
	if flag.Lookup("test.bench").Value.String() == "" { // benchmarks measure what users have
		sumCheck.every, sumCheck.rows = 0, 100 // each tick compares some sums: see checkTotals
	}
	goleak.VerifyTestMain(m)
}

// Each file of testdata/stories is a story over time. A line is a command;
// the lines after it that begin with "> " are its output.
//
//	limits NAME=N …                    before anything else
//	define DIGEST NET PLACE… / TRANSITION…   what the digest will turn out to be
//	know DIGEST                        the definition has come
//	at 10s                             the collector's clock, since the beginning
//	send SOURCE NET DIGEST epoch=E seq=S [full] [bye] [every=1s] [clock=+1h] [region=R fence=F [since=S] [position=N [standbys=N lag=N]]] [waiting=N] [refused=N] | PLACE tokens=1 oldest=3s | TRANSITION timeouts=1 firings=2 | queue 7 ready=1 oldest=3s served=2 …
//	sidecar restarts                   it has received nothing yet
//	standby starts                    the story continues with another sidecar, which has received nothing yet
//	other COMMAND                      what the previous sidecar does or receives
//	clock +1h                          of the standby, ahead of that of the previous sidecar
//	silent [again]                     it takes the silent sources of the previous sidecar; or its answer of the last time
//	sidecar continues                  from the state that the previous process kept
//	received                           everything published up to now was received; from the first of these on, silence counts up to the last
//	received again                     the same, and nothing in between could be received
//	view                               one tick, and what it shows
//	traffic                            what was counted
func TestStories(t *testing.T) {
	files, err := filepath.Glob("testdata/stories/*.txt")
	if err != nil || len(files) == 0 {
		t.Fatalf("no stories: %v", err)
	}
	for _, file := range files {
		t.Run(strings.TrimSuffix(filepath.Base(file), ".txt"), func(t *testing.T) {
			want, err := os.ReadFile(file)
			if err != nil {
				t.Fatal(err)
			}
			got := play(t, want)
			if update() {
				if err := os.WriteFile(file, []byte(got), 0o644); err != nil {
					t.Fatal(err)
				}
			}
			if d := cmp.Diff(string(want), got); d != "" && !update() {
				t.Errorf("the story differs (-want +got):\n%s", d)
			}
		})
	}
}

// story is the state of one.
type story struct {
	t    *testing.T
	m    *Merger
	now  int64
	defs map[string]*petri.Net

	other  *Merger // the sidecar before
	ahead  int64   // the clock of m, of that one's
	silent []byte
}

// play runs the commands and returns the file with their current output.
func play(t *testing.T, text []byte) string {
	s := &story{t: t, m: NewMerger(Rules{}, t0), now: t0, defs: make(map[string]*petri.Net)}
	var out strings.Builder
	lines := bufio.NewScanner(bytes.NewReader(text))
	for lines.Scan() {
		line := lines.Text()
		if strings.HasPrefix(line, "> ") {
			continue
		}
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

func (s *story) do(line string) string {
	words := strings.Fields(line)
	switch words[0] {
	case "limits":
		s.limits(words[1:])
	case "define":
		s.define(words[1:])
	case "know":
		return answer(s.m.Define(words[1], s.defs[words[1]], s.now))
	case "preload":
		return answer(s.m.Define("", s.defs[words[1]], s.now))
	case "at":
		s.now = t0 + s.ahead + micros(s.t, words[1])
	case "send":
		return s.send(line)
	case "sidecar":
		if line == "sidecar continues" {
			s.m = restoredFrom(s.t, s.m, Share{}, 0, s.now)
			return ""
		}
		s.m = NewMerger(Rules{}, s.now)
	case "standby":
		s.other, s.m = s.m, NewMerger(Rules{}, s.now)
	case "other":
		s.m, s.other = s.other, s.m
		defer func() { s.m, s.other = s.other, s.m }()
		return s.do(strings.Join(words[1:], " "))
	case "clock":
		s.ahead = micros(s.t, words[1])
	case "silent":
		return s.takeSilent(len(words) == 1)
	case "received":
		s.m.ReceivedUntil(s.now, len(words) == 1)
	case "view":
		return s.view()
	case "traffic":
		return s.traffic()
	default:
		s.t.Fatalf("no command %q", line)
	}
	return ""
}

// takeSilent has the sidecar take the silent sources of the other one, which are read
// from that one first if asked is true.
func (s *story) takeSilent(asked bool) string {
	if asked {
		s.other.Tick(s.now - s.ahead)
		var err error
		if s.silent, err = s.other.Silent(s.now - s.ahead); err != nil {
			s.t.Fatal(err)
		}
	}
	taken, err := s.m.TakeSilent(s.silent, Admission{PNML: pnmlLimits()}, s.now)
	if err != nil {
		return fmt.Sprintf("%d taken; rejected: %s\n", taken, telemetry.ReasonOf(err))
	}
	return fmt.Sprintf("%d taken\n", taken)
}

func (s *story) limits(words []string) {
	var rules Rules
	for _, w := range words {
		name, value, _ := strings.Cut(w, "=")
		n, err := strconv.Atoi(value)
		if err != nil {
			s.t.Fatal(err)
		}
		*map[string]*int{"sources": &rules.Limits.Sources, "nets": &rules.Limits.Nets, "rows": &rules.Limits.Rows, "allrows": &rules.Limits.AllRows,
			"definitions": &rules.Limits.Definitions, "gonerows": &rules.Limits.GoneRows, "past": &rules.Limits.Past}[name] = n
	}
	s.m = NewMerger(rules, t0)
}

func (s *story) define(words []string) {
	net := &petri.Net{ID: words[1]}
	transitions := false
	for _, id := range words[2:] {
		switch {
		case id == "/":
			transitions = true
		case transitions:
			net.Transitions = append(net.Transitions, petri.Transition{ID: id})
		default:
			net.Places = append(net.Places, petri.Place{ID: id})
		}
	}
	s.defs[words[0]] = net
}

func (s *story) send(line string) string {
	head, rows, _ := strings.Cut(line, "|")
	words := strings.Fields(head)[1:]
	msg := &telemetry.Snapshot{Source: words[0], Net: words[1], Digest: words[2], SentAt: s.now, Interval: time.Second}
	for _, w := range words[3:] {
		s.field(msg, w)
	}
	s.rows(msg, s.defs[msg.Digest], strings.Split(rows, "|"))
	return answer(s.m.Take(msg, len(line), s.now))
}

func (s *story) field(msg *telemetry.Snapshot, word string) {
	name, value, _ := strings.Cut(word, "=")
	n, _ := strconv.ParseInt(value, 10, 64)
	switch name {
	case "full":
		msg.Full = true
	case "bye":
		msg.Bye = true
	case "epoch":
		msg.Epoch = n
	case "seq":
		msg.Seq = uint64(n)
	case "fence":
		msg.Fence = uint64(n)
	case "region":
		msg.Region = value
	case "since":
		msg.Since = n
	case "position":
		msg.State = &telemetry.RegionState{Position: uint64(n)}
	case "standbys":
		msg.State.Standbys = uint32(n)
	case "lag":
		lag := uint64(n)
		msg.State.Lag = &lag
	case "refused":
		msg.Refused = &stats.RefusedRequests{stats.RefusedTokens: uint64(n)}
	case "waiting":
		msg.Rows.Columns |= stats.ColWaiting
		msg.Rows.Waiting = uint64(n)
	case "every":
		msg.Interval = time.Duration(micros(s.t, value)) * time.Microsecond
	case "clock":
		msg.SentAt += micros(s.t, value)
	default:
		s.t.Fatalf("no field %q", word)
	}
}

// rows fills in what the story names, and zeros for the rest of a full
// snapshot.
func (s *story) rows(msg *telemetry.Snapshot, def *petri.Net, named []string) {
	msg.Rows.Columns |= stats.ColTokens | stats.ColArrivals | stats.ColDepartures | stats.ColOldest | stats.ColFirings
	if msg.Full {
		msg.Rows.Places = make([]stats.Place, len(def.Places))
		msg.Rows.Transitions = make([]stats.Transition, len(def.Transitions))
	}
	for _, row := range named {
		words := strings.Fields(row)
		if len(words) == 0 {
			continue
		}
		if words[0] == "queue" {
			s.queue(msg, words[1:])
			continue
		}
		if i := slices.IndexFunc(def.Places, func(p petri.Place) bool { return p.ID == words[0] }); i >= 0 {
			if !msg.Full {
				msg.PlaceIndex, msg.Rows.Places = append(msg.PlaceIndex, uint32(i)), append(msg.Rows.Places, stats.Place{})
				i = len(msg.Rows.Places) - 1
			}
			s.place(&msg.Rows.Places[i], words[1:], msg.SentAt)
			continue
		}
		i := slices.IndexFunc(def.Transitions, func(t petri.Transition) bool { return t.ID == words[0] })
		if !msg.Full {
			msg.TransitionIndex, msg.Rows.Transitions = append(msg.TransitionIndex, uint32(i)), append(msg.Rows.Transitions, stats.Transition{})
			i = len(msg.Rows.Transitions) - 1
		}
		s.transition(msg, &msg.Rows.Transitions[i], words[1:])
	}
}

func (s *story) transition(msg *telemetry.Snapshot, t *stats.Transition, words []string) {
	for _, w := range words {
		name, value, _ := strings.Cut(w, "=")
		n, _ := strconv.ParseUint(value, 10, 64)
		switch name {
		case "firings":
			t.Firings = n
		case "timeouts":
			msg.Rows.Columns |= stats.ColTimeouts
			t.Timeouts = n
		default:
			s.t.Fatalf("no column %q", w)
		}
	}
}

func (s *story) queue(msg *telemetry.Snapshot, words []string) {
	priority, _ := strconv.ParseUint(words[0], 10, 8)
	q := stats.Queue{Priority: uint8(priority)}
	for _, w := range words[1:] {
		name, value, _ := strings.Cut(w, "=")
		n, _ := strconv.ParseUint(value, 10, 64)
		switch name {
		case "ready":
			q.Ready = n
		case "served":
			q.Served = n
		case "oldest":
			q.OldestSince = msg.SentAt - micros(s.t, value)
		default:
			s.t.Fatalf("no column %q", w)
		}
	}
	msg.Rows.Columns |= stats.ColQueues
	msg.Rows.Queues = append(msg.Rows.Queues, q)
}

func (s *story) place(p *stats.Place, words []string, sent int64) {
	for _, w := range words {
		name, value, _ := strings.Cut(w, "=")
		count := map[string]*uint64{"tokens": &p.Tokens, "arrivals": &p.Arrivals, "departures": &p.Departures}[name]
		switch {
		case count != nil:
			*count, _ = strconv.ParseUint(value, 10, 64)
		case name == "oldest":
			p.Oldest = sent - micros(s.t, value)
		default:
			s.t.Fatalf("no column %q", w)
		}
	}
}

func answer(asks []Ask, err error) string {
	var b strings.Builder
	if err != nil {
		fmt.Fprintln(&b, "rejected:", telemetry.ReasonOf(err))
	}
	for _, a := range asks {
		if a.Notice != (telemetry.Notice{}) {
			fmt.Fprintf(&b, "notify %s of %s: epoch %d is refused: %s\n", a.Source, a.Net, a.Notice.Epoch, a.Notice.Reason)
		} else if a.Digest != "" {
			fmt.Fprintf(&b, "ask for the definition %s of %s\n", a.Digest, a.Net)
		} else {
			fmt.Fprintf(&b, "ask %s for a full snapshot of %s\n", a.Source, a.Net)
		}
	}
	return b.String()
}

// view ticks and shows the numbers that are not 0.
func (s *story) view() string {
	view, asks := s.m.Tick(s.now)
	checkSources(s.t, s.m, view)
	var b strings.Builder
	for _, n := range view.Nets {
		fmt.Fprintf(&b, "net %s: %d up, %d stale, digests %v\n", n.Name, n.Up, n.Stale, n.Digests)
		for i, p := range n.Rows.Places {
			fmt.Fprintf(&b, "  %s%s%s%s", n.Def.Places[i].ID, number("tokens", p.Tokens, n.Rows.Columns.Has(stats.ColTokens)),
				number("arrivals", p.Arrivals, n.Rows.Columns.Has(stats.ColArrivals)),
				number("departures", p.Departures, n.Rows.Columns.Has(stats.ColDepartures)))
			if p.Oldest != 0 {
				fmt.Fprintf(&b, " oldest=%v", time.Duration(s.now-p.Oldest)*time.Microsecond)
			}
			fmt.Fprintln(&b)
		}
		for i, tr := range n.Rows.Transitions {
			fmt.Fprintf(&b, "  %s%s%s\n", n.Def.Transitions[i].ID, number("firings", tr.Firings, n.Rows.Columns.Has(stats.ColFirings)),
				number("timeouts", tr.Timeouts, n.Rows.Columns.Has(stats.ColTimeouts)))
		}
		for _, q := range n.Rows.Queues {
			fmt.Fprintf(&b, "  queue %d ready=%d served=%d", q.Priority, q.Ready, q.Served)
			if q.OldestSince != 0 {
				fmt.Fprintf(&b, " oldest=%v", time.Duration(s.now-q.OldestSince)*time.Microsecond)
			}
			fmt.Fprintln(&b)
		}
		if n.Rows.Columns.Has(stats.ColWaiting) {
			fmt.Fprintf(&b, "  waiting=%d\n", n.Rows.Waiting)
		}
		if n.Requests != nil {
			fmt.Fprintf(&b, "  refused=%d\n", n.Requests[stats.RefusedTokens])
		}
	}
	for _, src := range view.Sources {
		fmt.Fprintf(&b, "source %s of %s: %s epoch=%d seq=%d%s%s%s", src.Name, src.Net, src.State, src.Epoch, src.Seq,
			number("gaps", src.Gaps, src.Gaps > 0), number("duplicates", src.Duplicates, src.Duplicates > 0),
			number("restarts", src.Restarts, src.Restarts > 0)+number("setbacks", src.Setbacks, src.Setbacks > 0)+standing(&src))
		if src.Skew != 0 {
			fmt.Fprintf(&b, " skew=%v beyond=%t", src.Skew, src.SkewBeyond)
		}
		if src.Requests != nil {
			b.WriteString(number("refused", src.Requests[stats.RefusedTokens], true))
		}
		if src.Unread {
			fmt.Fprint(&b, " unread")
		}
		if src.Reason != "" {
			fmt.Fprintf(&b, " conflict=%t: %s", src.Conflict, src.Reason)
		}
		fmt.Fprintln(&b)
	}
	return b.String() + answer(asks, nil)
}

// standing shows what a source says of its region, each number if it is known.
func standing(src *Source) string {
	var b strings.Builder
	for _, v := range []struct {
		name  string
		value *uint64
	}{{"position", src.Position}, {"standbys", src.Standbys}, {"lag", src.Lag}} {
		if v.value != nil {
			b.WriteString(number(v.name, *v.value, true))
		}
	}
	return b.String()
}

func (s *story) traffic() string {
	view, _ := s.m.Tick(s.now)
	var b strings.Builder
	fmt.Fprintf(&b, "messages %d, lost %d\n", view.Traffic.Messages, view.Traffic.Lost)
	for _, r := range slices.Sorted(maps.Keys(view.Traffic.Rejected)) {
		if n := view.Traffic.Rejected[r]; n > 0 {
			fmt.Fprintf(&b, "%s %d\n", r, n)
		}
	}
	return b.String()
}

func number(name string, n uint64, known bool) string {
	if !known {
		return ""
	}
	return fmt.Sprintf(" %s=%d", name, n)
}

func micros(t *testing.T, s string) int64 {
	d, err := time.ParseDuration(s)
	if err != nil {
		t.Fatal(err)
	}
	return d.Microseconds()
}

func states(v *View) string {
	var b strings.Builder
	for _, s := range v.Sources {
		fmt.Fprintf(&b, "%s=%s ", s.Name, s.State)
	}
	return strings.TrimSpace(b.String())
}
