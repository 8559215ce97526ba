// SPDX-License-Identifier: Apache-2.0

package natstest_test

import (
	"errors"
	"testing"
	"time"

	"github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"

	"github.com/pnagent/pnagent/internal/natstest"
)

func TestMain(m *testing.M) { natstest.Main(m) }

// A bubble may follow on another one: nothing of the clock of the first is used
// in the second.
func TestAnHourWithJetStreamTakesNoTime(t *testing.T) {
	began := time.Now()
	for range 3 {
		natstest.Bubble(t, func(t *testing.T) {
			nc := natstest.Connect(t, natstest.Start(t, natstest.JetStream(t.TempDir())))
			js, err := jetstream.New(nc)
			if err != nil {
				t.Fatal(err)
			}
			if _, err := js.CreateStream(t.Context(), jetstream.StreamConfig{Name: "s", Subjects: []string{"s"}}); err != nil {
				t.Fatal(err)
			}
			for range 60 {
				if _, err := nc.Request("s", []byte("x"), time.Second); err != nil {
					t.Fatal(err)
				}
				time.Sleep(time.Minute)
			}
		})
	}
	if took := time.Since(began); took > time.Minute {
		t.Errorf("three hours took %v", took)
	}
}

func TestWhatBecomesOfBytesOnAWay(t *testing.T) {
	natstest.Bubble(t, func(t *testing.T) {
		s := natstest.Start(t, natstest.Options())
		way := natstest.NewWay(t, s)
		there, here := natstest.Connect(t, s), natstest.Connect(t, way)
		got := make(chan string, 10)
		for _, nc := range []*nats.Conn{there, here} {
			if _, err := nc.Subscribe("x", func(m *nats.Msg) { got <- string(m.Data) }); err != nil {
				t.Fatal(err)
			}
			if err := nc.Flush(); err != nil {
				t.Fatal(err)
			}
		}
		say := func(nc *nats.Conn, text string, want int) {
			t.Helper()
			if err := errors.Join(nc.Publish("x", []byte(text))); err != nil {
				t.Fatal(err)
			}
			time.Sleep(time.Second)
			for range want {
				if g := <-got; g != text {
					t.Errorf("%q; want %q", g, text)
				}
			}
			if len(got) > 0 {
				t.Errorf("%d more than the %d of %q", len(got), want, text)
			}
		}
		say(here, "it passes", 2)
		way.Set(natstest.Hold, natstest.Pass)
		say(here, "it is held", 0)
		way.Set(natstest.Pass, natstest.Pass)
		time.Sleep(time.Second)
		if len(got) != 2 || <-got != "it is held" || <-got != "it is held" {
			t.Error("what was held does not arrive")
		}
		way.Set(natstest.Pass, natstest.Hold)
		say(there, "held on its way back", 1)
		way.Cut() // and lost with that
		way.Set(natstest.Pass, natstest.Pass)
		time.Sleep(time.Second)
		say(there, "connected again", 2)
		way.Set(natstest.Pass, natstest.Drop)
		say(there, "dropped", 1)
		way.Set(natstest.Pass, natstest.Pass)
		way.Cut()
		other := natstest.Start(t, natstest.Options())
		natstest.Stop(s)
		way.To(other)
		time.Sleep(time.Second)
		say(here, "another server", 1)
	})
}
