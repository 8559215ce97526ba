// SPDX-License-Identifier: Apache-2.0

package alarm

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/pnagent/pnagent/collector/alarm/alarmtest"
	"github.com/pnagent/pnagent/collector/merge"
	"github.com/pnagent/pnagent/collector/standby/roster"
	"github.com/pnagent/pnagent/internal/seeds"
	"github.com/pnagent/pnagent/telemetry/natslink"
)

// The laws of sidecars that stand by for each other are checked on simulated pairs and
// triples: real rosters and desks, a network that takes up to 50 ms, and one station.

const pairTick = 50 * time.Millisecond

// fleet is a set of sidecars of one subject space, their input and their notifications.
type fleet struct {
	t       *testing.T
	rng     *rand.Rand
	now     time.Time
	starts  int
	members []*member
	wrong   map[string]time.Time // by place, since when its tokens are stuck
	station []notified
	diary   []string             // of what befell the sidecars
	trouble time.Time            // when something last befell a sidecar
	off     time.Duration        // for how long not exactly one is on duty
	there   map[string]time.Time // by name, since when a sidecar runs and is connected
	aware   []witness
	engines []*engine // where Views are of what engines publish; else they are of wrong
}

// notified is a notification, as the station has it.
type notified struct {
	at      time.Time
	from    string
	index   uint32
	subject string
	raise   bool
}

type member struct {
	name              string
	id                string
	priority          int
	roster            *roster.Roster
	desk              *Coordinator
	file              []byte
	fileAt            int64
	saved             string // the digest of the file
	dead, cut, paused bool
	mail              []letter
	pages             []Saved
	sending           []delivered
	viewed, answered  time.Time
	legacy            bool // of a version that shares no alarms
	merger            *merge.Merger
	broken            bool      // the merger missed messages
	since             time.Time // nothing befell it
}

type letter struct {
	at      time.Time
	message *roster.Message
	page    []byte
	ask     bool
	from    string
	to      string // the sidecar that is asked for its silent sources, or is sent them
	silent  []byte
}

type delivered struct {
	at time.Time
	n  Notification
}

func pairRules(t *testing.T) *Rules {
	rules, err := ReadRules(strings.NewReader("settle: 6s\ndefaults:\n  stuck: {after: 1s, clear_after: 0s}\n  starved: off\n"), "rules.yaml")
	if err != nil {
		t.Fatal(err)
	}
	return rules
}

func newFleet(t *testing.T, seed uint64) *fleet {
	return &fleet{t: t, rng: rand.New(rand.NewPCG(seed, 13)), now: time.UnixMicro(t0).UTC(), wrong: map[string]time.Time{}, there: map[string]time.Time{}}
}

// start starts a sidecar, or restarts it from its file.
func (f *fleet) start(name string, priority int) *member {
	f.starts++
	m := &member{name: name, id: fmt.Sprintf("%04d-%s", f.starts, name), priority: priority}
	m.fileAt = f.now.UnixMicro()
	saved := Saved{Last: FirstIndex(m.fileAt)}
	if i := slices.IndexFunc(f.members, func(o *member) bool { return o.name == name }); i >= 0 {
		if f.members[i].file != nil {
			var err error
			if saved, err = ParseSaved(f.members[i].file); err != nil {
				f.t.Fatal(err)
			}
		}
		m.file, m.fileAt = f.members[i].file, f.members[i].fileAt
		f.members = slices.Delete(f.members, i, i+1)
	}
	saved.Last = LastOfAll(saved.Last, m.fileAt, f.now.UnixMicro())
	m.desk = &Coordinator{machine: NewMachine(pairRules(f.t), saved, forgetAfter), notes: newNotes(DefaultHistory)}
	m.since = f.now
	if f.engines != nil {
		f.listen(m)
	}
	m.roster = roster.New(roster.Message{ID: m.id, Name: name, Priority: uint8(priority), Sources: m.merger != nil}, 6*time.Second, f.now)
	f.members = append(f.members, m)
	return m
}

