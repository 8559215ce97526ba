// SPDX-License-Identifier: Apache-2.0

package act

import (
	"encoding/json"
	"fmt"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/pnagent/pnagent/internal/natstest"
	"github.com/pnagent/pnagent/telemetry"
)

// A Trail has what engines publish, the newest first, and forgets the oldest.
func TestATrailKeepsTheLastActions(t *testing.T) {
	nc := natstest.Client(t)
	trail, err := NewTrail(nc, telemetry.Subjects{})
	if err != nil {
		t.Fatal(err)
	}
	if got := trail.Last("", ""); len(got) != 0 || got == nil {
		t.Errorf("an empty trail has %v", got)
	}
	send := func(net string, n int) {
		a := telemetry.Action{At: time.UnixMicro(int64(n)).UTC(), Kind: "fire", Instance: fmt.Sprint("berlin/", n%7), OK: true}
		text, err := json.Marshal(a)
		if err == nil {
			err = nc.Publish(telemetry.Subjects{}.Audit(net, "berlin"), text)
		}
		if err == nil {
			err = nc.Publish(telemetry.Subjects{}.Audit(net, "berlin"), []byte("garbage"))
		}
		if err != nil {
			t.Fatal(err)
		}
	}
	for n := range MaxTrail + 10 {
		send([]string{"order", "bill"}[n%2], n)
	}
	const newest = MaxTrail + 9
	for len(trail.Last("", "")) == 0 || trail.Last("", "")[0].At.UnixMicro() != newest {
		<-time.After(time.Millisecond)
	}
	for _, c := range []struct {
		net, instance string
		n             int
		first, second int64
	}{
		{"", "", MaxTrail, newest, newest - 1},
		{"bill", "", MaxTrail / 2, newest, newest - 2},
		{"order", "", MaxTrail / 2, newest - 1, newest - 3},
		{"order", "berlin/0", 72, newest - 1, newest - 15},
		{"none", "", 0, 0, 0},
	} {
		got := trail.Last(c.net, c.instance)
		if len(got) != c.n || c.n > 0 && (got[0].At.UnixMicro() != c.first || got[1].At.UnixMicro() != c.second) {
			t.Errorf("%q %q: %d actions, the first %+v; want %d, the first of %d and %d", c.net, c.instance, len(got), got[:min(2, len(got))], c.n, c.first, c.second)
		}
	}
}

// The command lines are those that help.
func TestCommandsAreThoseThatHelp(t *testing.T) {
	wait := func(transition, reason, place string, count uint32) telemetry.InstanceWait {
		return telemetry.InstanceWait{Transition: transition, Reason: reason, Place: place, Count: count}
	}
	of := &telemetry.Instance{Instance: "berlin/48", Acts: "berlin", Tokens: []telemetry.InstanceToken{
		{Place: "a", Waits: []telemetry.InstanceWait{wait("sign", "manual", "", 0), wait("ship", "missing", "paid", 2), wait("x", "guarded", "", 0)}},
		{Place: "b", Waits: []telemetry.InstanceWait{wait("pay", "incident", "", 0), wait("sign", "manual", "", 0)}},
		{Place: "c", Waits: []telemetry.InstanceWait{wait("r", "running", "", 0), wait("e", "enabled", "", 0), wait("m", "missing", "", 1), wait("i", "inhibited", "paid", 1), wait("d", "dead", "", 0)}},
		{Place: "d"},
	}}
	for place, want := range map[string][]string{
		"":  {"pnagent fire claim berlin/48 sign", "pnagent retry claim berlin/48 pay"},
		"a": {"pnagent fire claim berlin/48 sign"},
		"b": {"pnagent retry claim berlin/48 pay", "pnagent fire claim berlin/48 sign"},
		"c": nil,
		"z": nil,
	} {
		if d := cmp.Diff(want, Commands("claim", of, place)); d != "" {
			t.Errorf("%q: %s", place, d)
		}
	}
	stuck := &telemetry.Instance{Instance: "berlin/48", Acts: "berlin", Tokens: []telemetry.InstanceToken{{Place: "a", Waits: []telemetry.InstanceWait{wait("ship", "missing", "paid", 2), wait("x", "guarded", "", 0)}}}}
	for reason, want := range map[string][]string{"dead": {"pnagent inject claim berlin/48 paid 2"}, "inhibited": {"pnagent inject claim berlin/48 paid 2"}, "running": nil, "enabled": nil, "delayed": nil, "unknown": nil} {
		other := *stuck
		other.Tokens = append(other.Tokens[:1:1], telemetry.InstanceToken{Place: "b", Waits: []telemetry.InstanceWait{wait("y", reason, "", 0)}})
		if d := cmp.Diff(want, Commands("claim", &other, "")); d != "" {
			t.Errorf("beside a token that is %s: %s", reason, d)
		}
	}
	for i := range 2 * maxCommands {
		of.Tokens = append(of.Tokens, telemetry.InstanceToken{Waits: []telemetry.InstanceWait{wait(fmt.Sprint("t", i), "manual", "", 0)}})
	}
	if got := Commands("claim", of, ""); len(got) != maxCommands {
		t.Errorf("%d commands, want %d", len(got), maxCommands)
	}
}

// An adapter takes no requests. Its command lines are those of the engine's own tool.
func TestCommandsOfAnAdapterAreThoseOfItsEngine(t *testing.T) {
	wait := func(command string) telemetry.InstanceWait {
		return telemetry.InstanceWait{Transition: "job", Reason: "incident", Command: command}
	}
	of := &telemetry.Instance{Instance: "7", Tokens: []telemetry.InstanceToken{
		{Place: "a", Waits: []telemetry.InstanceWait{wait("q retry 7"), wait(""), wait("q retry 7")}},
		{Place: "b", Waits: []telemetry.InstanceWait{wait("q retry 8")}},
	}}
	for place, want := range map[string][]string{"": {"q retry 7", "q retry 8"}, "b": {"q retry 8"}, "z": nil} {
		if d := cmp.Diff(want, Commands("queue", of, place)); d != "" {
			t.Errorf("%q: %s", place, d)
		}
	}
	if got := Requests("queue", of, ""); got != nil {
		t.Errorf("requests %v", got)
	}
	of.Acts, of.Verbs = "sql", []string{"retry"}
	of.Tokens[0].Waits = append(of.Tokens[0].Waits, telemetry.InstanceWait{Transition: "job", Reason: "manual"})
	if d := cmp.Diff([]string{"pnagent retry queue 7 job"}, Commands("queue", of, "")); d != "" {
		t.Errorf("of one that takes only retry: %s", d)
	}
}
