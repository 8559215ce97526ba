// SPDX-License-Identifier: Apache-2.0

package snmp

import (
	"bytes"
	"context"
	"errors"
	"log/slog"
	"net"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"
)

// reply is what a sink sends.
func reply(community string, tag byte, id int32, s status) []byte {
	m := message{limit: DefaultMessage}
	m.open([]byte(community), tag, id, s, 0)
	return bytes.Clone(m.finish())
}

// scripted is a network with sinks that do as a test says: answer is called
// with every datagram, how many came before it, and the means to send back.
type scripted struct {
	answer func(n int, datagram []byte, send func(...[]byte))
	dials  int
	mu     sync.Mutex
	came   [][]byte // a sink that dials again may still read from the connection before
}

func (n *scripted) dial(context.Context, string, string) (net.Conn, error) {
	n.dials++
	ours, theirs := net.Pipe()
	turn := make(chan struct{}, 1) // the pipe's own lock would hold up synctest
	send := func(all ...[]byte) {
		turn <- struct{}{}
		defer func() { <-turn }()
		for _, b := range all {
			_, _ = theirs.Write(b)
		}
	}
	go func() {
		defer theirs.Close()
		for {
			datagram := make([]byte, maxDatagram)
			size, err := theirs.Read(datagram)
			if err != nil {
				return
			}
			n.mu.Lock()
			count := len(n.came)
			n.came = append(n.came, datagram[:size])
			n.mu.Unlock()
			go n.answer(count, datagram[:size], send)
		}
	}()
	return ours, nil
}

// idOf is the request id of a notification.
func idOf(tb testing.TB, datagram []byte) int32 {
	tb.Helper()
	return int32(decoded(tb, datagram).RequestID)
}

func TestInforms(t *testing.T) {
	type send = func(...[]byte)
	good := func(t *testing.T, datagram []byte) []byte {
		return reply("public", tagResponse, idOf(t, datagram), noError)
	}
	for _, c := range []struct {
		rule    string
		informs int
		answer  func(t *testing.T, n int, datagram []byte, send send)
		want    SinkStats
		took    time.Duration
	}{
		{"acknowledged at once", 3,
			func(t *testing.T, _ int, d []byte, send send) { send(good(t, d)) },
			SinkStats{Sent: 3, Acknowledged: 3}, 0},
		{"a sink that is silent", 1,
			func(*testing.T, int, []byte, send) {},
			SinkStats{Sent: 3, Retried: 2, Lost: map[string]uint64{"unanswered": 1}}, 6 * time.Second},
		{"the first two are lost on the way", 1,
			func(t *testing.T, n int, d []byte, send send) {
				if n == 2 {
					send(good(t, d))
				}
			},
			SinkStats{Sent: 3, Retried: 2, Acknowledged: 1}, 4 * time.Second},
		{"a late answer is an answer to the repetition too", 1,
			func(t *testing.T, n int, d []byte, send send) {
				if n == 0 {
					time.Sleep(3 * time.Second)
					send(good(t, d))
				}
			},
			SinkStats{Sent: 2, Retried: 1, Acknowledged: 1}, 3 * time.Second},
		{"one that comes after all is given up is ignored, and does not acknowledge the next", 2,
			func(t *testing.T, n int, d []byte, send send) {
				switch n {
				case 2:
					time.Sleep(2500 * time.Millisecond)
					send(good(t, d))
				case 3:
					time.Sleep(time.Second)
					send(good(t, d))
				}
			},
			SinkStats{Sent: 4, Retried: 2, Acknowledged: 1, Ignored: 1, Lost: map[string]uint64{"unanswered": 1}}, 7 * time.Second},
		{"a sink that answers twice", 2,
			func(t *testing.T, _ int, d []byte, send send) { send(good(t, d), good(t, d)) },
			SinkStats{Sent: 2, Acknowledged: 2, Ignored: 1}, 0},
		{"what is no acknowledgement is ignored until one comes", 1,
			func(t *testing.T, _ int, d []byte, send send) {
				id := idOf(t, d)
				v1 := good(t, d)
				v1[6] = 0
				for _, b := range [][]byte{{0}, []byte("nonsense"), bytes.Repeat([]byte{0x30}, 5000), d, good(t, d)[:20], v1,
					reply("public", tagResponse, id+1, noError), reply("private", tagResponse, id, noError), reply("public", tagReport, id, noError)} {
					send(b)
				}
				send(good(t, d))
			},
			SinkStats{Sent: 1, Acknowledged: 1, Ignored: 9}, 0},
		{"a sink that never stops talking nonsense", 1,
			func(_ *testing.T, _ int, _ []byte, send send) {
				for range 10 {
					time.Sleep(100 * time.Millisecond)
					send([]byte("nonsense"))
				}
			},
			SinkStats{Sent: 3, Retried: 2, Ignored: 30, Lost: map[string]uint64{"unanswered": 1}}, 6 * time.Second},
		{"a sink that answers with an error would answer so again", 1,
			func(t *testing.T, _ int, d []byte, send send) { send(reply("public", tagResponse, idOf(t, d), genErr)) },
			SinkStats{Sent: 1, Lost: map[string]uint64{"refused": 1}}, 0},
	} {
		t.Run(c.rule, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				s := newSender(t, nil)
				network := &scripted{answer: func(n int, d []byte, send func(...[]byte)) { c.answer(t, n, d, send) }}
				s.sinks[0].dial = network.dial
				stop := run(t, s)
				for range c.informs {
					if err := notify(s, stuck("it is stuck")); err != nil {
						t.Fatal(err)
					}
				}
				began := time.Now()
				for s.Stats()[0].Queued > 0 {
					synctest.Wait()
					if s.Stats()[0].Queued > 0 {
						time.Sleep(10 * time.Millisecond)
					}
				}
				if took := time.Since(began); took != c.took {
					t.Errorf("took %v, want %v", took, c.took)
				}
				compare(t, s.Stats()[0], c.want)
				stop()
				synctest.Wait()
				for i, datagram := range network.came[1:] {
					if c.informs == 1 && !bytes.Equal(datagram, network.came[0]) {
						t.Errorf("repetition %d is another message", i+1)
					}
				}
			})
		})
	}
}