// post puts a letter into every reachable mailbox, in order.
func (f *fleet) post(from *member, l letter) {
	if from.cut {
		return
	}
	l.from = from.id
	for _, m := range f.members {
		if m.dead || m.cut || l.message == nil && m.legacy {
			continue
		}
		l.at = f.now.Add(time.Duration(f.rng.Int64N(int64(pairTick))))
		if n := len(m.mail); n > 0 && m.mail[n-1].at.After(l.at) {
			l.at = m.mail[n-1].at
		}
		m.mail = append(m.mail, l)
	}
}

func (f *fleet) share(m *member, pages [][]byte, ask bool) {
	for i, page := range pages {
		f.post(m, letter{page: page, ask: ask && i == len(pages)-1})
	}
}

// run advances the time, and calls every after each tick.
func (f *fleet) run(d time.Duration, every func()) {
	for end := f.now.Add(d); f.now.Before(end); {
		f.now = f.now.Add(pairTick)
		f.look()
		f.publish()
		for _, m := range slices.Clone(f.members) {
			if !m.dead && !m.paused {
				f.tick(m)
			}
		}
		if every != nil {
			every()
		}
	}
}

// tick runs one sidecar for one tick.
func (f *fleet) tick(m *member) {
	f.step(m)
	for len(m.mail) > 0 && !m.mail[0].at.After(f.now) {
		l := m.mail[0]
		m.mail = m.mail[1:]
		f.read(m, l)
		f.step(m)
	}
	f.send(m, false)
	f.work(m)
}

func (f *fleet) read(m *member, l letter) {
	if l.to != "" {
		f.fetch(m, l)
		return
	}
	if l.message == nil {
		page, err := ParsePage(l.page)
		if err != nil {
			f.t.Fatal(err)
		}
		if l.from != m.id {
			m.pages = append(m.pages, page)
		}
		if l.ask && l.from != m.id && f.now.Sub(m.answered) >= time.Second {
			m.answered = f.now
			f.share(m, m.desk.All(), false)
		}
		return
	}
	isNew, err := m.roster.Receive(*l.message, f.now)
	if err != nil {
		f.t.Fatal(err)
	}
	if isNew {
		f.post(m, letter{message: m.roster.Announce(f.now)})
	}
}

func (f *fleet) step(m *member) {
	if !m.legacy {
		m.roster.SetDigest(m.desk.machine.book.digest())
	}
	if msg := m.roster.Step(true, f.now); msg != nil {
		f.post(m, letter{message: msg})
	}
	if !m.legacy && m.roster.Ask(f.now) {
		f.share(m, m.desk.All(), true)
	}
	if id := m.roster.Fetch(f.now); id != "" {
		f.post(m, letter{to: id, ask: true})
	}
}

// send delivers the notifications of a sink to the station.
func (f *fleet) send(m *member, all bool) {
	for len(m.sending) > 0 && (all || !m.sending[0].at.After(f.now)) {
		n := m.sending[0].n
		m.sending = m.sending[1:]
		subject := n.Alarm.Subject
		if n.Alarm.Kind == NATSDisconnected {
			subject = n.Alarm.Kind.String()
		}
		f.sends(m, n.Alarm.Index, n.Raise)
		f.station = append(f.station, notified{f.now, m.name, n.Alarm.Index, subject, n.Raise})
		m.desk.machine.Confirm(n.Alarm.Index, n.Raise)
	}
}

// work does the work of a Watcher: pages, the duty, a View each second, the file, the
// others, the sinks.
func (f *fleet) work(m *member) {
	now := f.now.UnixMicro()
	var changes []Change
	for i := range m.pages {
		changes = append(changes, m.desk.Fold(&m.pages[i], now)...)
	}
	m.pages = nil
	state := m.roster.State()
	duty := Duty{On: state.OnDuty, Shared: state.Shared && !m.legacy, Skip: state.Skip, Unsync: state.Unsync.UnixNano()}
	if !state.From.IsZero() {
		duty.From = state.From.UnixMicro()
	}
	changes = append(changes, m.desk.Turn(duty, now)...)
	if second := f.now.Truncate(time.Second); second.After(m.viewed) && (!m.cut || m.merger == nil) && f.rng.IntN(3) == 0 {
		m.viewed = second
		changes = append(changes, stepped(f.t, m.desk.machine, f.view(m), now)...)
	}
	if digest := m.desk.machine.book.digest(); digest != m.saved || len(changes) > 0 {
		saved := m.desk.machine.Saved()
		m.file, m.fileAt, m.saved = saved.Text(), now, digest
	}
	due := m.desk.Notify(changes, now)
	f.share(m, m.desk.News(), false)
	for _, n := range due {
		if n.Suppressed == 0 {
			m.sending = append(m.sending, delivered{f.now.Add(time.Duration(f.rng.Int64N(int64(2 * pairTick)))), n})
		}
	}
}

