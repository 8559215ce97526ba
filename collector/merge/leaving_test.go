// SPDX-License-Identifier: Apache-2.0

package merge

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/pnagent/pnagent/petri"
)

// report sends full snapshots of a source, one every step.
func (s *story) report(source, digest string, from, to time.Duration, step time.Duration, rows string) {
	s.t.Helper()
	for at := from; at <= to; at += step {
		s.do("at " + at.String())
		seq := int64(at/time.Second) + 1
		line := fmt.Sprintf("send %s n %s epoch=1 seq=%d full every=%s | %s", source, digest, seq, step, rows)
		out := s.do(line)
		for strings.Contains(out, "ask for the definition "+digest) {
			out = s.do("know " + digest)
		}
		s.m.Tick(s.now)
	}
}

// restart continues with the state in a new Merger of the same rules.
func (s *story) restart() {
	s.t.Helper()
	before := s.m
	s.m = restoredFrom(s.t, before, Share{}, 0, s.now)
	s.m.forgetAfter, s.m.forgetNets = before.forgetAfter, before.forgetNets
	for _, n := range s.m.nets {
		n.ages.seen = nil // the other times apply from the next View
	}
}

// present returns the ids of the rows that the faces show.
func (s *story) present() string {
	view, _ := s.m.Tick(s.now)
	var ids []string
	for _, n := range view.Present().Nets {
		for i, p := range n.Def.Places {
			ids = append(ids, fmt.Sprintf("%s=%d", p.ID, n.Rows.Places[i].Arrivals))
		}
		for i, t := range n.Def.Transitions {
			ids = append(ids, fmt.Sprintf("%s=%d", t.ID, n.Rows.Transitions[i].Firings))
		}
		ids = append(ids, fmt.Sprintf("all=%d", n.Firings))
	}
	return strings.Join(ids, " ")
}

func rowsStory(t *testing.T) *story {
	s := playing(t, Rules{ForgetAfter: time.Minute, ForgetNets: time.Hour})
	s.do("define d1 n p q / t u")
	s.do("define d2 n x p / w t")
	return s
}

func playing(t *testing.T, rules Rules) *story {
	s := &story{t: t, m: NewMerger(rules, t0), now: t0}
	s.defs = map[string]*petri.Net{}
	return s
}

// Rows that only a gone source had leave the faces after ForgetNets. They return with
// their counters, and the sum of the net's counters never falls.
//
//promise:unknown kill
func TestRowsThatOnlyAGoneSourceHadLeaveTheFaces(t *testing.T) {
	s := rowsStory(t)
	s.report("good", "d1", 0, time.Minute, 10*time.Second, "p arrivals=4 | t firings=3")
	s.report("canary", "d2", time.Minute, time.Minute, time.Second, "x arrivals=7 | w firings=5")
	all := "p=4 q=0 x=7 t=3 u=0 w=5 all=8"
	if d := cmp.Diff(all, s.present()); d != "" {
		t.Error(d)
	}
	s.report("good", "d1", 70*time.Second, 62*time.Minute, 10*time.Second, "p arrivals=4 | t firings=3")
	if d := cmp.Diff(all, s.present()); d != "" {
		t.Errorf("before the time is over (-want +got):\n%s", d)
	}
	s.report("good", "d1", 62*time.Minute+10*time.Second, 63*time.Minute, 10*time.Second, "p arrivals=4 | t firings=3")
	left := "p=4 q=0 t=3 u=0 all=8"
	if d := cmp.Diff(left, s.present()); d != "" {
		t.Errorf("after it (-want +got):\n%s", d)
	}
	s.restart()
	if d := cmp.Diff(left, s.present()); d != "" {
		t.Errorf("in the next process (-want +got):\n%s", d)
	}
	s.report("good", "d1", 64*time.Minute, 64*time.Minute, time.Second, "p arrivals=4 | t firings=3")
	if d := cmp.Diff(left, s.present()); d != "" {
		t.Errorf("after the next process received the definition (-want +got):\n%s", d)
	}
	s.report("canary", "d2", 65*time.Minute, 65*time.Minute, time.Second, "x arrivals=8 | w firings=6")
	if d := cmp.Diff("p=4 q=0 x=8 t=3 u=0 w=6 all=9", s.present()); d != "" {
		t.Errorf("when the source returns (-want +got):\n%s", d)
	}
}