// run runs a sender until stop, or the test ends.
func run(tb testing.TB, s *Sender) (stop func()) {
	tb.Helper()
	ctx, cancel := context.WithCancel(context.Background())
	done := make(chan struct{})
	go func() {
		defer close(done)
		s.Run(ctx)
	}()
	stop = func() {
		cancel()
		<-done
	}
	tb.Cleanup(stop)
	return stop
}

// compare compares what a sink has counted; a reason that is not in want is 0.
func compare(t *testing.T, got, want SinkStats) {
	t.Helper()
	lost := map[string]uint64{}
	for reason, n := range got.Lost {
		if n > 0 {
			lost[reason] = n
		}
	}
	if want.Lost == nil {
		want.Lost = map[string]uint64{}
	}
	got.Lost, got.Sink = lost, want.Sink
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
}

func TestADeadSinkDelaysNoOther(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := newSender(t, func(c *SenderConfig) { c.Sinks = []string{"dead:162", "live:162", "nowhere:162"} })
		dead := &scripted{answer: func(int, []byte, func(...[]byte)) {}}
		live := &scripted{answer: func(_ int, d []byte, send func(...[]byte)) {
			send(reply("public", tagResponse, idOf(t, d), noError))
		}}
		s.sinks[0].dial, s.sinks[1].dial = dead.dial, live.dial
		s.sinks[2].dial = func(context.Context, string, string) (net.Conn, error) { return nil, errors.New("no such name") }
		stop := run(t, s)
		began := time.Now()
		full := 0
		for range 3 * MaxQueue {
			s.Deliver(Delivery{Variables: stuck("it is stuck"), Done: func(err error) {
				if errors.Is(err, ErrQueueFull) && strings.Contains(err.Error(), "dead:162") {
					full++
				}
			}})
			synctest.Wait()
		}
		if time.Since(began) != 0 {
			t.Errorf("it took %v", time.Since(began))
		}
		const waits = MaxQueue + 1 // the queue, and the one under way
		if full != 3*MaxQueue-waits {
			t.Errorf("%d were refused by a sink", full)
		}
		compare(t, s.Stats()[0], SinkStats{Sent: 1, Queued: waits, Lost: map[string]uint64{"queue_full": uint64(full)}})
		compare(t, s.Stats()[1], SinkStats{Sent: 3 * MaxQueue, Acknowledged: 3 * MaxQueue})
		compare(t, s.Stats()[2], SinkStats{Queued: waits, Lost: map[string]uint64{"queue_full": uint64(full)}})

		time.Sleep(6*time.Second + time.Millisecond)
		synctest.Wait()
		compare(t, s.Stats()[2], SinkStats{Queued: MaxQueue, Lost: map[string]uint64{"queue_full": uint64(full), "network": 1}})
		stop()
		compare(t, s.Stats()[0], SinkStats{Sent: 4, Retried: 2, Lost: map[string]uint64{"queue_full": uint64(full), "unanswered": 1, "stopped": MaxQueue}})
		if err := notify(s, stuck("too late")); !errors.Is(err, ErrStopped) {
			t.Errorf("after the end: %v", err)
		}
		if got := s.Stats()[1]; got.Lost["stopped"] != 1 || got.Queued != 0 {
			t.Errorf("after the end: %+v", got)
		}
	})
}