const pairPlaces = 5

// view returns the current View of a sidecar.
func (f *fleet) view(m *member) *merge.View {
	if m.merger != nil {
		return f.merged(m)
	}
	v := alarmtest.ViewOf(f.net())
	v.NATS, v.Interrupted = &natslink.ConnState{Connected: !m.cut, Since: m.since.UnixMicro(), Reason: "cut", Server: "nats"}, m.cut
	return v
}

// net returns the net of the current View.
func (f *fleet) net() *merge.NetView {
	net := alarmtest.Moved(alarmtest.Wide("n", pairPlaces, 0), 0)
	for i := range net.Rows.Places {
		if since, is := f.wrong[net.Def.Places[i].ID]; is {
			net.Rows.Places[i].Oldest = since.Add(-2 * time.Second).UnixMicro()
		}
	}
	return net
}

// flip makes the tokens of a place stuck, or moves them.
func (f *fleet) flip(place string) {
	if _, is := f.wrong[place]; is {
		delete(f.wrong, place)
	} else {
		f.wrong[place] = f.now
	}
}

// inject applies a fault to a sidecar, or repairs it.
func (f *fleet) inject(m *member, what string) {
	f.trouble, m.since = f.now, f.now
	f.diary = append(f.diary, fmt.Sprintf("%v %s %s", f.now.Sub(time.UnixMicro(t0)), what, m.name))
	switch what {
	case "kill":
		m.dead = true
	case "stop": // as Watcher.Run and Member.Run end
		f.send(m, true)
		f.share(m, m.desk.News(), false)
		saved := m.desk.machine.Saved()
		m.file, m.fileAt = saved.Text(), f.now.UnixMicro()
		f.post(m, letter{message: m.roster.Leave()})
		m.dead = true
	case "cut", "heal":
		m.cut = what == "cut"
	case "pause", "resume":
		m.paused = what == "pause"
	case "start":
		f.start(m.name, m.priority)
	}
}

// randomly applies a random fault to a sidecar, or repairs it.
func (f *fleet) randomly(m *member) {
	switch {
	case m.dead:
		f.inject(m, "start")
	case m.cut:
		f.inject(m, "heal")
	case m.paused:
		f.inject(m, "resume")
	default:
		f.inject(m, []string{"kill", "kill", "stop", "stop", "cut", "pause"}[f.rng.IntN(6)])
	}
}

// repair repairs every sidecar.
func (f *fleet) repair() {
	for _, m := range slices.Clone(f.members) {
		if m.dead || m.cut || m.paused {
			f.randomly(m)
		}
	}
}

func (f *fleet) onDuty() (names []string) {
	for _, m := range f.members {
		if !m.dead && !m.paused && m.roster.State().OnDuty {
			names = append(names, m.name)
		}
	}
	return names
}

// watch checks that one sidecar is on duty, except for 4 s after a fault and a moment at
// a hand-over.
func (f *fleet) watch() {
	bad := slices.ContainsFunc(f.members, func(m *member) bool { return m.cut || m.paused }) ||
		!slices.ContainsFunc(f.members, func(m *member) bool { return !m.dead })
	if on := f.onDuty(); len(on) == 1 || bad || f.now.Sub(f.trouble) < 4*time.Second {
		f.off = 0
		return
	} else if f.off += pairTick; f.off > 4*pairTick {
		f.t.Fatalf("after %v there are on duty: %v; %s", f.now.Sub(time.UnixMicro(t0)), on, strings.Join(f.diary[max(0, len(f.diary)-6):], ", "))
	}
}

