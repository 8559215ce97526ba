// SPDX-License-Identifier: Apache-2.0

package region

import (
	"context"
	"errors"
	"fmt"
	"math"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/pnagent/pnagent/engine"
	"github.com/pnagent/pnagent/engine/journal"
	"github.com/pnagent/pnagent/telemetry"
)

// A member counts as alive within the same bounds in all methods.
func TestAMemberIsThereUpToTheLastInstantOfItsSecondAndIsRememberedForAMinute(t *testing.T) {
	const one = time.Nanosecond
	for at, want := range map[time.Duration]string{
		0: "offers of owner alive known", time.Second: "offers of owner alive known", time.Second + one: "known",
		time.Minute: "known", time.Minute + one: "",
	} {
		r := newRoster("me", false)
		r.receive(beatOf("a", Owner, 1), start)
		r.receive(beatOf("me", Away, 0), after(at))
		var got []string
		if slices.Contains(r.offers("p", after(at)), "a") {
			got = append(got, "offers")
		}
		if slices.ContainsFunc(r.of("p", after(at)), func(s status) bool { return s.Source == "a" }) {
			got = append(got, "of")
		}
		if o, ok := r.owner("p", after(at)); ok && o.Source == "a" {
			got = append(got, "owner")
		}
		if r.alive("a", after(at)) {
			got = append(got, "alive")
		}
		if !r.lastBeat("a").IsZero() {
			got = append(got, "known")
		}
		if s := strings.Join(got, " "); s != want {
			t.Errorf("after %v: %q; want %q", at, s, want)
		}
		if r.alive("b", after(at)) {
			t.Error("a member without a beat counts as alive")
		}
	}
}

func TestTheOwnerIsFoundAmongManyMembers(t *testing.T) {
	r := newRoster("me", false)
	for k := range 50 {
		r.receive(beatOf(fmt.Sprint("standby", k), Standby, 100), start)
		r.receive(&Beat{Source: fmt.Sprint("other", k), Parts: []BeatPart{{Part: "q", Role: Owner, Epoch: 100}}}, start)
		r.receive(beatOf(fmt.Sprint("owner", k), Owner, uint64(k+1)), start)
	}
	for range 5 {
		if o, ok := r.owner("p", start); !ok || o.Source != "owner49" || o.Epoch != 50 || !o.Since.Equal(start) || !o.LastBeat.Equal(start) {
			t.Fatalf("%+v; want owner49, the last one", o)
		}
	}
	if o, ok := newRoster("me", false).owner("p", start); ok || o.Source != "" {
		t.Errorf("%+v; want no owner", o)
	}
}

// Present time passes for two intervals of beats after this member has received
// one of its own beats, and no longer.
func TestPresentTimePassesForTwoIntervalsAfterAnOwnBeat(t *testing.T) {
	r := newRoster("me", false)
	passed := func(ms int) time.Duration {
		return r.present(after(time.Duration(ms) * time.Millisecond)).Sub(time.Unix(0, 0))
	}
	if got := passed(500); got != 0 {
		t.Errorf("before the first beat: %v; want 0", got)
	}
	r.receive(beatOf("me", Away, 0), start)
	for ms, want := range map[int]int{-50: 0, 0: 0, 40: 40, 100: 100, 101: 100, 5000: 100} {
		if got := passed(ms); got != time.Duration(want)*time.Millisecond {
			t.Errorf("at %d ms: %v; want %d ms", ms, got, want)
		}
	}
	r.receive(beatOf("me", Away, 0), after(900*time.Millisecond)) // it was cut off in between
	if got := passed(930); got != 130*time.Millisecond {
		t.Errorf("after a second beat: %v; want 130 ms", got)
	}
}

