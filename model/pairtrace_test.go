// SPDX-License-Identifier: Apache-2.0

//go:build peers

package model_test

import (
	"cmp"
	"fmt"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"testing"

	"github.com/pnagent/pnagent/e2e/kit"
	"github.com/pnagent/pnagent/snmp/snmptest"
)

func TestMain(m *testing.M) { kit.Main(m) }

const shelves = `<pnml xmlns="http://www.pnml.org/version-2009/grammar/pnml"><net id="shelves" type="http://www.pnml.org/version-2009/grammar/ptnet"><page id="p">
<place id="s0"/><place id="s1"/><place id="end"/><transition id="t0"/><transition id="t1"/>
<arc id="a0" source="s0" target="t0"/><arc id="b0" source="t0" target="end"/><arc id="a1" source="s1" target="t1"/><arc id="b1" source="t1" target="end"/></page></net></pnml>`

// notified is a notification about an alarm of the model.
type notified struct {
	kind, cond string
	index      int
}

// notices returns what a manager has received, with the indices as the model counts them: from 1 on.
func notices(all []snmptest.Notification) (out []notified) {
	var used []int
	for _, n := range all {
		s := kit.NoticeOf(n)
		index, err := strconv.Atoi(s.Alarm)
		kind := map[string]string{kit.TokenStuck: "raise", kit.TokenMoving: "clear"}[s.Notification]
		if err != nil || kind == "" {
			continue
		}
		used = append(used, index)
		out = append(out, notified{kind, s.Place, index})
	}
	slices.Sort(used)
	used = slices.Compact(used)
	for i := range out {
		out[i].index = 1 + slices.Index(used, out[i].index)
	}
	return out
}

// sentByAPair reports whether the model has a behaviour that sends these notifications in which the primary crashes at most so often.
func sentByAPair(t *testing.T, all []notified, crashes int) bool {
	t.Helper()
	var lines []string
	for _, n := range all {
		lines = append(lines, fmt.Sprintf("[kind |-> %q, index |-> %d, cond |-> %q]", n.kind, n.index, n.cond))
	}
	most := slices.MaxFunc(all, func(a, b notified) int { return cmp.Compare(a.index, b.index) }).index
	files := read(t, "Pair.tla", "PairTrace.tla")
	files["PairData.tla"] = fmt.Appendf(nil, "---- MODULE PairData ----\nTrace == <<\n  %s>>\n====\n", strings.Join(lines, ",\n  "))
	files["PairTrace.cfg"] = fmt.Appendf(nil, `SPECIFICATION TraceSpec
CONSTANTS
  Primary = s1
  Standby = s2
  Conds = {"s0", "s1"}
  MaxIndex = %d
  MaxFlips = 99
  MaxCrashes = %d
  MaxCuts = 0
  MaxStorms = 0
  MaxLosses = 0
  Keep = TRUE
  Evidence = TRUE
  Yield = TRUE
INVARIANTS ClearAfterRaise OneAlarmAnIndex NoClearWithoutEvidence OnceEach OneOnDuty NotDone
`, most, crashes)
	violated, printed := check(t, "PairTrace", files)
	if violated != "" && violated != "NotDone" {
		t.Errorf("%s is violated:\n%s", violated, printed)
	}
	return violated == "NotDone"
}

// What a manager receives of a real pair, of which the primary is killed, returns and is stopped
// while alarms come and go, is a behaviour of the model. With a notification changed it is none.
//
//promise:clears kill stop
func TestNotificationsOfARealPairAreABehaviourOfTheModel(t *testing.T) {
	sink, natsURL := snmptest.StartTrapd(t), kit.StartNATS(t)
	nc := kit.Connect(t, natsURL)
	rules := kit.Write(t, "alarms.yaml", strings.Replace(kit.Impatient, "settle: 0s", "settle: 6s", 1))
	dir := t.TempDir()
	begin := func(priority string) *kit.Sidecar {
		return kit.Serve(t, natsURL, "--alarms", rules, "--mib-dir", "", "--agentx.priority", priority, "--alarm-state", filepath.Join(dir, priority), "--snmp.trap-sink", sink.Addr)
	}
	primary, standby := begin("100"), begin("127")
	kit.RunEngine(t, natsURL, "berlin", "--bindings", kit.Write(t, "bindings.yaml", "nets:\n  shelves:\n    transitions:\n      t0: manual\n      t1: manual\n"),
		kit.Write(t, "shelves.pnml", shelves))
	full := [2]bool{}
	flip := func(shelf int) {
		full[shelf] = !full[shelf]
		if full[shelf] {
			kit.Request(t, nc, "inject", "shelves", "berlin", fmt.Sprintf(`{"instance":0,"place":"s%d","tokens":1}`, shelf))
		} else {
			kit.Request(t, nc, "fire", "shelves", "berlin", fmt.Sprintf(`{"instance":0,"transition":"t%d"}`, shelf))
		}
	}
	got := func(what string, want ...string) {
		t.Helper()
		kit.Until(t, what, func() error {
			all := notices(sink.Wait(t, 1))
			last := map[string]string{}
			for _, n := range all {
				last[n.cond] = n.kind
			}
			for shelf, kind := range want {
				if last[fmt.Sprintf("s%d", shelf)] != kind {
					return fmt.Errorf("received %v", all)
				}
			}
			return nil
		})
	}
	kit.OnDuty(t, primary, standby)
	flip(0)
	got("a shelf is full", "raise")
	flip(1)
	got("another one too", "raise", "raise")
	flip(0)
	got("the first one is empty", "clear", "raise")
	flip(0)
	primary.Kill(t)
	got("the standby notifies", "raise", "raise")
	flip(1)
	got("a clear of an alarm that the other one raised", "raise", "clear")
	primary = begin("100")
	kit.OnDuty(t, primary, standby)
	flip(1)
	got("the primary notifies", "raise", "raise")
	flip(0)
	primary.Stop(t, syscall.SIGTERM)
	flip(1)
	got("all is over", "clear", "clear")
	all := notices(sink.Wait(t, 1))
	t.Logf("%d notifications: %v", len(all), all)
	if !sentByAPair(t, all, 2) {
		t.Errorf("the model does not have this trace: %v", all)
	}
	second := slices.IndexFunc(all, func(n notified) bool { return n.index == 2 })
	for name, spoil := range map[string]func(all []notified) []notified{
		"a clear before its raise": func(all []notified) []notified { all[0].kind = "clear"; return all },
		"a raise less":             func(all []notified) []notified { return slices.Delete(all, second, second+1) },
		"an index of two alarms":   func(all []notified) []notified { return slices.Insert(all, second+1, notified{"raise", "s0", 2}) },
		"an index left out":        func(all []notified) []notified { all[second].index++; return all },
	} {
		t.Run(name, func(t *testing.T) {
			if bad := spoil(slices.Clone(all)); sentByAPair(t, bad, 2) {
				t.Errorf("the model has this trace: %v", bad)
			}
		})
	}
}
