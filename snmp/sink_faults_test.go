// SPDX-License-Identifier: Apache-2.0

package snmp

import (
	"bytes"
	"context"
	"errors"
	"log/slog"
	"net"
	"runtime"
	"strings"
	"sync/atomic"
	"syscall"
	"testing"
	"testing/synctest"
	"time"
)

// faulty is a socket that fails to send, as a test says.
type faulty struct {
	net.Conn
	fail   func() error
	closed *atomic.Int64
}

func (f faulty) Write(b []byte) (int, error) {
	if err := f.fail(); err != nil {
		return 0, err
	}
	return f.Conn.Write(b)
}

func (f faulty) Close() error {
	f.closed.Add(1)
	return f.Conn.Close()
}

// A socket that failed is not used again; one that only reports that an earlier
// datagram did not arrive has not sent this one, which is sent at once from
// another.
func TestASocketThatFailsIsReplaced(t *testing.T) {
	for _, c := range []struct {
		rule          string
		fault         error
		dials, closed int
		want          SinkStats
	}{
		{"the network is down", syscall.ENETUNREACH, 2, 1, SinkStats{Sent: 2, Lost: map[string]uint64{"network": 1}}},
		{"no process listened before", syscall.ECONNREFUSED, 2, 1, SinkStats{Sent: 3, Unreachable: 1}},
	} {
		t.Run(c.rule, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				s := newSender(t, func(c *SenderConfig) { c.Inform = false })
				network := &scripted{answer: func(int, []byte, func(...[]byte)) {}}
				writes := 0
				var closed atomic.Int64
				s.sinks[0].dial = func(ctx context.Context, kind, address string) (net.Conn, error) {
					conn, err := network.dial(ctx, kind, address)
					return faulty{conn, func() error {
						if writes++; writes == 2 {
							return &net.OpError{Op: "write", Err: c.fault}
						}
						return nil
					}, &closed}, err
				}
				stop := run(t, s)
				for range 3 {
					if err := notify(s, stuck("x")); err != nil {
						t.Fatal(err)
					}
					synctest.Wait()
				}
				if network.dials != c.dials || int(closed.Load()) != c.closed {
					t.Errorf("%d sockets, %d closed; want %d and %d", network.dials, closed.Load(), c.dials, c.closed)
				}
				compare(t, s.Stats()[0], c.want)
				stop()
				if int(closed.Load()) < c.dials { // the last one is closed when the context ends, and again
					t.Errorf("%d of %d sockets are closed in the end", closed.Load(), c.dials)
				}
			})
		})
	}
}

// An inform whose sink cannot be reached waits before it is tried again, as
// long as for an acknowledgement.
func TestAnInformOutlivesAFaultOfTheNetwork(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := newSender(t, nil)
		network := &scripted{answer: func(_ int, d []byte, send func(...[]byte)) {
			send(reply("public", tagResponse, idOf(t, d), noError))
		}}
		tries := 0
		s.sinks[0].dial = func(ctx context.Context, kind, address string) (net.Conn, error) {
			if tries++; tries == 1 {
				return nil, errors.New("no route to host")
			}
			return network.dial(ctx, kind, address)
		}
		run(t, s)
		if err := notify(s, stuck("x")); err != nil {
			t.Fatal(err)
		}
		time.Sleep(s.sinks[0].timeout - 1)
		synctest.Wait()
		if got := s.Stats()[0]; got.Sent != 0 || got.Queued != 1 {
			t.Errorf("before the time is over %+v", got)
		}
		time.Sleep(time.Nanosecond)
		synctest.Wait()
		compare(t, s.Stats()[0], SinkStats{Sent: 1, Retried: 1, Acknowledged: 1})
	})
}

func TestAnUnheldPortIsReported(t *testing.T) {
	conn, err := net.ListenUDP("udp", &net.UDPAddr{IP: net.IPv4(127, 0, 0, 1)})
	if err != nil {
		t.Fatal(err)
	}
	unheld := conn.LocalAddr().String()
	conn.Close()
	var logged bytes.Buffer
	s := newSender(t, func(c *SenderConfig) {
		c.Sinks, c.Inform, c.Log = []string{unheld}, false, slog.New(slog.NewTextHandler(&logged, nil))
	})
	stop := run(t, s)
	for n := uint64(1); s.Stats()[0].Unreachable < 3; n++ {
		if err := notify(s, stuck("x")); err != nil {
			t.Fatal(err)
		}
		for s.Stats()[0].Queued > 0 {
			runtime.Gosched()
		}
		if got := s.Stats()[0]; got.Sent != n {
			t.Fatalf("after %d traps %+v", n, got)
		}
		if n > 1000 {
			t.Skip("this system does not report that no process listens at a port of the loopback")
		}
	}
	stop()
	if lines := strings.Count(logged.String(), "\n"); lines != 1 || !strings.Contains(logged.String(), "no process listens") {
		t.Errorf("logged %q", logged.String())
	}
}