func TestASinkGetsNotificationsInTheirOrder(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := newSender(t, nil)
		var acknowledged []string
		network := &scripted{answer: func(n int, d []byte, send func(...[]byte)) {
			if n%3 == 1 { // every other one is lost on the way
				packet := decoded(t, d)
				acknowledged = append(acknowledged, string(packet.Variables[2].Value.([]byte)))
				send(reply("public", tagResponse, int32(packet.RequestID), noError))
			}
		}}
		s.sinks[0].dial = network.dial
		run(t, s)
		want := []string{"raised", "cleared", "raised again", "cleared again"}
		for _, text := range want {
			if err := notify(s, stuck(text)); err != nil {
				t.Fatal(err)
			}
		}
		time.Sleep(time.Minute)
		synctest.Wait()
		if diff := cmp.Diff(want, acknowledged); diff != "" {
			t.Error(diff)
		}
	})
}

func TestASinkIsLookedUpAgain(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := newSender(t, func(c *SenderConfig) { c.Inform = false })
		network := &scripted{answer: func(int, []byte, func(...[]byte)) {}}
		s.sinks[0].dial = network.dial
		run(t, s)
		for _, step := range []struct {
			after time.Duration
			dials int
		}{{0, 1}, {time.Second, 1}, {dialAgainAfter - 2*time.Second, 1}, {time.Second, 2}, {time.Second, 2}, {time.Hour, 3}} {
			time.Sleep(step.after)
			if err := notify(s, stuck("x")); err != nil {
				t.Fatal(err)
			}
			synctest.Wait()
			if network.dials != step.dials {
				t.Errorf("looked up %d times, want %d", network.dials, step.dials)
			}
		}
		compare(t, s.Stats()[0], SinkStats{Sent: 6})
	})
}

func TestOnlyChangesAreLogged(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var logged bytes.Buffer
		s := newSender(t, func(c *SenderConfig) {
			c.Community, c.Repeats = "s3cret", 0
			c.Log = slog.New(slog.NewTextHandler(&logged, &slog.HandlerOptions{Level: slog.LevelDebug}))
		})
		network := &scripted{answer: func(n int, d []byte, send func(...[]byte)) {
			if n < 2 || n >= 5 {
				send(reply("s3cret", tagResponse, idOf(t, d), noError))
			}
		}}
		s.sinks[0].dial = network.dial
		run(t, s)
		for range 8 {
			if err := notify(s, stuck("x")); err != nil {
				t.Fatal(err)
			}
		}
		time.Sleep(time.Minute)
		synctest.Wait()
		lines := strings.Split(strings.TrimSpace(logged.String()), "\n")
		if len(lines) != 2 || !strings.Contains(lines[0], "reason=unanswered") || !strings.Contains(lines[0], "sink=192.0.2.1:162") ||
			!strings.Contains(lines[1], "again") {
			t.Errorf("logged %q", lines)
		}
		if strings.Contains(logged.String(), "s3cret") {
			t.Error("the community is in the log")
		}
	})
}

func TestStoppingDoesNotWaitForASink(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := newSender(t, nil)
		network := &scripted{answer: func(int, []byte, func(...[]byte)) {}}
		s.sinks[0].dial = network.dial
		stop := run(t, s)
		for range 10 {
			if err := notify(s, stuck("x")); err != nil {
				t.Fatal(err)
			}
		}
		synctest.Wait()
		began := time.Now()
		stop()
		if time.Since(began) != 0 {
			t.Errorf("it took %v", time.Since(began))
		}
		compare(t, s.Stats()[0], SinkStats{Sent: 1, Lost: map[string]uint64{"stopped": 10}})
	})
}

func TestATrapIsTriedOnce(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := newSender(t, func(c *SenderConfig) { c.Inform = false })
		network := &scripted{answer: func(int, []byte, func(...[]byte)) {}}
		reachable := false
		s.sinks[0].dial = func(ctx context.Context, kind, address string) (net.Conn, error) {
			if !reachable {
				return nil, errors.New("no route to host")
			}
			return network.dial(ctx, kind, address)
		}
		run(t, s)
		began := time.Now()
		for i := range 6 {
			reachable = i >= 2
			if err := notify(s, stuck("x")); err != nil {
				t.Fatal(err)
			}
			synctest.Wait()
		}
		if time.Since(began) != 0 {
			t.Errorf("it took %v", time.Since(began))
		}
		compare(t, s.Stats()[0], SinkStats{Sent: 4, Lost: map[string]uint64{"network": 2}})
	})
}
