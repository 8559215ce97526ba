// SPDX-License-Identifier: Apache-2.0

package collector

import (
	"fmt"
	"log/slog"
	"math/rand/v2"
	"testing"
	"time"

	"github.com/nats-io/nats.go"

	"github.com/pnagent/pnagent/collector/merge"
	"github.com/pnagent/pnagent/internal/natstest"
	"github.com/pnagent/pnagent/internal/racetest"
	"github.com/pnagent/pnagent/internal/seeds"
	"github.com/pnagent/pnagent/petri"
	"github.com/pnagent/pnagent/stats"
	"github.com/pnagent/pnagent/telemetry"
)

const (
	crowd       = 30 // sources
	crowdPlaces = 4
)

// counting is an engine that counts arrivals, and publishes as a telemetry.Publisher does: what
// changed, and each tenth time everything.
type counting struct {
	name    string
	epoch   int64
	seq     uint64
	rows    [crowdPlaces]uint64
	changed [crowdPlaces]bool
}

// message returns the next message.
func (e *counting) message(tb testing.TB, digest string, now int64) *nats.Msg {
	tb.Helper()
	e.seq++
	msg := telemetry.Snapshot{Source: e.name, Net: "n", Digest: digest, Epoch: e.epoch, Seq: e.seq, SentAt: now, Interval: time.Second, Full: e.seq%10 == 1}
	msg.Rows.Columns = stats.ColArrivals | stats.ColFirings
	for i := range e.rows {
		if msg.Full || e.changed[i] {
			msg.Rows.Places = append(msg.Rows.Places, stats.Place{Arrivals: e.rows[i]})
			msg.Rows.Transitions = append(msg.Rows.Transitions, stats.Transition{Firings: e.rows[i]})
			msg.PlaceIndex, msg.TransitionIndex = append(msg.PlaceIndex, uint32(i)), append(msg.TransitionIndex, uint32(i))
		}
	}
	if msg.Full {
		msg.PlaceIndex, msg.TransitionIndex = nil, nil
	}
	e.changed = [crowdPlaces]bool{}
	payload, err := new(telemetry.Encoder).Append(nil, &msg)
	if err != nil {
		tb.Fatal(err)
	}
	return &nats.Msg{Subject: telemetry.Subjects{}.Snapshot("n", e.name), Data: payload}
}

// overload is a fleet and a collector that processes its messages when the test says so. Its
// slow model is one sum for each place, of what was ever counted.
type overload struct {
	testing.TB
	r      *rand.Rand
	c      *Collector
	digest string
	fleet  [crowd]counting
	truth  [crowdPlaces]uint64
	now    int64

	replaced int

	decoder telemetry.Decoder
	msg     telemetry.Snapshot
}

func newOverload(tb testing.TB, seed uint64, conn *nats.Conn, room int) *overload {
	tb.Helper()
	net := lineNet("n", crowdPlaces, crowdPlaces)
	c, err := New(Config{Conn: conn, Nets: []*petri.Net{net}, Log: slog.New(slog.DiscardHandler), Rules: merge.Rules{Limits: merge.Limits{WaitingBytes: room}}})
	if err != nil {
		tb.Fatal(err)
	}
	c.run(true)
	o := &overload{TB: tb, r: rand.New(rand.NewPCG(seed, 0)), c: c, digest: telemetry.Digest(writePNML(tb, net)), now: time.Now().UnixMicro()}
	for i := range o.fleet {
		o.fleet[i] = counting{name: fmt.Sprint("engine-", i), epoch: o.now}
	}
	return o
}

// publish has each engine count and publish once within a second. Some start again.
func (o *overload) publish(restarts bool) {
	for i := range o.fleet {
		e := &o.fleet[i]
		o.now += int64(time.Second/time.Microsecond) / crowd
		if restarts && e.seq > 1 && o.r.IntN(10) == 0 {
			*e = counting{name: e.name, epoch: o.now}
		}
		for range o.r.IntN(3) {
			at := o.r.IntN(crowdPlaces)
			e.rows[at], e.changed[at] = e.rows[at]+1, true
			o.truth[at]++
		}
		o.c.inbox.put(e.message(o, o.digest, o.now), o.now)
	}
}