// lists checks that all sidecars show the same alarms under the same indices.
func (f *fleet) lists() {
	var want []string
	for i, m := range f.members {
		var got []string
		for _, a := range m.desk.machine.State(0).Active {
			got = append(got, fmt.Sprintf("%d %s", a.Index, a.Subject))
		}
		if i == 0 {
			want = got
		} else if d := cmp.Diff(want, got); d != "" {
			f.t.Fatalf("%s and %s do not show the same alarms, on duty %v, after %v: %s%s\n%s\n%s", f.members[0].name, m.name, f.onDuty(), f.now.Sub(time.UnixMicro(t0)), d, strings.Join(f.diary[max(0, len(f.diary)-12):], ", "),
				string(f.members[0].file), string(m.file))
		}
	}
}

// judge checks what the station received, all conditions being over.
func (f *fleet) judge() {
	subjects, raised, cleared := map[uint32]string{}, map[uint32]int{}, map[uint32]int{}
	for _, h := range f.station {
		if before, is := subjects[h.index]; is && before != h.subject {
			f.t.Fatalf("index %d is of %s and of %s: %s", h.index, before, h.subject, f.story(h.index))
		}
		subjects[h.index] = h.subject
		if h.raise {
			raised[h.index]++
			continue
		}
		cleared[h.index]++
		if raised[h.index] == 0 {
			f.t.Fatalf("the clear of %s has index %d, of which the station was not sent: %s", h.subject, h.index, f.story(h.index))
		}
	}
	for index, subject := range subjects {
		if cleared[index] == 0 {
			f.t.Fatalf("%s was raised under %d, and not cleared: %s", subject, index, f.story(index))
		}
	}
	for _, m := range f.members {
		if b := m.desk.machine.book; len(b.entries) > 0 {
			f.t.Fatalf("%s has entries left: %+v", m.name, m.desk.machine.Saved())
		}
	}
}

// story is what is known of an index: what befell the sidecars, and what the
// station was sent, with times since the beginning.
func (f *fleet) story(index uint32) string {
	var sent []string
	for _, h := range f.station {
		if h.index == index {
			sent = append(sent, fmt.Sprintf("%v %s raise=%v %s", h.at.Sub(time.UnixMicro(t0)), h.from, h.raise, h.subject))
		}
	}
	return strings.Join(sent, ", ") + "; " + strings.Join(f.diary, ", ")
}

// witness says that a sidecar synced of a notification that another one has sent, if
// nothing befalls one of them before.
type witness struct {
	index    uint32
	raise    bool
	from, by string
	at       time.Time // when it was sent
	knows    bool
}

// sharedWithin is how long it takes until the others know of what was sent.
const sharedWithin = 4 * pairTick

// look notes which sidecars are there.
func (f *fleet) look() {
	for _, m := range f.members {
		if m.dead || m.cut || m.paused {
			delete(f.there, m.name)
		} else if f.there[m.name].IsZero() {
			f.there[m.name] = f.now
		}
	}
	for i := len(f.aware) - 1; i >= 0 && f.now.Sub(f.aware[i].at) <= sharedWithin; i-- {
		w := &f.aware[i]
		if from, by := f.there[w.from], f.there[w.by]; f.now.Sub(w.at) == sharedWithin && !from.IsZero() && !by.IsZero() {
			w.knows = f.now.Sub(from) >= synced && f.now.Sub(by) >= synced
		}
	}
}

// synced is how long after a start or a break a sidecar has the list of another one.
const synced = 2 * time.Second

// sends checks that a sidecar does not send what it knows to have been sent, and
// notes which others know of this one.
func (f *fleet) sends(m *member, index uint32, raise bool) {
	for _, w := range f.aware {
		if w.index == index && w.raise == raise && (w.from == m.name || w.by == m.name && w.knows) {
			f.t.Fatalf("%s sends what %s sent at %v: %s", m.name, w.from, w.at.Sub(time.UnixMicro(t0)), f.story(index))
		}
	}
	for _, o := range f.members {
		if o != m {
			f.aware = append(f.aware, witness{index: index, raise: raise, from: m.name, by: o.name, at: f.now})
		}
	}
}

