// SPDX-License-Identifier: Apache-2.0

package stream

import (
	"encoding/json"
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/nats-io/nats-server/v2/server"
	"github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"
	"github.com/pnagent/pnagent/internal/natstest"
)

func TestServersBefore2_14AreTooOldForReplicas(t *testing.T) {
	for version, want := range map[string]bool{
		"2.9.25": true, "2.10.0": true, "2.13.99": true, "1.14.0": true, "1.99.0": true, "v2.12.1": true, "": true, "dev": true, "2": true, "2.x": true,
		"2.14.0": false, "2.14.0-RC.1": false, "v2.14.2": false, "2.15.0": false, "2.100.0": false, "3.0.0": false, "3.2.1": false,
	} {
		if got := tooOld(version); got != want {
			t.Errorf("%q: %t; want %t", version, got, want)
		}
	}
}

// Both servers whose version is visible are checked. The error names the
// version found and the version needed.
//
//promise:versions version
func TestReplicasOnAnOldServerAreRefusedByName(t *testing.T) {
	s := natstest.Start(t, natstest.JetStream(t.TempDir()))
	l := &Log{config: Config{Conn: natstest.Connect(t, s), Servers: &Servers{}}}
	for _, c := range []struct {
		replicas int
		answered string
		ok       bool
	}{
		{1, "2.9.25", true}, {0, "2.9.25", true}, {3, server.VERSION, true}, {3, "", false}, {3, "2.9.25", false}, {2, "2.13.0", false},
	} {
		got := l.checkServers(&jetstream.StreamConfig{Replicas: c.replicas, Metadata: map[string]string{answeredBy: c.answered}})
		switch {
		case c.ok != (got == nil):
			t.Errorf("%+v: %v", c, got)
		case got != nil && (!errors.Is(got, ErrSettings) || !strings.Contains(got.Error(), c.answered) || !strings.Contains(got.Error(), "2.14")):
			t.Errorf("%+v: %v; want ErrSettings with both versions", c, got)
		}
	}
	log := openLog(t, Config{Conn: natstest.Connect(t, s), Name: "log"})
	if got := log.stream.CachedInfo().Config.Metadata[answeredBy]; got != server.VERSION {
		t.Errorf("the server that answered reports version %q; want %q", got, server.VERSION)
	}
}

// An existing stream with replicas is not opened if an old server answers for
// it.
func TestALogThatAnOldServerHoldsIsNotOpened(t *testing.T) {
	s := natstest.Start(t, natstest.Options()) // the test answers instead
	c := settings("pnagent-log-log", subjectPrefix+"log", 3)
	c.Metadata = map[string]string{answeredBy: "2.12.3"}
	answer, err := json.Marshal(jetstream.StreamInfo{Config: c})
	if err != nil {
		t.Fatal(err)
	}
	old := natstest.Connect(t, s)
	if _, err := old.Subscribe("$JS.API.STREAM.INFO.*", func(m *nats.Msg) { _ = m.Respond(answer) }); err != nil {
		t.Fatal(err)
	}
	if err := old.Flush(); err != nil {
		t.Fatal(err)
	}
	l, err := Open(soon(t), Config{Conn: natstest.Connect(t, s), Name: "log"})
	if l != nil || !errors.Is(err, ErrSettings) || !strings.Contains(err.Error(), "3 replicas on nats-server 2.12.3") {
		t.Errorf("%v; want ErrSettings with the old version", err)
	}
}

//promise:owner version
func TestReplicasOnARealOldServerAreRefused(t *testing.T) {
	nc := oldServer(t)
	version := nc.ConnectedServerVersion()
	if _, err := Open(soon(t), Config{Conn: nc, Name: "log", Replicas: 3}); !errors.Is(err, ErrSettings) || !strings.Contains(err.Error(), version) {
		t.Errorf("%v; want ErrSettings with %s", err, version)
	}
	openLog(t, Config{Conn: nc, Name: "log"}) // one replica is accepted
}

// The error names each setting that a log cannot work with, and no others.
func TestEachSettingThatALogCannotLiveWithIsNamed(t *testing.T) {
	want := settings("s", "pnagent.log.s", 3)
	for name, c := range map[string]struct {
		change func(*jetstream.StreamConfig)
		fault  string // "" for none
	}{
		"nothing":              {func(*jetstream.StreamConfig) {}, ""},
		"another description":  {func(c *jetstream.StreamConfig) { c.Description = "x" }, ""},
		"a limit of bytes":     {func(c *jetstream.StreamConfig) { c.MaxBytes = 1 << 20 }, ""},
		"compression":          {func(c *jetstream.StreamConfig) { c.Compression = jetstream.S2Compression }, ""},
		"no limits said":       {func(c *jetstream.StreamConfig) { c.MaxMsgsPerSubject, c.MaxMsgSize, c.FirstSeq = 0, 0, 1 }, ""},
		"subjects":             {func(c *jetstream.StreamConfig) { c.Subjects = nil }, "subjects"},
		"retention":            {func(c *jetstream.StreamConfig) { c.Retention = jetstream.InterestPolicy }, "retention"},
		"storage":              {func(c *jetstream.StreamConfig) { c.Storage = jetstream.MemoryStorage }, "storage"},
		"discard":              {func(c *jetstream.StreamConfig) { c.Discard = jetstream.DiscardOld }, "discard"},
		"an age":               {func(c *jetstream.StreamConfig) { c.MaxAge = time.Nanosecond }, "max age"},
		"one message":          {func(c *jetstream.StreamConfig) { c.MaxMsgsPerSubject = 1 }, "a subject"},
		"one byte":             {func(c *jetstream.StreamConfig) { c.MaxMsgSize = 1 }, "a message"},
		"a later first one":    {func(c *jetstream.StreamConfig) { c.FirstSeq = 2 }, "first sequence"},
		"asynchronous writes":  {func(c *jetstream.StreamConfig) { c.PersistMode = jetstream.AsyncPersistMode }, "persist mode"},
		"a mirror":             {func(c *jetstream.StreamConfig) { c.Mirror = &jetstream.StreamSource{Name: "x"} }, "a mirror"},
		"sources":              {func(c *jetstream.StreamConfig) { c.Sources = []*jetstream.StreamSource{{Name: "x"}} }, "a mirror"},
		"a transform":          {func(c *jetstream.StreamConfig) { c.SubjectTransform = &jetstream.SubjectTransformConfig{} }, "transform"},
		"sealed":               {func(c *jetstream.StreamConfig) { c.Sealed = true }, "sealed"},
		"nothing to be purged": {func(c *jetstream.StreamConfig) { c.DenyPurge = true }, "sealed"},
		"no answers":           {func(c *jetstream.StreamConfig) { c.NoAck = true }, "sealed"},
		"another replica":      {func(c *jetstream.StreamConfig) { c.Replicas = 1 }, "1 replicas, expected 3"},
	} {
		got := want
		c.change(&got)
		switch wrong := differences(got, want, 3); {
		case c.fault == "" && len(wrong) > 0:
			t.Errorf("%s: %q; want nothing", name, wrong)
		case c.fault != "" && (len(wrong) != 1 || !strings.Contains(wrong[0], c.fault)):
			t.Errorf("%s: %q; want %q alone", name, wrong, c.fault)
		}
		if wrong := differences(got, want, 0); name == "another replica" && len(wrong) > 0 {
			t.Errorf("any number of replicas: %q", wrong)
		}
	}
}