// process processes a number of batches, if there are as many.
func (o *overload) process(batches int) {
	for range batches {
		if known, unknown, _ := o.c.inbox.waits(); known+unknown == 0 {
			return
		}
		batch, first := o.c.inbox.next(nil)
		for i := range batch {
			o.c.receive(o.Context(), &batch[i], first, &o.decoder, &o.msg)
		}
	}
}

// look makes a View, after a proof that everything was received, and checks that it accuses no
// source.
func (o *overload) look() *merge.View {
	o.c.proved(o.now, true)
	o.replaced += o.c.inbox.replaced
	view, _ := o.c.look(o.Context(), o.now)
	for _, s := range view.Sources {
		if s.State != merge.Up || s.Gaps+s.Duplicates+s.Setbacks > 0 || s.Shift != 0 {
			o.Fatalf("%s is %s, with %d gaps, %d duplicates, %d setbacks and a clock that is off by %v", s.Name, s.State, s.Gaps, s.Duplicates, s.Setbacks, s.Shift)
		}
	}
	for reason, n := range view.Traffic.Rejected {
		if n > 0 && reason != string(merge.Overrun) && reason != string(merge.OverrunUnknown) || view.Traffic.Lost > 0 {
			o.Fatalf("%d messages are rejected as %s, %d are lost", n, reason, view.Traffic.Lost)
		}
	}
	return view
}

// compare compares a View with the model.
func (o *overload) compare(view *merge.View) {
	if view.Nets[0].Up != crowd {
		o.Fatalf("%d sources are up; want %d", view.Nets[0].Up, crowd)
	}
	for i, want := range o.truth {
		if rows := view.Nets[0].Rows; rows.Places[i].Arrivals != want || rows.Transitions[i].Firings != want {
			o.Fatalf("place %d has %d arrivals and %d firings; want %d", i, rows.Places[i].Arrivals, rows.Transitions[i].Firings, want)
		}
	}
}

// Whatever the load is while sources start, in whatever order their messages are processed, the
// View shows the truth afterwards, and no source is accused of what the collector did not process.
//
//promise:counters load messages
func TestAfterAnOverloadTheViewIsTheTruth(t *testing.T) {
	conn := natstest.Connect(t, natstest.Run(t))
	asked, err := conn.SubscribeSync(telemetry.Subjects{}.Prefix() + ".full.>")
	if err != nil {
		t.Fatal(err)
	}
	few := uint64(20)
	if racetest.UnderRace {
		few = 3
	}
	for name, load := range map[string]struct {
		room               int
		restarts           bool
		known              bool // the sources are shown before the overload
		replaces, overruns bool // what must happen
	}{
		"room for everything":                 {room: 64 << 20, restarts: true},
		"full messages replace others":        {room: 2 * crowd * 12 * (msgBytes + 200), restarts: true, replaces: true},
		"known sources, and too little room":  {room: 64 * (msgBytes + 200), known: true, replaces: true, overruns: true},
		"unknown sources and too little room": {room: 64 * (msgBytes + 200), replaces: true, overruns: true},
	} {
		t.Run(name, func(t *testing.T) {
			var replaced int
			var dropped uint64
			for seed := range seeds.Of(few, 1000) {
				o := newOverload(t, seed, conn, load.room)
				if load.known {
					o.publish(false)
					o.process(100)
					o.compare(o.look())
				}
				for range 20 + o.r.IntN(60) {
					o.publish(load.restarts)
					o.process(max(0, o.r.IntN(6)-4))
					if o.r.IntN(3) == 0 {
						o.look()
					}
				}
				for range 12 { // quiet
					o.publish(false)
					o.process(1000)
					o.look()
				}
				view := o.look()
				o.compare(view)
				dropped += view.Traffic.Rejected[string(merge.Overrun)] + view.Traffic.Rejected[string(merge.OverrunUnknown)]
				if want := uint64(o.c.inbox.came); view.Traffic.Messages != want {
					t.Errorf("%d messages are counted; want %d", view.Traffic.Messages, want)
				}
				replaced += o.replaced
			}
			if load.overruns != (dropped > 0) || load.replaces != (replaced > 0) {
				t.Errorf("%d messages were dropped, and %d replaced", dropped, replaced)
			}
			if err := conn.Flush(); err != nil {
				t.Fatal(err)
			}
			if n, _, err := asked.Pending(); err != nil || n > 0 && (load.known || !load.overruns) {
				t.Errorf("%d full messages were asked for: %v", n, err)
			}
		})
	}
}
