// SPDX-License-Identifier: Apache-2.0

package standby

import (
	"errors"
	"fmt"
	"regexp"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/nats-io/nats.go"

	"github.com/pnagent/pnagent/collector/standby/roster"
	"github.com/pnagent/pnagent/internal/natstest"
)

// received is a message and the time of its receipt since the start of a test.
type received struct {
	At time.Duration
	roster.Message
}

// listen passes the messages of a subject to take.
func listen(t *testing.T, nc *nats.Conn, subject string, take func(data []byte)) {
	t.Helper()
	if _, err := nc.Subscribe(subject, func(m *nats.Msg) { take(m.Data) }); err != nil {
		t.Fatal(err)
	}
	if err := nc.Flush(); err != nil {
		t.Fatal(err)
	}
}

// publish publishes data and waits until the members have taken it.
func publish(t *testing.T, nc *nats.Conn, subject string, data []byte) {
	t.Helper()
	synctest.Wait() // until the server has the subscriptions
	if err := nc.Publish(subject, data); err != nil {
		t.Fatal(err)
	}
	synctest.Wait()
}

func encoded(t *testing.T, m roster.Message) []byte {
	t.Helper()
	m.Version = roster.Version
	text, err := m.Encode()
	if err != nil {
		t.Fatal(err)
	}
	return text
}

// A member publishes a message each Interval, and at once when a field changes.
func TestMessagesOfALoneMember(t *testing.T) {
	natstest.Bubble(t, func(t *testing.T) {
		connect := startNATS(t)
		var mu sync.Mutex
		var got []received
		began := time.Now()
		listen(t, connect(), "s", func(data []byte) {
			m, err := roster.Decode(data)
			if err != nil {
				t.Error(err)
			}
			mu.Lock()
			defer mu.Unlock()
			got = append(got, received{time.Since(began), m})
		})
		var down atomic.Bool
		changed := make(chan struct{}, 1)
		m := New(Config{Conn: connect(), Subject: "s", Name: "é\xff", Priority: 7, Sources: (&sourcesOf{}).sources(),
			Alarms: (&shelf{known: "of-me"}).alarms(), Up: func() bool { return !down.Load() }, Changed: changed})
		if !regexp.MustCompile(`^[0-9a-f]{16}-[0-9a-f]{16}$`).MatchString(m.id) {
			t.Errorf("its id is %q", m.id)
		}
		began = time.Now()
		base := roster.Message{Version: roster.Version, ID: m.id, Name: "é", Priority: 7, Up: true, Started: began.UnixMicro(), Digest: "of-me", Sources: true}
		ctx, stop := t.Context(), make(chan struct{})
		go func() {
			defer close(stop)
			if err := m.Run(ctx); err != nil {
				t.Error(err)
			}
		}()
		var want []received
		for at := time.Duration(0); at <= roster.Silent+roster.Interval; at += roster.Interval {
			said := base
			said.OnDuty, said.Ready = at > roster.Silent, at > roster.Silent
			want = append(want, received{at, said})
			said.OnDuty = true
			if at == roster.Silent { // it has listened long enough
				said.Ready = true
				want = append(want, received{at, said})
			}
		}
		time.Sleep(roster.Silent + roster.Interval + stepEvery)
		down.Store(true)
		changed <- struct{}{}
		synctest.Wait()
		said := base
		said.Up, said.OnDuty, said.Ready = false, true, true
		want = append(want, received{roster.Silent + roster.Interval + stepEvery, said})
		mu.Lock()
		defer mu.Unlock()
		if d := cmp.Diff(want, got); d != "" {
			t.Error(d)
		}
		if k := m.Counters(); k.Received != uint64(len(got)) || k.TakeOvers != 1 {
			t.Errorf("it received %d messages of %d, and took over %d times", k.Received, len(got), k.TakeOvers)
		}
	})
}

