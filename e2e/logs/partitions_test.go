// SPDX-License-Identifier: Apache-2.0

package logs

import (
	"fmt"
	"slices"
	"syscall"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/pnagent/pnagent/e2e/kit"
	"github.com/pnagent/pnagent/snmp/snmptest"
)

// shared waits until every partition has an owner and a standby, and no process
// owns more than its share.
func (f *fleet) shared(processes ...string) {
	f.t.Helper()
	share := (len(f.all) + len(processes) - 1) / len(processes)
	kit.Until(f.t, "the partitions are shared", func() error {
		owned := map[string]int{}
		now := f.glance()
		for _, part := range f.parts() {
			s := now[part]
			owned[s.Owner]++
			if !slices.Contains(processes, s.Owner) || len(processes) > 1 && len(s.Standbys) == 0 {
				return fmt.Errorf("%q: %+v", part, s)
			}
		}
		for source, n := range owned {
			if n > share {
				return fmt.Errorf("%q owns %d of %d; its share is %d", source, n, len(f.all), share)
			}
		}
		if len(owned) != len(processes) {
			return fmt.Errorf("%v of %q", owned, processes)
		}
		return nil
	})
}

// Processes that share the instances of a net come, go, die and hang: each
// partition has one owner at a time, all tokens are there, and what a station
// reads is never less than it was, nor more than what was done.
//
//promise:durable kill pause stop
func TestPartitionsMoveWithTheirProcessesAndNothingIsLostOrDouble(t *testing.T) {
	t.Parallel()
	snmptest.RequireTools(t)
	js := startJetStream(t, nil)
	f := newFleet(t, func() string { return js.url }, line(), 64, 8)
	side := kit.Serve(t, js.url, "--snmp", "127.0.0.1:0", "--mib-dir", t.TempDir(), f.net)
	noc := snmptest.Client{Addr: side.SNMP}
	w := f.witnessed()
	running := map[string]*kit.Process{}
	begin := func(names ...string) {
		for _, name := range names {
			running[name] = f.start(name)
		}
	}
	begin("a", "b")
	f.shared("a", "b")
	l := f.injections(inPartition(8))
	s := sample(t, noc, l)
	l.grows(t, 200)

	begin("c")
	f.shared("a", "b", "c")
	l.grows(t, 200)
	running["a"].Stop(t, syscall.SIGTERM)
	f.shared("b", "c")
	begin("a", "d")
	f.shared("a", "b", "c", "d")
	l.grows(t, 200)
	running["b"].Kill(t)
	f.shared("a", "c", "d")
	l.grows(t, 200)
	running["c"].Pause(t) // the others share out what it has
	f.shared("a", "d")
	l.grows(t, 200)
	running["c"].Resume(t)
	begin("e")
	f.shared("a", "c", "d", "e")
	running["d"].Kill(t)
	running["a"].Kill(t) // an owner and its standby, of some
	f.shared("c", "e")
	l.grows(t, 200)

	l.end()
	atRest := f.arrives(l, noc, side)
	f.tellTheSame(noc, side)
	running["c"].Stop(t, syscall.SIGTERM)
	f.shared("e")
	running["e"].Stop(t, syscall.SIGTERM)
	if diff := cmp.Diff(atRest, f.arrives(l, noc, side)); diff != "" {
		t.Errorf("when all owners have gone: -before +after\n%s", diff)
	}
	w.judge(t, f)
	if n := s.times(); n != 1 {
		t.Errorf("the station has seen %d discontinuity times of one sidecar", n)
	}
	side.Stop(t, syscall.SIGTERM)
}
