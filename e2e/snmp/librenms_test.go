// SPDX-License-Identifier: Apache-2.0

package snmp

import (
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/pnagent/pnagent/e2e/kit"
	"github.com/pnagent/pnagent/snmp/snmptest"
)

// polled is a sidecar that a monitoring tool reads. It answers the users noc and collectd, and the
// community public.
type polled struct {
	*kit.Sidecar
	files string // what pnagent integrations wrote
	nats  string
}

// startPolled runs the sidecar, and writes the files of a tool.
func startPolled(t *testing.T, name string, args ...string) polled {
	t.Helper()
	p := polled{files: t.TempDir(), nats: kit.StartNATS(t)}
	if r := kit.Pnagent(t, "integrations", name, "--dir", p.files); r.Code != 0 {
		t.Fatalf("pnagent integrations: got %+v", r)
	}
	const users = "noc SHA-256 authenticate-me AES-128 encrypt-me-too\ncollectd SHA-1 authenticate-me AES-128 encrypt-me-too\n"
	p.Sidecar = kit.Serve(t, p.nats, append([]string{"--snmp", "127.0.0.1:0", "--snmp.users-file", kit.Write(t, "users", users), "--mib-dir", "",
		"--snmp.community-file", kit.Write(t, "community", "public\n"), "--alarms", kit.Write(t, "alarms.yaml", kit.Impatient)}, args...)...)
	return p
}

// play runs an engine until one alarm is active: 40 claims wait for an answer.
func (p polled) play(t *testing.T) {
	t.Helper()
	kit.RunEngine(t, p.nats, "berlin", "--bindings", kit.Write(t, "bindings.yaml", kit.StuckBindings), kit.Write(t, "claims.pnml", kit.StuckNet))
	kit.Until(t, "the alarm is active", func() error {
		if n := len(p.Alarms(t)); n != 1 {
			return fmt.Errorf("%d alarms", n)
		}
		return nil
	})
}

// LibreNMS and Cacti do not run here: what their files name is held against what is served.
func TestWhatLibreNMSAndCactiReadIsServed(t *testing.T) {
	t.Parallel()
	snmptest.RequireTools(t)
	p := startPolled(t, "all")
	p.play(t)
	agent := snmptest.Client{Addr: p.SNMP}
	// pnNetWaitingWork, pnTransitionRunning and pnTransitionTimeouts: no transition of this net does work.
	unreported := []string{kit.OIDRoot + ".1.1.2.1.20", kit.OIDRoot + ".1.1.5.1.11", kit.OIDRoot + ".1.1.5.1.20"}
	kit.Until(t, "every OID is served", func() error {
		served := kit.Walk(t, agent)
		for _, name := range []string{"librenms/os_discovery/pnagent.yaml", "cacti/pn_net.xml", "cacti/pn_place.xml", "cacti/pn_transition.xml", "cacti/pn_source.xml"} {
			text, err := os.ReadFile(filepath.Join(p.files, name))
			if err != nil {
				t.Fatal(err)
			}
			oids := regexp.MustCompile(`\.(`+regexp.QuoteMeta(kit.OIDRoot)+`[.0-9]+[0-9])`).FindAllStringSubmatch(string(text), -1)
			if len(oids) < 5 {
				t.Fatalf("%s has only the OIDs %q", name, oids)
			}
			for _, oid := range oids {
				if slices.Contains(unreported, oid[1]) {
					continue
				}
				if !slices.ContainsFunc(slices.Collect(maps.Keys(served)), func(name string) bool { return strings.HasPrefix(name, oid[1]+".") }) {
					return fmt.Errorf("%s reads %s, of which nothing is served", name, oid[1])
				}
			}
		}
		return nil
	})
	detection, err := os.ReadFile(filepath.Join(p.files, "librenms/os_detection/pnagent.yaml"))
	r := kit.Tool(t, noModules(), kit.Need(t, "snmpget", "snmp"), "-v2c", "-c", "public", "-On", p.SNMP, ".1.3.6.1.2.1.1.2.0")
	id := kit.Submatch(r.Out, `OID: (\S+)`)
	if err != nil || id == nil || !strings.Contains(string(detection), "'"+id[1]+"'") {
		t.Errorf("%v: sysObjectID is %q %s, and LibreNMS finds\n%s", err, id, r.Err, detection)
	}
}