// Each member waits half a silence limit longer than the one before it. The
// silent owner does not count, and a member that is not in the order never
// takes the part.
func TestMembersTakeOverOneAfterTheOther(t *testing.T) {
	for _, c := range []struct {
		order, owner string
		want         int // milliseconds after the last beat; 0 for never
	}{
		{"m1 m2 m3", "m2", 210},
		{"m2 m1 m3", "m2", 210},
		{"m3 m1 m2", "m2", 310},
		{"m2 m3 m1", "m2", 310},
		{"m3 m2 m1", "m2", 310},
		{"m3 m4 m1 m2", "m2", 410},
		{"m3 m4 m2 m1", "m2", 410},
		{"m3 m1", "m2", 310}, // the owner does not count again
		{"m3 m1", "", 310},
		{"m2 m3", "m2", 0},
		{"", "", 0},
	} {
		m, w := memberOf(t, "m1"), &watch{}
		r := m.replicas[0]
		r.order.Store(new(strings.Fields(c.order)))
		took := 0
		for ms := 0; ms <= 1000 && took == 0; ms += 10 {
			now := after(time.Duration(ms) * time.Millisecond)
			if ms%50 == 0 {
				m.roster.receive(offer("m1", "one"), now)
			}
			if c.owner != "" && ms == 0 {
				m.roster.receive(&Beat{Source: c.owner, Parts: []BeatPart{{Part: "one", Role: Owner, Epoch: 1}}}, now)
			}
			if r.takesOver(w, now) {
				took = ms
			}
		}
		if took != c.want {
			t.Errorf("order %q, owner %q: after %d ms; want %d", c.order, c.owner, took, c.want)
		}
	}
}

func TestAPartIsForTheNextOneWhereTheFirstHasItsShare(t *testing.T) {
	part := "" // a part for which x comes before y
	for _, p := range partNames(100) {
		if rank(p, []string{"x", "y"})[0] == "x" {
			part = p
			break
		}
	}
	got := assign([]string{"only-x", part}, func(p string) []string {
		if p == "only-x" {
			return []string{"x"}
		}
		return []string{"x", "y"}
	})
	if want := map[string][]string{"only-x": {"x"}, part: {"y", "x"}}; !cmp.Equal(got, want) {
		t.Errorf("%q; want %q", got, want)
	}
}

func TestPartsListTheirNeighboursAndPartitionsTheirInstances(t *testing.T) {
	parts := memberOf(t, "m").cfg.Parts
	if one, two := parts[0], parts[1]; one.Name != "one" || two.Name != "two" || len(one.Upstream) != 0 || !slices.Equal(one.Downstream, []string{"two"}) ||
		!slices.Equal(two.Upstream, []string{"one"}) || len(two.Downstream) != 0 || one.Plan != two.Plan || one.Plan == "" {
		t.Errorf("%+v; want one, which puts into two", parts)
	}
	seen := map[int]string{}
	for _, p := range Partitions(3, 64) {
		if len(p.Numbers) == 0 || p.Plan != "64-partitions" {
			t.Errorf("%+v; want instances and the plan", p.Part)
		}
		for _, n := range p.Numbers {
			seen[int(n)] += p.Name
		}
	}
	if len(seen) != 3 {
		t.Errorf("%v; want each of 3 instances once", seen)
	}
}

func TestABeatMayHaveAsManyPartsAsAMember(t *testing.T) {
	for n, want := range map[int]bool{maxParts: true, maxParts + 1: false} {
		b, err := decodeBeat([]byte(`{"source":"a","parts":[` + strings.Repeat(`{"part":"p","role":"away"},`, n-1) + `{"part":"p","role":"away"}]}`))
		if (err == nil) != want || want && len(b.Parts) != n {
			t.Errorf("%d parts: %v; want accepted: %t", n, err, want)
		}
	}
}

func TestWhatASurveyFinds(t *testing.T) {
	s := surveyor{parts: map[string]map[string]BeatPart{}, marks: map[string]map[uint64]map[string]engine.Mark{}}
	receive := func(source string, p BeatPart) { s.receive(&Beat{Source: source, Parts: []BeatPart{p}}) }
	for k := range uint64(60) { // most commits were published by only one of the two
		receive("own", BeatPart{Part: "p2", Role: Owner, Epoch: 4, Position: 100 + k, Chain: fmt.Sprint(k)})
	}
	for _, k := range []uint64{90, 103} {
		receive("near", BeatPart{Part: "p2", Role: Standby, Epoch: 4, Position: k, Chain: fmt.Sprint(k - 100)})
	}
	receive("far", BeatPart{Part: "p2", Role: Standby, Epoch: 3, Position: 7, Chain: "x"})
	receive("idle", BeatPart{Part: "p2", Role: Away, Position: 3, Stopped: "it does not follow"})
	receive("old", BeatPart{Part: "p2", Role: Owner, Epoch: 3, Position: 500, Stopped: "replaced"})
	receive("ahead", BeatPart{Part: "p3", Role: Standby, Epoch: 6, Position: 9})
	receive("none", BeatPart{Part: "p3", Role: Owner, Epoch: 0, Position: 8})
	receive("first", BeatPart{Part: "p10", Role: Away, Stopped: "lost commits"})
	receive("second", BeatPart{Part: "p10", Role: Away, Stopped: "later"})
	yes := true
	want := []Status{
		{Part: "p2", Owner: "own", Epoch: 4, Commits: 159, Away: []string{"idle"}, Standbys: []StandbyStatus{{"far", 7, 152, nil}, {"near", 103, 56, &yes}}},
		{Part: "p3", Epoch: 6, Commits: 9, Away: []string{}, Standbys: []StandbyStatus{{Source: "ahead", Commits: 9}}},
		{Part: "p10", Away: []string{"first", "second"}, Standbys: []StandbyStatus{}, Stopped: "lost commits"},
	}
	for range 5 {
		if d := cmp.Diff(want, s.statuses()); d != "" {
			t.Fatalf("(-want +got):\n%s", d)
		}
	}
}

