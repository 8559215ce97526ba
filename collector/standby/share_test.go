// SPDX-License-Identifier: Apache-2.0

package standby

import (
	"errors"
	"fmt"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/nats-io/nats.go"

	"github.com/pnagent/pnagent/collector/standby/roster"
	"github.com/pnagent/pnagent/internal/natstest"
)

// shelf is a fake of package alarm.
type shelf struct {
	mu     sync.Mutex
	known  string // the digest
	folded []string
	asks   []bool
	member *Member
}

func (s *shelf) alarms() *Shared {
	return &Shared{
		Digest: func() string { s.mu.Lock(); defer s.mu.Unlock(); return s.known },
		Fold: func(page []byte) error {
			s.mu.Lock()
			defer s.mu.Unlock()
			if string(page) == "bad" {
				return errors.New("bad")
			}
			s.folded = append(s.folded, string(page))
			s.known = string(page)
			return nil
		},
		ShareAll: func(ask bool) {
			s.mu.Lock()
			s.asks = append(s.asks, ask)
			known := s.known
			s.mu.Unlock()
			go s.member.Share([][]byte{[]byte(known)}, ask)
		},
	}
}

// with runs a member that has a shelf.
func with(t *testing.T, cfg Config, known string) (s *shelf, stop func()) {
	t.Helper()
	s = &shelf{known: known}
	cfg.Alarms = s.alarms()
	s.mu.Lock()
	defer s.mu.Unlock()
	s.member, stop = run(t, cfg)
	return s, stop
}

func (s *shelf) has(want []string) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	if diff := cmp.Diff(want, s.folded); diff != "" {
		return errors.New(diff)
	}
	return nil
}

func TestANewMemberRequestsTheAlarmsAndTakesEachPageOnce(t *testing.T) {
	natstest.Bubble(t, func(t *testing.T) {
		connect := startNATS(t)
		cfg := Config{Conn: connect(), Subject: "petrinet.v1.sidecars.test", Name: "a", Priority: 100}
		a, _ := with(t, cfg, "of-a")
		duty(t, a.member, true, 0)
		cfg.Conn, cfg.Name, cfg.Priority = connect(), "b", 127
		b, _ := with(t, cfg, "")
		b.mu.Lock()
		b.known = "of-b"
		b.mu.Unlock()
		until(t, "the new member has asked and been answered", func() error {
			b.mu.Lock()
			defer b.mu.Unlock()
			if len(b.asks) == 0 || !b.asks[0] || len(b.folded) == 0 {
				return fmt.Errorf("it asked %v, took %v", b.asks, b.folded)
			}
			return nil
		})
		until(t, "the other member takes its alarms", func() error { return a.has([]string{"of-b"}) })
		nc := connect()
		for _, page := range []string{"", "{}\n", "no line", `{"version":2,"id":"x"}` + "\n", `{"version":1,"id":"x"}` + "\nbad", strings.Repeat(" ", maxHead) + "{}\n"} {
			publish(t, nc, cfg.Subject+"-alarms", []byte(page))
		}
		until(t, "invalid pages are counted", func() error {
			k := a.member.Counters().Rejected
			if got := [3]uint64{k[roster.NotJSON], k[roster.BadVersion], k[roster.BadPage]}; got != [3]uint64{3, 2, 1} {
				return fmt.Errorf("not JSON, version, page: %v", got)
			}
			return nil
		})
	})
}

func TestAMemberThatEndsHandsOverAtOnceButNotDuringAHold(t *testing.T) {
	natstest.Bubble(t, func(t *testing.T) {
		connect := startNATS(t)
		cfg := Config{Conn: connect(), Subject: "petrinet.v1.sidecars.test", Name: "a", Priority: 100}
		a, stop := run(t, cfg)
		duty(t, a, true, 0)
		cfg.Conn, cfg.Name, cfg.Priority = connect(), "b", 127
		b, _ := run(t, cfg)
		duty(t, b, false, 1)
		time.Sleep(roster.Silent + roster.Interval) // it listens

		state, release := a.Hold()
		if !state.OnDuty {
			t.Error("a Hold finds it off duty")
		}
		began := time.Now()
		const hold = releaseWithin / 2
		time.AfterFunc(hold, func() {
			if b.OnDuty() {
				t.Error("another one is on duty during a Hold")
			}
			release()
		})
		stop()
		duty(t, b, true, 0)
		if took := time.Since(began); took < hold || took > roster.Silent-roster.Interval {
			t.Errorf("the hand-over took %v", took)
		}
		if state, release := a.Hold(); state.OnDuty {
			t.Error("after its end it is on duty")
		} else {
			release()
		}
	})
}