// A member hands the duty over at the end of a Hold, or after releaseWithin.
func TestAHandOverWaitsForAHold(t *testing.T) {
	for hold, want := range map[time.Duration]time.Duration{0: 0, releaseWithin / 2: releaseWithin / 2, 2 * releaseWithin: releaseWithin} {
		natstest.Bubble(t, func(t *testing.T) {
			connect := startNATS(t)
			var down atomic.Bool
			a, _ := run(t, Config{Conn: connect(), Subject: "s", Name: "a", Up: func() bool { return !down.Load() }})
			duty(t, a, true, 0)
			b, _ := run(t, Config{Conn: connect(), Subject: "s", Name: "b", Priority: 1})
			duty(t, b, false, 1)
			time.Sleep(2 * roster.Silent)
			_, release := a.Hold()
			down.Store(true)
			for a.State().OnDuty {
				time.Sleep(time.Millisecond)
			}
			began := time.Now()
			time.AfterFunc(hold, release)
			synctest.Wait()
			if hold > 0 && b.OnDuty() {
				t.Error("another one is on duty during a Hold")
			}
			time.Sleep(want)
			synctest.Wait()
			if !b.OnDuty() {
				t.Errorf("a Hold of %v: not handed over after %v", hold, time.Since(began))
			}
			time.Sleep(hold)
			if k := a.Counters(); k.TakeOvers != 1 {
				t.Errorf("it took over %d times", k.TakeOvers)
			}
		})
	}
}

// A member counts parts in the wrong order, and requests them again after AskEvery.
func TestPartsInTheWrongOrderAreRequestedAgain(t *testing.T) {
	natstest.Bubble(t, func(t *testing.T) {
		connect := startNATS(t)
		s := &sourcesOf{}
		logger, log := logs()
		m, stop := run(t, Config{Conn: connect(), Subject: "s", Name: "me", Sources: s.sources(), Log: logger})
		nc := connect()
		var mu sync.Mutex
		var asked []time.Time
		listen(t, nc, "s-sources", func(data []byte) {
			p, err := DecodePage(data)
			if err != nil || !p.Ask {
				return
			}
			if d := cmp.Diff(Page{Version: roster.Version, ID: m.id, To: "other", Ask: true, Content: []byte{}}, p); d != "" {
				t.Error(d)
			}
			mu.Lock()
			defer mu.Unlock()
			asked = append(asked, time.Now())
		})
		times := func() int { mu.Lock(); defer mu.Unlock(); return len(asked) }
		pass := func(d time.Duration) {
			for range d / stepEvery {
				publish(t, nc, "s", encoded(t, roster.Message{ID: "other", Priority: 1, Up: true, Sources: true}))
				time.Sleep(stepEvery)
			}
		}
		part := func(n int, last bool) {
			p := Page{Version: roster.Version, ID: "other", To: m.id, Part: n, Last: last, Content: []byte(strconv.Itoa(n))}
			publish(t, nc, "s-sources", p.Encode())
		}
		pass(roster.Interval)
		if times() != 1 {
			t.Fatalf("asked %d times", times())
		}
		part(0, false)
		part(2, true)
		if n := m.Counters().Rejected[roster.BadPage]; n != 1 {
			t.Errorf("%d parts are rejected", n)
		}
		if err := s.has(0, nil); err != nil {
			t.Error(err)
		}
		pass(2 * roster.AskEvery)
		mu.Lock()
		for i, want := range []time.Duration{0, roster.Silent, roster.Silent + roster.AskEvery} {
			if i >= len(asked) || asked[i].Sub(asked[0]).Round(roster.Interval) != want {
				t.Errorf("asked at %v", asked)
				break
			}
		}
		mu.Unlock()
		for n := range 3 {
			part(n, n == 2)
		}
		if err := s.has(1, []byte("012")); err != nil {
			t.Error(err)
		}
		part(0, true) // was not asked for
		if err := s.has(1, []byte("012")); err != nil {
			t.Error(err)
		}
		before := times()
		pass(2 * roster.AskEvery)
		if times() != before {
			t.Errorf("asked %d times more", times()-before)
		}
		stop()
		if strings.Count(log.String(), "cannot take silent sources") != 1 {
			t.Errorf("the log has %s", log)
		}
	})
}