func TestTheStateOfAPartInTelemetry(t *testing.T) {
	m := memberOf(t, "m1")
	r := m.replicas[0]
	r.role, r.sure, r.stopped = Owner, engine.Standing{Position: 10}, "why"
	receive := func(source string, role Role, position uint64) {
		m.roster.receive(&Beat{Source: source, Parts: []BeatPart{{Part: "one", Role: role, Epoch: 1, Position: position}}}, time.Now())
	}
	check := func(when string, standbys uint32, lag *uint64) {
		t.Helper()
		if d := cmp.Diff(&telemetry.RegionState{Position: 10, Standbys: standbys, Lag: lag, Stopped: "why"}, r.state(0)); d != "" {
			t.Errorf("%s (-want +got):\n%s", when, d)
		}
	}
	receive("a", Away, 10)
	receive("m1", Owner, 10)
	check("without a standby", 0, nil)
	receive("b", Standby, 4)
	check("with one", 1, new(uint64(6)))
	receive("c", Standby, 8)
	receive("d", Standby, 1)
	check("with three, of which the second is the nearest", 3, new(uint64(2)))
	receive("d", Standby, 12) // it has read what the owner has not confirmed
	check("with one that is ahead", 3, new(uint64(0)))
	r.role = Standby
	if got := r.state(0); got != nil {
		t.Errorf("a standby publishes %+v; want nothing", got)
	}
}

func TestWhichErrorsMeanThatALogIsNotTheOneThatWasRead(t *testing.T) {
	for err, want := range map[error]bool{engine.ErrRewritten: true, journal.ErrAhead: true, journal.ErrCovered: false, errLost: false, errDone: false} {
		if got := rewritten(fmt.Errorf("somewhere: %w", err)); got != want {
			t.Errorf("%v: %t; want %t", err, got, want)
		}
	}
}

// A log keeps the commits that some downstream part has not read. Only
// confirmed cursors into this log count.
func TestALogIsKeptFromTheFirstCommitOnThatHasStillToBeRead(t *testing.T) {
	m := memberOf(t, "m1")
	if first := m.replicas[1].keep(); first != math.MaxUint64 {
		t.Errorf("no part reads the log, and it keeps commits from %d on; want none", first)
	}
	r, log := m.replicas[0], &entries{kept: chained(9)}
	says := func(source string, epoch, read uint64, mark engine.Mark) {
		m.roster.receive(&Beat{Source: source, Parts: []BeatPart{{Part: "two", Role: Owner, Epoch: epoch, Cursors: map[string]uint64{"one": read}, Marks: map[string]engine.Mark{"one": mark}}}}, time.Now())
	}
	check := func(when string, want uint64) {
		t.Helper()
		if got := r.keep(); got != want {
			t.Errorf("%s: keeps commits from %d on; want %d", when, got, want)
		}
	}
	r.use(log)
	check("no owner downstream is known", 1)
	says("a", 1, 4, log.mark(4))
	check("it has read up to 4", 5)
	says("b", 2, 6, log.mark(6))
	check("another one owns it and has read up to 6", 7)
	says("b", 2, 6, log.mark(5))
	check("what it has read is not in the log", 1)
	says("b", 2, 6, 0)
	check("it says no marks", 7)
	says("b", 2, 6, log.mark(6))
	log.fails = errors.New("away")
	check("the log does not answer", 1)
	log.fails = nil
	r.use(nil)
	check("there is no log", 1)
	r.use(log)
	m.cfg.Parts[0].Downstream = []string{"two", "three"}
	check("one of two owners is not known", 1)
}

