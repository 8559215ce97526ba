// SPDX-License-Identifier: Apache-2.0

package stream

import (
	"errors"
	"strings"
	"testing"

	"github.com/nats-io/nats-server/v2/server"
	"github.com/nats-io/nats.go/jetstream"
	"github.com/pnagent/pnagent/internal/natstest"
)

func TestServersInDoubtAreAvoidedUntilAllAre(t *testing.T) {
	var s Servers
	for _, c := range []struct {
		doubt string
		want  string // the servers in doubt afterwards
	}{{"a", "a"}, {"a", "a"}, {"c", "ac"}, {"b", ""}, {"b", "b"}} {
		s.doubt("log", c.doubt, 3)
		got := ""
		for _, server := range []string{"a", "b", "c"} {
			if s.isDoubted("log", server) {
				got += server
			}
			if s.isDoubted("another log", server) {
				t.Errorf("%s is in doubt for another log", server)
			}
		}
		if got != c.want {
			t.Errorf("after %s: %q in doubt; want %q", c.doubt, got, c.want)
		}
	}
}

// If a reader finds that a server with a replica is too old, the error names
// the server, and the log cannot be opened again.
func TestAReplicaOnAnOldServerIsRefusedWhenItIsRead(t *testing.T) {
	for _, version := range []string{"2.9.25", "2.13.0", ""} {
		s := natstest.Start(t, natstest.JetStream(t.TempDir()))
		l := openLog(t, Config{Conn: natstest.Connect(t, s), Name: "log"})
		l.stream.CachedInfo().Config.Replicas = 3
		tail := &tail{log: l}
		got := tail.suits(&jetstream.ConsumerInfo{Config: jetstream.ConsumerConfig{Metadata: map[string]string{answeredBy: version}}, Cluster: &jetstream.ClusterInfo{Leader: "a"}})
		again := l.checkServers(&jetstream.StreamConfig{Replicas: 3, Metadata: map[string]string{answeredBy: server.VERSION}})
		for _, err := range []error{got, again} {
			if !errors.Is(err, ErrSettings) || !strings.Contains(err.Error(), "nats-server "+version) || !strings.Contains(err.Error(), "expected nats-server 2.14") {
				t.Errorf("%q: %v; want ErrSettings with the version", version, err)
			}
		}
	}
}

// readsFrom returns from which servers a log is read, over several readings: of
// few commits, and of enough to be requested piece by piece.
func readsFrom(t *testing.T, c Config, readings int) map[string]int {
	t.Helper()
	from := map[string]int{}
	for i := range readings {
		l := openLog(t, c)
		first := uint64(1)
		if i%2 == 0 {
			first = l.Last()
		}
		list(t, l, first)
		from[l.origin]++
		if err := l.Close(); err != nil {
			t.Fatal(err)
		}
	}
	return from
}

// doubts reads a log with three replicas and doubts one after the other. A reading misses the
// only server that is not in doubt once in 650 times (choices), so one of six may.
func doubts(t *testing.T, c Config) {
	t.Helper()
	c.Servers = &Servers{}
	l := openLog(t, c)
	mustAppend(t, l, make([]string, far+10)...)
	bad := map[string]bool{}
	for len(bad) < 2 {
		list(t, l, 1)
		bad[l.origin] = true
		l.Doubt()
		for server, times := range readsFrom(t, c, 6) {
			if bad[server] && (len(bad) == 1 || times > 1) || server == "" {
				t.Errorf("%q was read %d times; in doubt are %v", server, times, bad)
			}
		}
	}
	list(t, l, 1)
	l.Doubt() // all three are in doubt now, so all are read again
	if from := readsFrom(t, c, 1); from[""] > 0 {
		t.Errorf("it was read from %v", from)
	}
}