// Each message of a member beyond MaxPeers is counted.
//
//promise:dropped hostile
func TestAMemberCountsSidecarsBeyondTheBound(t *testing.T) {
	natstest.Bubble(t, func(t *testing.T) {
		connect := startNATS(t)
		m, _ := run(t, Config{Conn: connect(), Subject: "s", Name: "me"})
		nc := connect()
		for i := range roster.MaxPeers + 1 {
			publish(t, nc, "s", encoded(t, roster.Message{ID: strconv.Itoa(i), Name: strconv.Itoa(i), Up: true}))
		}
		publish(t, nc, "s", encoded(t, roster.Message{ID: "64", Name: "64", Up: true}))
		publish(t, nc, "s", encoded(t, roster.Message{ID: "63", Name: "63", Up: true}))
		k := m.Counters()
		if s := m.State(); k.Rejected[roster.TooMany] != 2 || s.Known != roster.MaxPeers || s.Live != roster.MaxPeers {
			t.Errorf("%d messages are too many, %+v", k.Rejected[roster.TooMany], s)
		}
		k.Rejected[roster.TooMany] = 99
		if n := m.Counters().Rejected[roster.TooMany]; n != 2 {
			t.Errorf("what was returned changes the counters: %d", n)
		}
	})
}

// busy runs a member. A call of once makes it take a step, which takes Interval.
func busy(t *testing.T, ns natstest.Server, cfg Config) (m *Member, once func()) {
	t.Helper()
	slow := &atomic.Bool{}
	cfg.Conn, cfg.Subject, cfg.Sources = natstest.Connect(t, ns), "s", (&sourcesOf{}).sources()
	changed := make(chan struct{}, 1)
	cfg.Changed = changed
	cfg.Up = func() bool {
		if slow.CompareAndSwap(true, false) {
			time.Sleep(roster.Interval)
		}
		return true
	}
	m, _ = run(t, cfg)
	time.Sleep(stepEvery / 2)
	return m, func() {
		slow.Store(true)
		changed <- struct{}{}
	}
}

// While a member is busy, maxOfSender messages of each known member wait, and as many of
// all others; the rest is dropped and counted. So no flood displaces another member.
func TestMessagesBeyondTheQueueOfTheirSenderAreCounted(t *testing.T) {
	natstest.Bubble(t, func(t *testing.T) {
		ns := natstest.Run(t)
		m, once := busy(t, ns, Config{})
		nc := natstest.Connect(t, ns)
		heartbeat := func(id string, priority uint8) []byte {
			return encoded(t, roster.Message{ID: id, Name: id, Priority: priority, Up: true})
		}
		publish(t, nc, "s", heartbeat("known", 1))
		publish(t, nc, "s", heartbeat("flooded", 1))
		once()
		time.Sleep(stepEvery)
		const more = 5
		for i := range maxOfSender + more {
			for _, id := range []string{"flooded", fmt.Sprint(i)} {
				if err := nc.Publish("s", heartbeat(id, 2)); err != nil {
					t.Fatal(err)
				}
			}
		}
		publish(t, nc, "s", encoded(t, roster.Message{ID: "known", Name: "known", Priority: 3, Up: true, OnDuty: true}))
		time.Sleep(2 * roster.Interval)
		synctest.Wait()
		if k := m.Counters().Rejected; k[roster.Overrun] != 2*more || k[roster.TooMany] != maxOfSender-(roster.MaxPeers-2) {
			t.Errorf("got rejections %v; want %d overruns, and %d too many", k, 2*more, maxOfSender-(roster.MaxPeers-2))
		}
		if m.State().Shared {
			t.Error("the last message of the other member was not taken: it is on duty and shares no alarms")
		}
	})
}

