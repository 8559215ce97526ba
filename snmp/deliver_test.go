// SPDX-License-Identifier: Apache-2.0

package snmp

import (
	"errors"
	"fmt"
	"slices"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/pnagent/pnagent/snmp/snmptest"
)

// results are what became of notifications, by their text.
type results struct {
	mu  sync.Mutex
	all map[string]string // the reason; "" for none
}

// deliver delivers the raise or the clear of an alarm.
func (r *results) deliver(s *Sender, alarm int, clears bool) (text string) {
	text = fmt.Sprintf("alarm %d, over: %v", alarm, clears)
	s.Deliver(Delivery{Variables: stuck(text), Alarm: uint32(alarm), Clears: clears, Done: func(err error) {
		r.mu.Lock()
		defer r.mu.Unlock()
		reason := ""
		var known interface{ Reason() string }
		if errors.As(err, &known) {
			reason = known.Reason()
		}
		if before, twice := r.all[text]; twice {
			reason = "twice: " + before + ", " + reason
		}
		if r.all == nil {
			r.all = map[string]string{}
		}
		r.all[text] = reason
	}})
	return text
}

func (r *results) get() map[string]string {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.all
}

// A sink that is away for a while gets everything in order: no clear before its raise.
func TestASinkThatWasAwayGetsEveryInform(t *testing.T) {
	for away, want := range map[time.Duration]string{45 * time.Second: "", 9 * time.Minute: "", time.Hour: "unanswered"} {
		t.Run(away.String(), func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				s := newSender(t, func(c *SenderConfig) { c.Keep = 10 * time.Minute })
				back := time.Now().Add(away)
				var came []string
				network := &scripted{answer: func(_ int, d []byte, send func(...[]byte)) {
					if time.Now().After(back) {
						if text := shown(t, decoded(t, d))[2]; len(came) == 0 || came[len(came)-1] != text {
							came = append(came, text)
						}
						send(reply("public", tagResponse, idOf(t, d), noError))
					}
				}}
				s.sinks[0].dial = network.dial
				stop := run(t, s)
				var r results
				var texts []string
				for _, clears := range []bool{false, true} {
					for alarm := range 10 {
						texts = append(texts, fmt.Sprintf("1.1.0 = OCTET STRING: %q", r.deliver(s, alarm+1, clears)))
						time.Sleep(time.Second)
					}
				}
				time.Sleep(30 * time.Minute)
				if lost := s.Stats()[0].Lost["unanswered"]; (lost == 20) != (want != "") || len(r.get()) != 20 {
					t.Errorf("%d are lost of 20; %d were reported", lost, len(r.get()))
				}
				for text, reason := range r.get() {
					if reason != want {
						t.Errorf("%s: %q, want %q", text, reason, want)
					}
				}
				if want == "" {
					if diff := cmp.Diff(texts, came); diff != "" {
						t.Errorf("expected in order (-), came (+):\n%s", diff)
					}
				}
				stop()
			})
		})
	}
}

// A trap to two sinks is delivered once both have it; the end of the sender reports the rest.
func TestEachDeliveryIsReportedOnce(t *testing.T) {
	s := newSender(t, func(c *SenderConfig) { c.Sinks = []string{"192.0.2.1:162", "192.0.2.2:162"} })
	var r results
	for alarm := range MaxQueue + 2 {
		r.deliver(s, alarm+1, false)
	}
	r.deliver(s, 1, true)
	want := map[string]string{}
	for _, text := range []string{"alarm 1001, over: false", "alarm 1002, over: false", "alarm 1, over: false", "alarm 1, over: true"} {
		want[text] = "queue_full"
	}
	if diff := cmp.Diff(want, r.get()); diff != "" {
		t.Error(diff)
	}
	for _, k := range s.sinks {
		k.stop()
	}
	stopped := 0
	for _, reason := range r.get() {
		if reason == "stopped" {
			stopped++
		}
	}
	if stopped != MaxQueue-1 || len(r.get()) != MaxQueue+3 {
		t.Errorf("%d were reported, %d as stopped", len(r.get()), stopped)
	}
}

// snmptrapd that hangs, longer than an inform is repeated without Keep, and continues: it has
// every raise, and each before its clear.
func TestSnmptrapdThatHungHasEveryInform(t *testing.T) {
	sink := snmptest.StartTrapd(t)
	s := newSender(t, func(c *SenderConfig) {
		c.Sinks = []string{sink.Addr}
		c.Community = "noc"
		c.Timeout = 100 * time.Millisecond
		c.Repeats = 2
		c.Keep = time.Minute
	})
	sink.Pause(t)
	run(t, s)
	var r results
	var want []string
	for _, clears := range []bool{false, true} {
		for alarm := range 5 {
			want = append(want, r.deliver(s, alarm+1, clears))
		}
	}
	for end := time.Now().Add(time.Minute); s.Stats()[0].Retried < 5; time.Sleep(10 * time.Millisecond) {
		if time.Now().After(end) {
			t.Fatalf("%+v", s.Stats()[0])
		}
	}
	sink.Resume(t)
	compareLost(t, settle(s))
	var came []string
	for _, got := range sink.Wait(t, len(want)) { // a repeated inform comes twice
		if text := got.Variables[2].Value.Str; !slices.Contains(came, text) {
			came = append(came, text)
		}
	}
	if diff := cmp.Diff(want, came); diff != "" {
		t.Errorf("expected in order (-), came (+):\n%s", diff)
	}
	for text, reason := range r.get() {
		if reason != "" {
			t.Errorf("%s: %s", text, reason)
		}
	}
}

// compareLost checks that a sink lost nothing.
func compareLost(t *testing.T, got SinkStats) {
	t.Helper()
	for reason, n := range got.Lost {
		if n > 0 {
			t.Errorf("%d are lost: %s", n, reason)
		}
	}
}
