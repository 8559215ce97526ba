// SPDX-License-Identifier: Apache-2.0

package snmptest_test

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/pnagent/pnagent/mib/smi"
	"github.com/pnagent/pnagent/snmp/snmptest"
)

func TestSnmptrapdPrintsWhatCame(t *testing.T) {
	sink := snmptest.StartTrapd(t)
	client := snmptest.Client{Addr: sink.Addr, Community: "noc"}
	for _, tool := range []string{"snmptrap", "snmpinform"} {
		if _, err := client.Run(t.Context(), tool, nil, "1234", "1.3.6.1.4.1.32473.0.1", "1.3.6.1.4.1.32473.1.0", "s", "a text"); err != nil {
			t.Fatal(err)
		}
	}
	variables := []smi.Variable{
		{Name: smi.OID{1, 3, 6, 1, 2, 1, 1, 3, 0}, Value: smi.TimeTicks(1234)},
		{Name: smi.OID{1, 3, 6, 1, 6, 3, 1, 1, 4, 1, 0}, Value: smi.ObjectID(smi.OID{1, 3, 6, 1, 4, 1, 32473, 0, 1})},
		{Name: smi.OID{1, 3, 6, 1, 4, 1, 32473, 1, 0}, Value: smi.OctetString("a text")},
	}
	want := []snmptest.Notification{{PDU: "TRAP2", Community: "noc", Variables: variables}, {PDU: "INFORM", Community: "noc", Variables: variables}}
	if diff := cmp.Diff(want, sink.Wait(t, 2)); diff != "" {
		t.Error(diff)
	}
}
