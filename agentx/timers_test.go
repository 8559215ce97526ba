// SPDX-License-Identifier: Apache-2.0

package agentx

import (
	"context"
	"errors"
	"math/rand/v2"
	"net"
	"testing"
	"testing/synctest"
	"time"

	"github.com/pnagent/pnagent/agentx/pdu"
)

func TestThePingComesEvery15Seconds(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := start(t, nil)
		m := f.acceptUp(t)
		synctest.Wait()
		last := time.Now()
		for range 5 {
			p := m.read()
			if p.Header.Type != pdu.TypePing || time.Since(last) != 15*time.Second {
				t.Fatalf("%v after %v", p.Header.Type, time.Since(last))
			}
			last = time.Now()
			m.ok(p)
		}
		f.finish(m)
	})
}

func TestAMasterThatDoesNotAnswerAPingIsLeftAfter5Seconds(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := start(t, nil)
		m := f.acceptUp(t)
		m.read()
		asked := time.Now()
		p := m.read()
		if c, ok := p.Body.(*pdu.Close); !ok || c.Reason != pdu.ReasonTimeouts || time.Since(asked) != 5*time.Second {
			t.Fatalf("%v %+v after %v", p.Header.Type, p.Body, time.Since(asked))
		}
		m.gone()
		m = f.acceptUp(t)
		m.serving()
		if s := f.Stats(); s.Faults[FaultTimeout] != 1 || s.Sessions != 2 {
			t.Fatalf("got %+v; want one fault FaultTimeout and two sessions", s)
		}
		f.finish(m)
	})
}

func TestAMasterThatForgotTheSessionIsOpenedAgain(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := start(t, nil)
		m := f.acceptUp(t)
		m.answer(m.read(), &pdu.Response{Error: pdu.NotOpen})
		if m.read().Header.Type != pdu.TypeClose {
			t.Fatal("no Close")
		}
		m.conn.Close()
		m = f.acceptUp(t)
		m.serving()
		f.finish(m)
	})
}

func TestAMasterThatDoesNotAnswerTheOpenIsLeftAfter5Seconds(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := start(t, nil)
		m := f.accept(t)
		m.read()
		asked := time.Now()
		m.gone()
		if time.Since(asked) != 5*time.Second {
			t.Fatalf("after %v", time.Since(asked))
		}
		f.finish(nil)
	})
}

func TestEveryAttemptButTheFirstWaitsUpTo1500Milliseconds(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := prepare(t, nil)
		var attempts []time.Time
		enough := make(chan struct{})
		f.dial = func(context.Context) (net.Conn, error) {
			if attempts = append(attempts, time.Now()); len(attempts) == 10 {
				close(enough)
			}
			return nil, errors.New("no listener")
		}
		began := time.Now()
		f.run(t)
		<-enough
		f.stop()
		<-f.ended
		if attempts[0] != began {
			t.Errorf("the first attempt waits %v", attempts[0].Sub(began))
		}
		for i, seconds := range []float64{1, 1.5, 1.5, 1.5, 1.5, 1.5, 1.5, 1.5, 1.5} {
			wait := attempts[i+1].Sub(attempts[i])
			if wait.Seconds() < seconds/2 || wait.Seconds() > seconds {
				t.Errorf("attempt %d after %v, want between half and all of %v s", i+2, wait, seconds)
			}
		}
		if s := f.Stats(); s.Faults[FaultDial] != 10 {
			t.Errorf("got %+v; want ten faults FaultDial", s)
		}
	})
}

func TestAfterASessionTheBackoffStartsAgain(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := start(t, nil)
		for range 5 {
			m := f.acceptUp(t)
			m.conn.Close()
			lost := time.Now()
			again := f.accept(t)
			if wait := time.Since(lost); wait < 500*time.Millisecond || wait > time.Second {
				t.Fatalf("waited %v", wait)
			}
			again.conn.Close()
			f.accept(t).conn.Close()
			synctest.Wait()
		}
		f.stop()
		<-f.ended
		if s := f.Stats(); s.Sessions != 5 || s.Faults[FaultLost] != 15 {
			t.Fatalf("got %+v; want 5 sessions and 15 faults FaultLost", s)
		}
	})
}

func TestBackoffHasJitterAndBounds(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 2))
	for failures := range 100 {
		different := make(map[time.Duration]bool)
		for range 20 {
			d := backoff(failures, rng)
			if d < minBackoff || d > maxBackoff {
				t.Fatalf("%v after %d failures", d, failures)
			}
			different[d] = true
		}
		if len(different) < 10 {
			t.Fatalf("after %d failures only %d different waits", failures, len(different))
		}
	}
}

func TestOldTablesAreDroppedWithoutRequests(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := start(t, nil)
		m := f.acceptUp(t)
		m.serving()
		walks := f.live.Load().handler.contexts.plain
		for range 2 { // the first Ping may come while the table is still fresh
			m.ok(m.read())
		}
		synctest.Wait()
		if walks.current != nil {
			t.Error("the current table is held")
		}
		for _, p := range walks.pins {
			if p.table != nil {
				t.Error("a pin is held")
			}
		}
		f.finish(m)
	})
}
