// SPDX-License-Identifier: Apache-2.0

package agentx

import (
	"context"
	"errors"
	"net"
	"testing"
	"testing/synctest"
	"time"

	"github.com/pnagent/pnagent/agentx/pdu"
)

func TestASubagentAnswersFromTheFirstRequestOfItsSession(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := start(t, nil)
		standing := func(rule string, since time.Time) {
			t.Helper()
			synctest.Wait()
			if s := f.Stats(); !s.Since.Equal(since) {
				t.Fatalf("%s: answering since %v", rule, s.Since)
			}
		}
		pause := func(m *master, d time.Duration) {
			for end := time.Now().Add(d); time.Now().Before(end); {
				m.ok(m.read()) // Pings
			}
		}
		m := f.acceptUp(t)
		pause(m, time.Hour)
		standing("a standby is not asked", time.Time{})
		m.serving()
		first := time.Now()
		standing("at the first request", first)
		pause(m, time.Hour)
		m.serving()
		standing("polls do not change when it began", first)
		m.conn.Close()
		m = f.acceptUp(t)
		standing("another session", time.Time{})
		m.serving()
		standing("asked in it", time.Now())
		f.finish(m)
	})
}

// What a master refuses to answer does not count as being asked.
func TestOnlyRequestsThatAreServedMakeASubagentAnswer(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := start(t, nil)
		m := f.acceptUp(t)
		m.ask(&pdu.Ping{})
		m.session = 8
		m.ask(&pdu.Get{})
		m.session = 7
		m.write(unhex(t, "01051000 00000007 00000001 00000001 00000004 00000000")) // half a range
		m.response(pdu.Header{Flags: network, Session: 7, Transaction: 1, Packet: 1})
		if s := f.Stats(); !s.Since.IsZero() {
			t.Fatalf("got %+v; want it not answering", s)
		}
		f.finish(m)
	})
}

// Whenever a master comes back, refusing connections until then, it is
// registered with at most 1.5 s later; there is no socket to watch over TCP.
func TestAMasterThatReturnsIsServedWithin2Seconds(t *testing.T) {
	for away := range 40 {
		synctest.Test(t, func(t *testing.T) {
			returns := time.Now().Add(time.Duration(away) * 333 * time.Millisecond)
			f := prepare(t, nil)
			connect := f.dial
			f.dial = func(ctx context.Context) (net.Conn, error) {
				if time.Now().Before(returns) {
					return nil, errors.New("refused")
				}
				return connect(ctx)
			}
			f.run(t)
			m := f.acceptUp(t)
			m.serving()
			if took := time.Since(returns); took > maxBackoff {
				t.Errorf("away for %v: served %v later", time.Duration(away)*333*time.Millisecond, took)
			}
			f.finish(m)
		})
	}
}