// Rows of a file, and those of a net that no source runs, do not leave by themselves.
func TestRowsOfAFileDoNotLeave(t *testing.T) {
	s := rowsStory(t)
	if err := s.m.DefineByFile("d2", s.defs["d2"], s.now); err != nil {
		t.Fatal(err)
	}
	s.report("good", "d1", 0, 3*time.Hour, time.Minute, "p arrivals=4 | t firings=3")
	if d := cmp.Diff("x=0 p=4 q=0 w=0 t=3 u=0 all=3", s.present()); d != "" {
		t.Errorf("while a source runs the net (-want +got):\n%s", d)
	}
	s.do("at 9h")
	if d := cmp.Diff("x=0 p=4 q=0 w=0 t=3 u=0 all=3", s.present()); d != "" {
		t.Errorf("while no source runs it (-want +got):\n%s", d)
	}
}

// A row that a source adds to a net is recent until a source has reported it for a
// minute. That holds for the next process as well.
func TestARowIsSettledOnceASourceReportedItForAMinute(t *testing.T) {
	recent := func(s *story) string {
		view, _ := s.m.Tick(s.now)
		n := view.Nets[0]
		if n.Recent == nil {
			return fmt.Sprint("none ", n.Unsettled)
		}
		return fmt.Sprint(n.Recent.Places, n.Recent.Transitions, n.Unsettled)
	}
	for _, again := range []bool{false, true} {
		t.Run(fmt.Sprintf("sidecar starts again: %t", again), func(t *testing.T) {
			s := rowsStory(t)
			s.report("good", "d1", 0, time.Minute, 10*time.Second, "")
			s.report("canary", "d2", time.Minute, 110*time.Second, 10*time.Second, "")
			want := "[false false true] [false false true] false"
			if d := cmp.Diff(want, recent(s)); d != "" {
				t.Error(d)
			}
			if again {
				s.restart()
				if d := cmp.Diff(want, recent(s)); d != "" {
					t.Errorf("in the next process (-want +got):\n%s", d)
				}
			}
			s.report("canary", "d2", 2*time.Minute, 2*time.Minute, 10*time.Second, "")
			if d := cmp.Diff("none false", recent(s)); d != "" {
				t.Error(d)
			}
		})
	}
	t.Run("a source that is silent settles nothing", func(t *testing.T) {
		s := rowsStory(t)
		s.report("good", "d1", 0, time.Minute, 10*time.Second, "")
		s.report("canary", "d2", time.Minute, time.Minute, time.Second, "")
		s.report("good", "d1", 70*time.Second, 10*time.Minute, 10*time.Second, "")
		if d := cmp.Diff("[false false true] [false false true] false", recent(s)); d != "" {
			t.Error(d)
		}
	})
}

// The rows of a net that is not a minute old are settled with the net.
func TestRowsOfANewNetAreSettledWithIt(t *testing.T) {
	s := rowsStory(t)
	s.report("adapter", "d1", 0, 10*time.Second, 10*time.Second, "")
	s.report("adapter", "d2", 20*time.Second, 20*time.Second, time.Second, "")
	view, _ := s.m.Tick(s.now)
	if n := view.Nets[0]; n.Recent != nil || !n.Unsettled || len(n.Def.Places) != 3 {
		t.Errorf("got recent rows %v of %d places, unsettled %t; want none of 3, and an unsettled net", n.Recent, len(n.Def.Places), n.Unsettled)
	}
	s.report("adapter", "d2", time.Minute, time.Minute, time.Second, "")
	if view, _ = s.m.Tick(s.now); view.Nets[0].Unsettled {
		t.Error("the net is not settled after a minute")
	}
}