func TestAMemberThatIsToOwnAPartAndFollowsItCloselyIsABetterOwner(t *testing.T) {
	good := BeatPart{Part: "one", Role: Standby, Epoch: 1, Position: 70}
	for name, c := range map[string]struct {
		change func(m *Member, p *BeatPart)
		since  time.Duration // when it was first alive
		heir   string
		behind uint64
	}{
		"it is ready":              {nil, time.Second, "m2", 30},
		"it has just come":         {nil, time.Second - time.Millisecond, "", 0},
		"it owns the part":         {func(_ *Member, p *BeatPart) { p.Role = Owner }, time.Second, "", 0},
		"it does not follow":       {func(_ *Member, p *BeatPart) { p.Role = Away }, time.Second, "", 0},
		"it is for another part":   {func(_ *Member, p *BeatPart) { p.Part = "two" }, time.Second, "", 0},
		"parts stay":               {func(m *Member, _ *BeatPart) { m.cfg.Balance = false }, time.Second, "", 0},
		"this one is first":        {func(m *Member, _ *BeatPart) { m.replicas[0].order.Store(&[]string{"m1", "m2"}) }, time.Second, "", 0},
		"a third one is first":     {func(m *Member, _ *BeatPart) { m.replicas[0].order.Store(&[]string{"m3", "m2", "m1"}) }, time.Second, "", 0},
		"there is no order":        {func(m *Member, _ *BeatPart) { m.replicas[0].order.Store(new([]string)) }, time.Second, "", 0},
		"it has read all and more": {func(_ *Member, p *BeatPart) { p.Position = 170 }, time.Second, "m2", 0},
	} {
		m, p := memberOf(t, "m1"), good
		m.cfg.Balance = true
		m.replicas[0].order.Store(&[]string{"m2", "m1"})
		m.replicas[0].sure = engine.Standing{Position: 100}
		if c.change != nil {
			c.change(m, &p)
		}
		for at := time.Duration(0); at < c.since; at += beatEvery {
			m.roster.receive(&Beat{Source: "m2", Parts: []BeatPart{p}}, after(at))
		}
		if heir, behind := m.replicas[0].betterOwner(after(c.since)); heir != c.heir || behind != c.behind {
			t.Errorf("%s: %q, which is %d behind; want %q, %d", name, heir, behind, c.heir, c.behind)
		}
	}
}

func TestAMemberThatCannotSendItsBeatsLogsThat(t *testing.T) {
	var lines strings.Builder
	m := memberOf(t, "m1")
	m.sent = limiter{log: textLog(&lines)}
	for k := range maxParts {
		p := Part{Part: engine.Part{Name: fmt.Sprintf("%0200d", k)}}
		m.replicas = append(m.replicas, newReplica(m, &p))
	}
	if err := m.sendBeat(); err == nil || !strings.Contains(err.Error(), "too many parts") {
		t.Errorf("%v; want an error about the length of the beat", err)
	}
	ctx, stop := context.WithCancel(t.Context())
	stop()
	m.beat(ctx)
	if !strings.Contains(lines.String(), "beat not sent") {
		t.Errorf("it logs %q", lines.String())
	}
}

func TestAPartThatIsPlayedAgainIsNoLongerStopped(t *testing.T) {
	m := memberOf(t, "m1")
	r := m.replicas[1]
	for _, c := range []struct {
		role Role
		want string
	}{{Away, "its log is lost"}, {Standby, ""}} {
		r.halt("its log is lost")
		r.become(c.role, nil)
		if got := r.status(); got.Role != c.role || got.Stopped != c.want {
			t.Errorf("as %v it publishes %+v; want the reason %q", c.role, got, c.want)
		}
	}
}

func TestReportsAreThoseOfThePartsThatWereOwned(t *testing.T) {
	m := memberOf(t, "m1")
	if got := m.Reports(); len(got) != 0 {
		t.Errorf("%v; want no report before a part is owned", got)
	}
	second := &engine.Report{Firings: 2}
	m.replicas[1].report = second
	if got := m.Reports(); len(got) != 1 || got[0] != second {
		t.Errorf("%v; want the report of the second part", got)
	}
}
