// SPDX-License-Identifier: Apache-2.0

package snmp

import (
	"errors"
	"path/filepath"
	"strings"
	"testing"

	"github.com/pnagent/pnagent/e2e/kit"
	"github.com/pnagent/pnagent/snmp/snmptest"
)

// Each net has a context of its own, in which there is nothing of the others.
func TestEachNetHasAContextOfItsOwn(t *testing.T) {
	t.Parallel()
	user := snmptest.User{Name: "operator", Passphrase: "none-but-for-this-test"}
	snmpd := snmptest.Start(t, snmptest.Config{Lines: user.Lines()})
	backup, err := filepath.Abs("../../examples/backup-window.pnml")
	if err != nil {
		t.Fatal(err)
	}
	side := kit.Serve(t, kit.StartNATS(t), "--agentx", snmpd.AgentX, "--agentx.contexts", "--mib-dir", t.TempDir(), kit.TheNet(t), backup)
	side.Registered(t)
	nets := func(context string) string {
		station := snmptest.Client{Addr: snmpd.Addr, User: user, Context: context}
		out, err := station.Run(t.Context(), "snmpwalk", []string{"-Oa"}, kit.OIDRoot+".1.1.2.1.2") // netId
		if err != nil {
			return err.Error()
		}
		return out
	}
	for _, c := range []struct {
		context string
		has     []string
	}{
		{"", []string{"order-fulfilment", "backup-window"}},
		{"order-fulfilment", []string{"order-fulfilment"}},
		{"backup-window", []string{"backup-window"}},
	} {
		kit.Until(t, "context "+c.context+" shows its nets", func() error {
			out := nets(c.context)
			for _, id := range []string{"order-fulfilment", "backup-window", "packaging-line"} {
				want := false
				for _, has := range c.has {
					want = want || has == id
				}
				if strings.Contains(out, `"`+id+`"`) != want {
					return errors.New(out)
				}
			}
			return nil
		})
	}
	kit.WantFailure(t, kit.Pnagent(t, "serve", "--agentx.contexts"), 2, `--agentx.contexts without --agentx`)
}