// Sources that are new do not change the names of a net, however many they are.
func TestOnlyEstablishedSourcesRenameANet(t *testing.T) {
	s := rowsStory(t)
	s.defs["d1"].Name, s.defs["d2"].Name = "Claims", "POISONED"
	name := func() string {
		view, _ := s.m.Tick(s.now)
		return view.Nets[0].Def.Name
	}
	s.report("good", "d1", 0, 10*time.Minute, 10*time.Second, "")
	for i := range 10 {
		s.report(fmt.Sprint("stranger-", i), "d2", 10*time.Minute, 10*time.Minute, time.Second, "")
	}
	if got := name(); got != "Claims" {
		t.Errorf("got the name %q of ten new sources; want that of the established one", got)
	}
	all := func(from, to, every time.Duration) {
		for at := from; at <= to; at += every {
			for i := range 10 {
				s.report(fmt.Sprint("stranger-", i), "d2", at, at, time.Second, "")
			}
			s.report("good", "d1", at, at, time.Second, "")
		}
	}
	s.report("good", "d1", 10*time.Minute+10*time.Second, 20*time.Minute-10*time.Second, 10*time.Second, "")
	all(20*time.Minute, 20*time.Minute, time.Second)
	if got := name(); got != "Claims" {
		t.Errorf("got the name %q of sources that sent two messages; want that of the established one", got)
	}
	all(20*time.Minute+30*time.Second, 29*time.Minute+30*time.Second, 30*time.Second)
	if got := name(); got != "Claims" {
		t.Errorf("got the name %q of sources that have sent messages for less than 10 minutes; want that of before", got)
	}
	all(30*time.Minute, 30*time.Minute, time.Second)
	if got := name(); got != "POISONED" {
		t.Errorf("got %q; want the name that most established sources report", got)
	}
}

// While no source of a net is established, invented ones neither rename it nor add more
// rows than the bound, and all sources together do.
//
//promise:bounds hostile
func TestInventedSourcesDoNotRenameOrFloodAYoungNet(t *testing.T) {
	s := rowsStory(t)
	s.defs["d1"].Name, s.defs["d2"].Name = "Claims", "POISONED"
	flood := lineNet("n", 3000, 1)
	flood.Name = "POISONED"
	s.defs["flood"] = flood
	shown := func() string {
		view, _ := s.m.Tick(s.now)
		return fmt.Sprint(view.Nets[0].Def.Name, " ", len(view.Nets[0].Def.Places))
	}
	s.report("good", "d1", 0, 3*time.Second, time.Second, "")
	for _, digest := range []string{"d2", "flood"} {
		for i := range 3 {
			s.report(fmt.Sprint("stranger-", i), digest, 4*time.Second, 6*time.Second, time.Second, "")
		}
	}
	if got := shown(); got != "Claims 3" {
		t.Errorf("got %s; want the first name, and one place more", got)
	}
	for i := range 3 {
		s.report(fmt.Sprint("stranger-", i), "d2", 7*time.Second, 7*time.Second, time.Second, "")
	}
	s.report("good", "d2", 8*time.Second, 8*time.Second, time.Second, "")
	if got := shown(); got != "POISONED 3" {
		t.Errorf("got %s; want the name that all sources report", got)
	}
}

