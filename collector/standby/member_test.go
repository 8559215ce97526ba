// SPDX-License-Identifier: Apache-2.0

package standby

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/nats-io/nats.go"

	"github.com/pnagent/pnagent/collector/standby/roster"
	"github.com/pnagent/pnagent/internal/natstest"
)

func TestMain(m *testing.M) { natstest.Main(m) }

// startNATS runs a server without a socket, and returns how to connect to it.
func startNATS(t *testing.T) func() *nats.Conn {
	t.Helper()
	ns := natstest.Run(t)
	return func() *nats.Conn { return natstest.Connect(t, ns) }
}

// until waits until check returns nil.
func until(t *testing.T, what string, check func() error) {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	for {
		err := check()
		if err == nil {
			return
		}
		select {
		case <-ctx.Done():
			t.Fatalf("waiting until %s: %v", what, err)
		case <-time.After(10 * time.Millisecond):
		}
	}
}

// stepEvery is the time between two steps of simulated members.
const stepEvery = 100 * time.Millisecond

// run runs a Member until stop, which waits for its end. Its id is larger than those of
// earlier members.
func run(t *testing.T, cfg Config) (m *Member, stop func()) {
	t.Helper()
	time.Sleep(time.Millisecond)
	m = New(cfg)
	ctx, cancel := context.WithCancel(t.Context())
	var wg sync.WaitGroup
	wg.Go(func() {
		if err := m.Run(ctx); err != nil {
			t.Error(err)
		}
	})
	stop = func() { cancel(); wg.Wait() }
	t.Cleanup(stop)
	return m, stop
}

func duty(t *testing.T, m *Member, want bool, others int) {
	t.Helper()
	until(t, fmt.Sprintf("on duty: %v, others: %d", want, others), func() error {
		if on := m.OnDuty(); on != want || m.State().Live != others {
			return fmt.Errorf("on duty: %v, %+v", on, *m.State())
		}
		return nil
	})
}

func TestMembersElectOneOverNATSAndCountInvalidMessages(t *testing.T) {
	natstest.Bubble(t, func(t *testing.T) {
		connect := startNATS(t)
		const subject = "petrinet.v1.sidecars.test"
		if New(Config{Conn: connect(), Subject: subject}).OnDuty() {
			t.Error("on duty before Run")
		}
		primary, stop := run(t, Config{Conn: connect(), Subject: subject, Name: strings.Repeat("é", 200), Priority: 100})
		standby, _ := run(t, Config{Conn: connect(), Subject: subject, Name: "b", Priority: 127})
		other, _ := run(t, Config{Conn: connect(), Subject: subject + "2", Name: "c", Priority: 1})
		duty(t, primary, true, 1)
		duty(t, standby, false, 1)
		duty(t, other, true, 0)

		nc := connect()
		for _, text := range []string{"", "{", `{"version":7}`, `{"version":1}`, strings.Repeat(" ", roster.MaxMessage+1)} {
			publish(t, nc, subject, []byte(text))
		}
		want := map[roster.Reason]uint64{}
		for _, reason := range roster.Reasons() {
			want[reason] = 0
		}
		want[roster.NotJSON], want[roster.BadVersion], want[roster.BadID], want[roster.TooLarge] = 2, 1, 1, 1
		until(t, "garbage is counted", func() error {
			if diff := cmp.Diff(want, standby.Counters().Rejected); diff != "" {
				return errors.New(diff)
			}
			return nil
		})

		before := time.Now()
		stop()
		duty(t, standby, true, 0)
		if from := standby.State().From; from.Before(before.Add(-roster.Margin-time.Second)) || from.After(time.Now().Add(-roster.Margin)) {
			t.Errorf("it notifies changes from %v before", before.Sub(from))
		}
		if k := standby.Counters(); k.TakeOvers != 1 || k.Received < 7 {
			t.Errorf("got %+v; want one take-over and at least 7 received messages", k)
		}
	})
}

