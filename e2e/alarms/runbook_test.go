// SPDX-License-Identifier: Apache-2.0

package alarms

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/pnagent/pnagent/e2e/kit"
	"github.com/pnagent/pnagent/snmp/snmptest"
)

// oneClaimWaits has one claim of five wait for its manager. Only that raises an alarm.
const oneClaimWaits = `settle: 0s
defaults:
  stuck: {after: 1s, clear_after: 0s}
  starved: off
  lost: off
  deadlocked: off
overrides:
  - {place: "*/armed", stuck: off}
`

// bankIsOpen has payments succeed.
var bankIsOpen = strings.Replace(kit.BankIsClosed, `["false"]`, `["true"]`, 1)

// operator has a shell with the snmp.conf of the runbooks and the modules, for an agent of SNMPv2c.
type operator struct {
	addr string
	env  []string
	page string // the runbook that they read
}

func startOperator(t *testing.T, m kit.Modules, addr, natsURL, runbook string) operator {
	t.Helper()
	page, err := os.ReadFile("../../docs/runbooks/" + runbook)
	if err != nil {
		t.Fatal(err)
	}
	own := filepath.Dir(kit.Write(t, "snmp.conf", "defVersion 2c\ndefCommunity public\nmibs +ALL\n"))
	return operator{addr, append(kit.CleanEnv(), "PATH="+filepath.Dir(kit.Built().Pnagent)+":"+os.Getenv("PATH"), "PNAGENT_NATS_URL="+natsURL,
		"MIBDIRS="+kit.Stubs+":"+m.Dir, "SNMPCONFPATH="+own, "SNMP_PERSISTENT_DIR="+t.TempDir()), string(page)}
}

// types runs the first line of the runbook that matches a pattern, with placeholders and names
// of the sample replaced.
func (o operator) types(t *testing.T, pattern string, replace ...string) kit.Result {
	t.Helper()
	line := kit.Submatch(o.page, "(?m)^(?:\\$ )?("+pattern+")$")
	if line == nil {
		t.Fatalf("the runbook has no line %s", pattern)
	}
	return kit.RunIn(t, "", o.env, "bash", "-c", strings.NewReplacer(append(replace, "HOST", o.addr)...).Replace(line[1]))
}

// walks runs snmpwalk of a table and returns the values of its first row, by the names of columns.
func (o operator) walks(t *testing.T, table string) map[string]string {
	t.Helper()
	r := kit.RunIn(t, "", o.env, "snmpwalk", "-OQ", o.addr, "PETRINET-MIB::"+table)
	if r.Code != 0 {
		t.Fatalf("snmpwalk: got %+v", r)
	}
	row := map[string]string{}
	for _, m := range regexp.MustCompile(`(?m)^PETRINET-MIB::(\w+)\.(\d+) = (.*)$`).FindAllStringSubmatch(r.Out, -1) {
		if row["index"] == "" {
			row["index"] = m[2]
		}
		if row["index"] == m[2] {
			row[m[1]] = strings.Trim(m[3], `"`)
		}
	}
	return row
}

// A user task is stuck. snmpwalk shows its alarm with the names of the place and of the instance,
// the line of the runbook releases it, and a notification with the same row clears the alarm.
func TestTheLineOfTheRunbookReleasesAUserTask(t *testing.T) {
	t.Parallel()
	kit.Need(t, "snmptable", "snmp")
	sink, bus, m := snmptest.StartTrapd(t), kit.StartNATS(t), kit.Generate(t, "", kit.ClaimProcess(t))
	snmpd := snmptest.Start(t, snmptest.Config{})
	kit.Serve(t, bus, "--alarms", kit.Write(t, "alarms.yaml", oneClaimWaits), "--agentx", snmpd.AgentX, "--mib-dir", m.Dir, "--alarm-history", "5", "--snmp.trap-sink", sink.Addr)
	kit.RunEngine(t, bus, "berlin", "--instances", "5", "--bindings", kit.Write(t, "bank.yaml", bankIsOpen), kit.ClaimProcess(t))
	o := startOperator(t, m, snmpd.Addr, bus, "tokenStuck.md")

	raised := sink.Wait(t, 1)[0]
	row := o.walks(t, "pnAlarmTable")
	if row["pnAlarmKind"] != "tokenStuck" || row["pnAlarmNet"] != "claim" || row["pnAlarmSubject"] != "approve/active" {
		t.Fatalf("snmpwalk shows the alarm %q; want that of approve/active", row)
	}
	if got, want := kit.NoticeOf(raised), (kit.Notice{Notification: kit.TokenStuck, Net: "claim", Place: "approve/active", Alarm: row["index"]}); got != want {
		t.Errorf("the raise is %+v; want %+v", got, want)
	}
	ends := kit.Submatch(row["pnAlarmRow"], `\.(\d+)\.(\d+)$`)
	if ends == nil {
		t.Fatalf("pnAlarmRow is %q; want a row that ends with NET and PLACE", row["pnAlarmRow"])
	}
	o.types(t, `snmptable \S+ \S+ HOST PETRINET-MIB::pnAlarmTable.*`).Says(t, 0, "approve/active")
	place := []string{"NET.PLACE", ends[1] + "." + ends[2]}
	o.types(t, `snmpwalk HOST PETRINET-MIB::pnStuckWhy\.NET\.PLACE.*`, place...).Says(t, 0, `user task "Approve the claim": waits for a person to complete it`)
	stuck := o.types(t, `snmpwalk HOST PETRINET-MIB::pnStuckInstance\.NET\.PLACE.*`, place...)
	stuck.Says(t, 0, "berlin/")
	instance := kit.Submatch(stuck.Out, `STRING: "?(berlin/\d+)`)
	if instance == nil {
		t.Fatalf("snmpwalk shows no instance: %s", stuck.Out)
	}

	names := []string{"claim berlin/48 ", row["pnAlarmNet"] + " " + instance[1] + " "}
	o.types(t, `pnagent fire --dry-run \S+ \S+ \S+`, names...).Says(t, 0, `would be fired: transition "approve", instance `+instance[1])
	o.types(t, `pnagent fire [^-]\S* \S+ \S+`, names...).Says(t, 0, `fired: transition "approve", instance `+instance[1])

	cleared := sink.Wait(t, 2)[1]
	if got, want := kit.NoticeOf(cleared), (kit.Notice{Notification: kit.TokenMoving, Net: "claim", Place: "approve/active", Alarm: row["index"]}); got != want {
		t.Errorf("the clear is %+v; want %+v", got, want)
	}
	if got, want := judgementOf(cleared), (judgement{judgementOf(raised).row, 1}); got != want || want.row == "" || !strings.HasSuffix(want.row, "."+ends[1]+"."+ends[2]) {
		t.Errorf("the clear is of %+v; want %+v: the row of the raise, and cleared", got, want)
	}
	// A walk that begins within seconds of another one may see the same table.
	kit.Until(t, "snmpwalk shows no alarm, and one that is cleared", func() error {
		over := o.walks(t, "pnClearedTable")
		values := []string{over["index"], over["pnClearedKind"], over["pnClearedNet"], over["pnClearedSubject"]}
		if now := o.walks(t, "pnAlarmTable"); len(now) > 0 || !slices.Equal(values, []string{row["index"], "tokenStuck", "claim", "approve/active"}) {
			return errors.Join(fmt.Errorf("active: %q", now), fmt.Errorf("cleared: %q", over))
		}
		return nil
	})
}
