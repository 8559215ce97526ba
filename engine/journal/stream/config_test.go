// SPDX-License-Identifier: Apache-2.0

package stream

import (
	"errors"
	"fmt"
	"log/slog"
	"reflect"
	"strings"
	"testing"
	"time"

	"github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"

	"github.com/pnagent/pnagent/internal/natstest"
)

// An existing stream whose settings could lose or repeat commits is refused,
// and the error lists those settings.
func TestAStreamWithOtherSettingsIsRefused(t *testing.T) {
	s := natstest.Start(t, natstest.JetStream(t.TempDir()))
	nc := natstest.Connect(t, s)
	js, err := jetstream.New(nc)
	if err != nil {
		t.Fatal(err)
	}
	cases := 0
	for want, change := range map[string]func(*jetstream.StreamConfig){
		"subjects":       func(c *jetstream.StreamConfig) { c.Subjects = append(c.Subjects, "pnagent.other") },
		"retention":      func(c *jetstream.StreamConfig) { c.Retention = jetstream.WorkQueuePolicy },
		"storage":        func(c *jetstream.StreamConfig) { c.Storage = jetstream.MemoryStorage },
		"discard":        func(c *jetstream.StreamConfig) { c.Discard = jetstream.DiscardOld },
		"max age":        func(c *jetstream.StreamConfig) { c.MaxAge = time.Hour },
		"a subject":      func(c *jetstream.StreamConfig) { c.MaxMsgsPerSubject = 9 },
		"a message at":   func(c *jetstream.StreamConfig) { c.MaxMsgSize = 100 },
		"first sequence": func(c *jetstream.StreamConfig) { c.FirstSeq = 7 },
		"deny purge":     func(c *jetstream.StreamConfig) { c.DenyPurge = true },
		"transform": func(c *jetstream.StreamConfig) {
			c.SubjectTransform = &jetstream.SubjectTransformConfig{Source: ">", Destination: "other.>"}
		},
	} {
		cases++
		name := fmt.Sprint("case", cases)
		c := settings("pnagent-log-"+name, "pnagent.log."+name, 1)
		change(&c)
		if _, err := js.CreateStream(soon(t), c); err != nil {
			t.Fatal(want, err)
		}
		if _, err := Open(soon(t), Config{Conn: nc, Name: name}); !errors.Is(err, ErrSettings) || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v", want, err)
		}
	}
	openLog(t, Config{Conn: nc, Name: "log"})
	if _, err := Open(soon(t), Config{Conn: nc, Name: "log", Replicas: 3}); !errors.Is(err, ErrSettings) || !strings.Contains(err.Error(), "1 replicas, expected 3") {
		t.Error(err)
	}
}

func TestConfigsThatCanNotBe(t *testing.T) {
	s := natstest.Start(t, natstest.JetStream(t.TempDir()))
	nc := natstest.Connect(t, s)
	for want, c := range map[string]Config{
		"no connection":      {Name: "log"},
		"invalid name":       {Conn: nc},
		"negative":           {Conn: nc, Name: "log", Replicas: -1},
		"at most 65536":      {Conn: nc, Name: "log", Window: Window{Commits: 1 << 20}},
		"expected 0 or more": {Conn: nc, Name: "log", AckWait: -1},
	} {
		if _, err := Open(soon(t), c); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%v, want %q", err, want)
		}
	}
}

// What the config leaves out gets its default. What it sets is kept, up to the
// bounds.
func TestWhatAConfigIsTakenFor(t *testing.T) {
	var servers Servers
	nc, log := &nats.Conn{}, slog.Default()
	all := Config{Conn: nc, Name: "log", Replicas: 3, Window: Window{Commits: 65536, Bytes: 1}, AckWait: 1, Servers: &servers, Log: log}
	if got, err := all.checked(); err != nil || !reflect.DeepEqual(got, all) {
		t.Errorf("%+v, %v; want %+v", got, err, all)
	}
	got, err := Config{Conn: nc, Name: "log"}.checked()
	if err != nil || got.Servers == nil || got.Log == nil || got.Log.Enabled(soon(t), slog.LevelError) {
		t.Errorf("%+v, %v", got, err)
	}
	got.Servers, got.Log = nil, nil
	want := Config{Conn: nc, Name: "log", Window: Window{Commits: 1024, Bytes: 4 << 20}, AckWait: 5 * time.Second}
	if !reflect.DeepEqual(got, want) {
		t.Errorf("%+v, want %+v", got, want)
	}
	for _, change := range []func(*Config){
		func(c *Config) { c.Conn = nil },
		func(c *Config) { c.Replicas = -1 },
		func(c *Config) { c.Window.Commits = -1 },
		func(c *Config) { c.Window.Commits = 65537 },
		func(c *Config) { c.Window.Bytes = -1 },
		func(c *Config) { c.AckWait = -1 },
	} {
		c := all
		change(&c)
		if _, err := c.checked(); err == nil {
			t.Errorf("%+v is accepted", c)
		}
	}
}

// Where JetStream is not enabled, Open returns an error about it.
func TestAServerWithoutJetStream(t *testing.T) {
	s := natstest.Start(t, natstest.Options())
	if _, err := Open(soon(t), Config{Conn: natstest.Connect(t, s), Name: "log"}); err == nil || !strings.Contains(err.Error(), "pnagent-log-log") {
		t.Error(err)
	}
}