// Messages that are no sidecar's do not wait, so that a member takes those of the others
// however many there are: without the key where there is one, else those that cannot be read.
func TestGarbageDisplacesNoMessage(t *testing.T) {
	for _, c := range []struct {
		keys Keys
		want roster.Reason
	}{{keyA, roster.Unsigned}, {nil, roster.NotJSON}} {
		natstest.Bubble(t, func(t *testing.T) {
			ns := natstest.Run(t)
			a, _ := run(t, Config{Conn: natstest.Connect(t, ns), Subject: "s", Name: "a", Keys: c.keys})
			duty(t, a, true, 0)
			m, once := busy(t, ns, Config{Name: "b", Priority: 1, Keys: c.keys})
			nc := natstest.Connect(t, ns)
			const each = 4 * maxOfSender
			for range 10 {
				once()
				time.Sleep(stepEvery)
				for i := range each {
					if err := nc.Publish("s"+[]string{"", "-sources"}[i%2], []byte("0123456789abcdef")); err != nil {
						t.Fatal(err)
					}
				}
				time.Sleep(roster.Interval)
			}
			time.Sleep(roster.Interval)
			if k := m.Counters().Rejected; k[roster.Overrun] != 0 || k[c.want] != 10*each {
				t.Errorf("got rejections %v; want no overrun, and %d of %s", k, 10*each, c.want)
			}
			if s := m.State(); s.Live != 1 || s.OnDuty || !a.OnDuty() || m.Counters().TakeOvers != 0 {
				t.Errorf("got %+v, and the other on duty %v; want one live member, which stays on duty", s, a.OnDuty())
			}
		})
	}
}

// A message or page that is too large is not read.
func TestLargeMessagesAreRejectedUnread(t *testing.T) {
	natstest.Bubble(t, func(t *testing.T) {
		connect := startNATS(t)
		m, _ := with(t, Config{Conn: connect(), Subject: "s", Keys: keyA}, "of-me")
		nc := connect()
		time.Sleep(stepEvery)
		for subject, size := range map[string]int{"s": roster.MaxMessage, "s-alarms": maxBulk - 100} {
			before := m.member.Counters().Rejected
			publish(t, nc, subject, make([]byte, size))
			if k := m.member.Counters().Rejected; k[roster.Unsigned] != before[roster.Unsigned]+1 || k[roster.TooLarge] != before[roster.TooLarge] {
				t.Errorf("%s with %d bytes: got rejections %v; want one as unsigned", subject, size, k)
			}
		}
		publish(t, nc, "s", make([]byte, roster.MaxMessage+1))
		if n := m.member.Counters().Rejected[roster.TooLarge]; n != 1 {
			t.Errorf("%d messages are too large; want 1", n)
		}
		if _, err := m.member.verify(&nats.Msg{Subject: "s-alarms", Data: make([]byte, maxBulk+1)}, pagesSuffix); !errors.Is(err, roster.TooLarge) {
			t.Errorf("a page that is too large: %v", err)
		}
	})
}

// A member answers requests for all alarms at most once in answerEvery, and ignores its
// own pages.
func TestRequestsForAllAlarmsAreAnsweredOnceASecond(t *testing.T) {
	natstest.Bubble(t, func(t *testing.T) {
		connect := startNATS(t)
		a, _ := with(t, Config{Conn: connect(), Subject: "s"}, "of-a")
		synctest.Wait()
		nc := connect()
		request := func(ask bool) {
			page := Page{Version: roster.Version, ID: "other", Ask: ask, Content: []byte("of-other")}
			publish(t, nc, "s-alarms", page.Encode())
		}
		check := func(asks []bool, folded int) {
			t.Helper()
			a.mu.Lock()
			defer a.mu.Unlock()
			if d := cmp.Diff(asks, a.asks); d != "" || len(a.folded) != folded {
				t.Errorf("%d pages are taken; %s", len(a.folded), d)
			}
		}
		request(false)
		check(nil, 1)
		request(true)
		request(true)
		check([]bool{false}, 3)
		time.Sleep(answerEvery - 1)
		request(true)
		check([]bool{false}, 4)
		time.Sleep(time.Nanosecond)
		request(true)
		check([]bool{false, false}, 5)
		if k := a.member.Counters().Rejected; k[roster.BadPage]+k[roster.NotJSON]+k[roster.BadID] != 0 {
			t.Errorf("got rejections %v; want none", k)
		}
		conn := connect()
		conn.Close()
		for _, cfg := range []Config{{Alarms: a.alarms()}, {Sources: (&sourcesOf{}).sources()}} {
			cfg.Conn, cfg.Subject = conn, "s"
			if err := New(cfg).Run(t.Context()); !errors.Is(err, nats.ErrConnectionClosed) {
				t.Errorf("without a connection: %v", err)
			}
		}
	})
}