func TestAGroupDependsOnRootAgentXAndSinks(t *testing.T) {
	const root = "1.3.6.1.4.1.32473"
	same := Group(root, true, []string{"noc:162", "b:162"})
	if Group(root, true, []string{"b:162", "noc:162"}) != same {
		t.Error("the order of the sinks matters")
	}
	for i, other := range []string{Group(root, false, []string{"noc:162", "b:162"}), Group(root, true, []string{"noc:162"}),
		Group(root+".1", true, []string{"noc:162", "b:162"}), Group(root, true, nil)} {
		if other == same {
			t.Errorf("%d is the same group", i)
		}
	}
}

// logs returns a log of everything, and what it holds.
func logs() (*slog.Logger, *bytes.Buffer) {
	var text bytes.Buffer
	return slog.New(slog.NewTextHandler(&text, &slog.HandlerOptions{Level: slog.LevelDebug})), &text
}

// Connected may report true after the connection was closed: the counter of dropped
// messages stays, and each failure to send is logged.
func TestFailuresToSendAreLogged(t *testing.T) {
	natstest.Bubble(t, func(t *testing.T) {
		conn := startNATS(t)()
		log, text := logs()
		m := New(Config{Conn: conn, Subject: "s", Name: strings.Repeat("n", roster.MaxName), Connected: func() bool { return true }, Log: log})
		if name := m.roster.Announce(time.Now()).Name; name != strings.Repeat("n", roster.MaxName) {
			t.Errorf("a name that is as long as it may be is %q", name)
		}
		sub, err := conn.ChanSubscribe("s", make(chan *nats.Msg))
		if err != nil {
			t.Fatal(err)
		}
		m.counters.Rejected[roster.Overrun] = 7
		conn.Close()
		m.overrun(sub)
		if m.Counters().Rejected[roster.Overrun] != 7 {
			t.Errorf("%d were too much, 7 before", m.Counters().Rejected[roster.Overrun])
		}
		for what, do := range map[string]func(){
			"cannot share alarms":        func() { m.Share([][]byte{[]byte("1"), []byte("2")}, false) },
			"cannot publish the state":   func() { m.send(m.roster.Announce(time.Now())) },
			"cannot send the last state": m.leave,
			"cannot ask another sidecar": func() { m.fetch("x") },
		} {
			text.Reset()
			do()
			if !strings.Contains(text.String(), what) {
				t.Errorf("no %q in the log: %q", what, text)
			}
		}
		text.Reset()
		m.cfg.Sources = (&sourcesOf{}).sources()
		m.exchange.answering <- struct{}{}
		m.answer("x")
		if !strings.Contains(text.String(), "cannot read all silent sources") || !strings.Contains(text.String(), "cannot send silent sources") {
			t.Errorf("the log has %q", text)
		}
		text.Reset()
		if len(m.exchange.answering) != 0 {
			t.Error("the answer did not end")
		}
		m.cfg.Connected = func() bool { return false }
		m.Share([][]byte{[]byte("1")}, false)
		m.send(m.roster.Announce(time.Now()))
		m.leave()
		m.fetch("x")
		if text.Len() != 0 {
			t.Errorf("without a connection it logs: %s", text)
		}
	})
}

// Share waits until the server has the alarms, and logs a failure. Without another live
// member it does not wait.
func TestSharingWaitsForTheServerWhileAnotherMemberIsLive(t *testing.T) {
	natstest.Bubble(t, func(t *testing.T) {
		ns := natstest.Run(t)
		conn := natstest.Connect(t, ns)
		natstest.Stop(ns)
		log, text := logs()
		m := New(Config{Conn: conn, Subject: "s", Connected: func() bool { return true }, Log: log})
		for others, want := range []bool{false, true} {
			text.Reset()
			m.state.Store(&roster.State{Live: others})
			m.Share([][]byte{[]byte("1")}, false)
			if strings.Contains(text.String(), "cannot share alarms") != want {
				t.Errorf("beside %d others the log has %q", others, text)
			}
		}
	})
}