// repeats are the notifications that came more than once.
func (f *fleet) repeats() (n int) {
	type what struct {
		index uint32
		raise bool
	}
	seen := map[what]bool{}
	for _, h := range f.station {
		w := what{h.index, h.raise}
		if seen[w] {
			n++
		}
		seen[w] = true
	}
	return n
}

//promise:clears none kill cut messages
func TestEveryRaiseHasItsClearUnderTheSameIndexUnderRandomFaults(t *testing.T) {
	raises, repeats := 0, 0
	for seed := range seeds.Of(5, 200, 61, 22, 63, 9, 18, 50, 53, 59, 77, 78, 103, 178) {
		f := newFleet(t, seed)
		f.diary = append(f.diary, fmt.Sprintf("seed %d", seed))
		f.start("a", 100)
		f.start("b", 127)
		if seed%3 == 0 {
			f.start("c", 200)
		}
		f.run(10*time.Second, nil)
		for range 40 {
			for range f.rng.IntN(4) {
				f.flip(fmt.Sprintf("p%d", f.rng.IntN(pairPlaces)))
				f.run(time.Duration(f.rng.IntN(2000))*time.Millisecond, f.watch)
			}
			f.randomly(f.members[f.rng.IntN(len(f.members))])
			f.run(time.Duration(f.rng.IntN(12))*time.Second, f.watch)
			if f.rng.IntN(4) == 0 {
				f.repair()
				f.run(25*time.Second, f.watch)
				f.lists()
			}
		}
		f.repair()
		clear(f.wrong)
		f.run(40*time.Second, f.watch)
		f.lists()
		f.judge()
		for _, h := range f.station {
			if h.raise {
				raises++
			}
		}
		repeats += f.repeats()
	}
	t.Logf("%d raises, %d notifications came again", raises, repeats)
}

// ofNATS returns the notifications of natsDisconnected.
func (f *fleet) ofNATS() (all []notified) {
	for _, h := range f.station {
		if h.subject == NATSDisconnected.String() {
			all = append(all, h)
		}
	}
	return all
}

// A sidecar of a pair that is cut off from NATS notifies it once; the other one has the
// duty. If both are cut off, each notifies it; and both alarms are cleared.
//
//promise:clears cut
//promise:evidence cut
func TestEachSidecarThatIsCutOffNotifiesItOnce(t *testing.T) {
	for _, c := range []struct {
		cut []string
		// Other notifications in the meantime.
		by string
	}{{[]string{"a"}, "b"}, {[]string{"b"}, "a"}, {[]string{"a", "b"}, ""}} {
		for seed := range seeds.Of(5, 50) {
			f := newFleet(t, seed)
			f.diary = append(f.diary, fmt.Sprintf("seed %d, cut off %v", seed, c.cut))
			f.start("a", 100)
			f.start("b", 127)
			f.run(15*time.Second, nil)
			for _, m := range f.members {
				if slices.Contains(c.cut, m.name) {
					f.inject(m, "cut")
				}
			}
			f.run(9*time.Second, nil)
			if sent := f.ofNATS(); len(sent) > 0 {
				t.Fatalf("after 9 s the station received %v: %s", sent, f.diary)
			}
			f.run(6*time.Second, nil)
			f.flip("p0")
			f.run(15*time.Second, nil)
			for _, h := range f.station {
				if nats := h.subject == NATSDisconnected.String(); !h.raise || nats != slices.Contains(c.cut, h.from) {
					t.Fatalf("%s sends %+v: %s", h.from, h, f.diary)
				}
			}
			if n := len(f.ofNATS()); n != len(c.cut) || (len(f.station) > n) != (c.by != "") {
				t.Fatalf("the station received %+v: %s", f.station, f.diary)
			}
			f.repair()
			f.run(25*time.Second, nil)
			f.lists()
			clear(f.wrong)
			f.run(15*time.Second, nil)
			f.judge()
			if n := len(f.ofNATS()); n != 2*len(c.cut) || f.repeats() > 0 {
				t.Fatalf("the station received %+v: %s", f.station, f.diary)
			}
		}
	}
}