// If there is no room for rows, a source that sent messages for less than a minute gives
// way 10 seconds after its last one, with its net. A source that sent them for longer, or
// still sends them, stays.
func TestABriefSourceGivesWayToANewNet(t *testing.T) {
	for _, test := range []struct {
		name        string
		first, last time.Duration // messages of the large source
		shown       string
	}{
		{"one message", 61 * time.Second, 61 * time.Second, "claims late"},
		{"messages for a minute", 61 * time.Second, 121 * time.Second, "claims large"},
		{"messages without end", 141 * time.Second, 151 * time.Second, "claims large"},
	} {
		t.Run(test.name, func(t *testing.T) {
			s := playing(t, Rules{Limits: Limits{AllRows: 10}})
			s.do("define d0 claims p q / t")
			s.do("define d1 large a b c d / t u")
			s.do("define d2 late p / t")
			seq := 0
			send := func(at time.Duration, source, net, digest string) {
				s.do("at " + at.String())
				seq++
				if out := s.do(fmt.Sprintf("send %s %s %s epoch=1 seq=%d full |", source, net, digest, seq)); strings.Contains(out, "ask for the definition") {
					s.do("know " + digest)
				}
				s.m.Tick(s.now)
			}
			for at := time.Duration(0); at <= time.Minute; at += 20 * time.Second {
				send(at, "good", "claims", "d0")
			}
			for at := test.first; at <= test.last; at += 10 * time.Second {
				send(at, "stranger", "large", "d1")
			}
			for at := 125 * time.Second; at <= 160*time.Second; at += 5 * time.Second {
				if at <= test.last {
					continue
				}
				send(at, "late", "late", "d2")
				for _, a := range s.digestsAsked() {
					s.do("know " + a)
				}
			}
			var nets []string
			view, _ := s.m.Tick(s.now)
			for _, n := range view.Nets {
				nets = append(nets, n.Name)
			}
			if d := cmp.Diff(test.shown, strings.Join(nets, " ")); d != "" {
				t.Errorf("nets (-want +got):\n%s", d)
			}
		})
	}
}

// digestsAsked returns the digests that the next View requests.
func (s *story) digestsAsked() (digests []string) {
	_, asks := s.m.Tick(s.now)
	for _, a := range asks {
		if a.Digest != "" {
			digests = append(digests, a.Digest)
		}
	}
	return digests
}

// Sources whose definition no client knows fill their part of the table. They leave it a
// minute after their last message, and a source of another net that is not known is shown.
func TestUnknownSourcesLeaveAMinuteAfterTheirLastMessage(t *testing.T) {
	const room = 2
	s := playing(t, Rules{Limits: Limits{Sources: unreadShare * room}})
	s.do("define d0 claims p q / t")
	s.do("define d1 late p / t")
	s.do("define d2 unknown p / t") // which no client sends
	seq := 0
	send := func(source, net, digest string) string {
		seq++
		return s.do(fmt.Sprintf("send %s %s %s epoch=1 seq=%d full |", source, net, digest, seq))
	}
	send("good", "claims", "d0")
	s.do("know d0")
	s.m.Tick(s.now)
	refused := 0
	for i := range 5 {
		if out := send(fmt.Sprint("stranger-", i), "unknown", "d2"); strings.Contains(out, string(TooManySources)) {
			refused++
		}
		s.m.Tick(s.now)
	}
	if refused != 5-room {
		t.Errorf("%d unknown sources are refused; want %d of 5", refused, 5-room)
	}
	for at := 5 * time.Second; at <= 70*time.Second; at += 5 * time.Second {
		s.do("at " + at.String())
		send("good", "claims", "d0")
		out := send("late", "late", "d1")
		if left := at > time.Minute+5*time.Second; strings.Contains(out, string(TooManySources)) == left { // room is made by the View after a minute
			t.Errorf("after %v a source of another net: %s; want that it is refused: %v", at, out, !left)
		}
		if strings.Contains(out, "ask for the definition d1") {
			s.do("know d1")
		}
		view, _ := s.m.Tick(s.now)
		unknown, good := 0, Gone
		for _, one := range view.Sources {
			if strings.HasPrefix(one.Name, "stranger-") {
				unknown++
			}
			if one.Name == "good" {
				good = one.State
			}
		}
		if want := map[bool]int{false: room}[at > time.Minute]; unknown != want || good != Up {
			t.Errorf("after %v: %d unknown sources, the good one is %v; want %d, and up", at, unknown, good, want)
		}
	}
	view, _ := s.m.Tick(s.now)
	if n := len(view.Nets); n != 2 || view.Nets[0].Name+view.Nets[1].Name != "claimslate" {
		t.Errorf("%d nets are shown; want those of the good and of the late source", n)
	}
}