func TestAMemberWithoutAConnectionEndsAtOnce(t *testing.T) {
	natstest.Bubble(t, func(t *testing.T) {
		connect := startNATS(t)
		conn := connect()
		_, stop := run(t, Config{Conn: conn, Subject: "s", Connected: func() bool { return false }})
		began := time.Now()
		stop()
		if took := time.Since(began); took > flushWithin/2 {
			t.Errorf("the end took %v", took)
		}
		conn.Close()
		if err := New(Config{Conn: conn, Subject: "s"}).Run(t.Context()); err == nil {
			t.Error("without a connection it runs")
		}
	})
}

func TestAPageSurvivesARoundTrip(t *testing.T) {
	want := Page{Version: roster.Version, ID: "a-1", Ask: true, Content: []byte("one\ntwo\n")}
	got, err := DecodePage(want.Encode())
	if diff := cmp.Diff(want, got); err != nil || diff != "" {
		t.Errorf("pages: error %v (-want +got): %s", err, diff)
	}
}

func FuzzDecodePage(f *testing.F) {
	page := Page{Version: roster.Version, ID: "a-1", Ask: true, Content: []byte("one\n")}
	parcel := Page{Version: roster.Version, ID: "a-1", To: "b", Ask: true, Part: 3, Last: true, Content: []byte("one\n")}
	f.Add(page.Encode())
	f.Add(parcel.Encode())
	f.Fuzz(func(t *testing.T, data []byte) {
		p, err := DecodePage(data)
		if err != nil {
			if roster.ReasonOf(err) == "" {
				t.Fatalf("%v has no reason", err)
			}
			return
		}
		if again, err := DecodePage(p.Encode()); err != nil || !cmp.Equal(p, again) {
			t.Fatalf("%v: %+v became %+v", err, p, again)
		}
	})
}

func TestAnOldStateIsNotOnDuty(t *testing.T) {
	natstest.Bubble(t, func(t *testing.T) {
		m := New(Config{Conn: startNATS(t)(), Subject: "s"})
		for age, want := range map[time.Duration]bool{0: true, roster.Silent: false} {
			m.state.Store(&roster.State{OnDuty: true, At: time.Now().Add(-age)})
			s, release := m.Hold()
			release()
			if s.OnDuty != want || m.OnDuty() != want {
				t.Errorf("a state of %v: on duty %v", age, s.OnDuty)
			}
		}
	})
}

func TestOnlyTheLastPageRequestsAlarms(t *testing.T) {
	natstest.Bubble(t, func(t *testing.T) {
		connect := startNATS(t)
		nc, pages := connect(), make(chan *nats.Msg, 3)
		if _, err := nc.ChanSubscribe("s-alarms", pages); err != nil {
			t.Fatal(err)
		}
		if err := nc.Flush(); err != nil {
			t.Fatal(err)
		}
		New(Config{Conn: connect(), Subject: "s"}).Share([][]byte{[]byte("1"), []byte("2"), []byte("3")}, true)
		for i := range 3 {
			page, err := DecodePage((<-pages).Data)
			if err != nil || page.Ask != (i == 2) || string(page.Content) != fmt.Sprint(i+1) {
				t.Errorf("page %d: %+v, %v", i, page, err)
			}
		}
	})
}

func TestInvalidFirstLines(t *testing.T) {
	long := strings.Repeat(" ", 256-len(`{"version":1,"id":"a"}`))
	for _, c := range []struct {
		text string
		want error
	}{
		{`{"version":1,"id":"a"}` + "\nrest", nil},
		{`{"version":1,"id":"a"}` + long + "\nrest", nil},
		{`{"version":1,"id":"a"}` + long + " \nrest", roster.NotJSON},
		{`{"version":1,"id":"a"}`, roster.NotJSON},
		{"\nrest", roster.NotJSON},
		{"{\nrest", roster.NotJSON},
		{`{"version":1,"id":"a","ask":1}` + "\nrest", roster.NotJSON},
		{`{"version":2,"id":"a"}` + "\nrest", roster.BadVersion},
		{`{"version":1,"id":"A"}` + "\nrest", roster.BadID},
		{`{"version":1}` + "\nrest", roster.BadID},
	} {
		page, err := DecodePage([]byte(c.text))
		if !errors.Is(err, c.want) || err == nil && string(page.Content) != "rest" {
			t.Errorf("page %.60q: %v, %q, want %v", c.text, err, page.Content, c.want)
		}
	}
}
