// SPDX-License-Identifier: Apache-2.0

package snmp

import (
	"fmt"
	"os"
	"os/exec"
	"os/user"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"

	"github.com/pnagent/pnagent/e2e/kit"
	"github.com/pnagent/pnagent/internal/porttest"
	"github.com/pnagent/pnagent/mib"
	"github.com/pnagent/pnagent/snmp/snmptest"
)

// operations is the directory of the examples for operators.
const operations = "../../examples/snmpd"

// Receivers of notifications that the example's snmpd.conf names.
const (
	informs = "nms1.example.com:162"
	traps   = "nms2.example.com:162"
)

// example reads one of them with some of its text replaced.
func example(t *testing.T, name string, replace ...string) string {
	t.Helper()
	text, err := os.ReadFile(filepath.Join(operations, name))
	if err != nil {
		t.Fatal(err)
	}
	for i := 0; i < len(replace); i += 2 {
		if !strings.Contains(string(text), replace[i]) {
			t.Fatalf("%s: got no %q; want one to replace", name, replace[i])
		}
	}
	return strings.NewReplacer(replace...).Replace(string(text))
}

// owner is a user and a group for the socket: those of the test or, because net-snmp does
// not accept root, those of an unprivileged user.
func owner(t *testing.T) string {
	t.Helper()
	if os.Getuid() == 0 {
		return "nobody nogroup"
	}
	u, err := user.Current()
	if err != nil {
		t.Fatal(err)
	}
	g, err := user.LookupGroupId(u.Gid)
	if err != nil {
		t.Fatal(err)
	}
	return u.Username + " " + g.Name
}

// guarded is a snmpd that runs with the example's snmpd.conf.
type guarded struct {
	*kit.Process
	addr   string // where it answers
	socket string // of AgentX, a path
}

// hardened runs a snmpd with the example's snmpd.conf: its paths and addresses
// are the test's, the rest is unchanged. replace has texts and their replacements, such as
// the receivers of notifications. Other receivers get an unused address.
func hardened(t *testing.T, replace ...string) guarded {
	t.Helper()
	snmptest.RequireTools(t)
	dir, err := os.MkdirTemp("", "snmpd") // a socket's path is short
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = os.RemoveAll(dir) })
	if err := os.Chmod(dir, 0o755); err != nil { // as /var is
		t.Fatal(err)
	}
	g := guarded{addr: porttest.Addr(t), socket: filepath.Join(dir, "agentx", "master")}
	replace = append(replace, "udp:161", "udp:"+g.addr, "/var/agentx/master", g.socket, "Debian-snmp pnagent", owner(t))
	for _, receiver := range []string{informs, traps} {
		if !slices.Contains(replace, receiver) {
			replace = append(replace, receiver, porttest.Addr(t))
		}
	}
	conf := example(t, "snmpd.conf", replace...)
	// What net-snmp-create-v3-user leaves for snmpd to find.
	const user = "createUser noc SHA-256 \"authentication\" AES \"encryption\"\n"
	files := []string{filepath.Join(dir, "snmpd.conf"), filepath.Join(dir, "users.conf")}
	for i, text := range []string{conf, user} {
		if err := os.WriteFile(files[i], []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	g.Process = kit.Start(t, kit.Need(t, "env", "coreutils"), "MIBS=", "SNMP_PERSISTENT_DIR="+filepath.Join(dir, "persistent"),
		kit.Need(t, "snmpd", "snmpd"), "-f", "-Le", "-I", "-smux", "-C", "-c", strings.Join(files, ","))
	g.Says(t, "NET-SNMP version")
	if said := g.Err.String(); strings.Contains(said, "rror") || strings.Contains(said, "nknown") || strings.Contains(said, "an't") {
		t.Errorf("snmpd finds fault with the example:\n%s", said)
	}
	return g
}

// noModules is an environment in which net-snmp's tools read nothing.
func noModules() []string {
	return []string{"MIBS=", "SNMPCONFPATH=" + os.DevNull, "SNMP_PERSISTENT_FILE=" + os.DevNull}
}

// noc asks the snmpd as the example's user does, by one of net-snmp's tools.
// The last of options that contradict each other counts.
func (g guarded) noc(t *testing.T, env []string, program string, options []string, args ...string) kit.Result {
	t.Helper()
	all := []string{"-v3", "-u", "noc", "-l", "authPriv", "-a", "SHA-256", "-A", "authentication", "-x", "AES", "-X", "encryption", "-t", "1", "-r", "2"}
	all = append(append(all, options...), g.addr)
	return kit.Tool(t, env, kit.Need(t, program, "snmp"), append(all, args...)...)
}

func TestTheExampleSnmpdConfServesAnEncryptedWalkAndNothingElse(t *testing.T) {
	t.Parallel()
	snmpd := hardened(t)
	m := kit.Generate(t, "", kit.Examples(t)...)
	url := kit.StartNATS(t)
	side := kit.Serve(t, url, "--agentx", "unix:"+snmpd.socket, "--agentx.contexts", "--mib-dir", m.Dir)
	kit.RunEngine(t, url, "north", append([]string{"--instances", "2", "--bindings", manual(t, m.Lock)}, kit.Examples(t)...)...)
	ask := func(program, object string, options ...string) kit.Result {
		return snmpd.noc(t, m.Env(), program, options, object)
	}
	kit.Until(t, "an encrypted walk shows the nets, and in a context one of them", func() error {
		r := ask("snmpwalk", "PETRINET-MIB::pnNetName")
		for _, n := range m.Lock.Nets() {
			if !strings.Contains(r.Out, n.ID) {
				return fmt.Errorf("%q is not in %q%q", n.ID, r.Out, r.Err)
			}
		}
		if r := ask("snmpwalk", "PETRINET-MIB::pnNetName", "-n", "backup-window"); strings.Count(r.Out, "\n") != 1 || !strings.Contains(r.Out, "backup-window") {
			return fmt.Errorf("a context shows %q%q", r.Out, r.Err)
		}
		return nil
	})
	if r := ask("snmpget", "SNMPv2-SMI::mib-2.1.5.0"); r.Code != 0 || strings.Contains(r.Out, "No Such") {
		t.Errorf("sysName is not shown: %+v", r)
	}
	if r := ask("snmpwalk", "SNMPv2-SMI::mib-2.1.9.1.3"); !strings.Contains(r.Out, mib.CapabilitiesText) {
		t.Errorf("got sysORTable %+v; want the served modules", r)
	}
	const object = "PETRINET-MIB::pnAgentVersion.0"
	for name, r := range map[string]kit.Result{
		"without privacy":        ask("snmpget", object, "-l", "authNoPriv"),
		"without authentication": ask("snmpget", object, "-l", "noAuthNoPriv"),
		"with a community":       kit.Tool(t, m.Env(), kit.Need(t, "snmpget", "snmp"), "-v2c", "-c", "public", "-t", "0.3", "-r", "0", snmpd.addr, object),
	} {
		if r.Code == 0 {
			t.Errorf("%s: got answer %q; want none", name, r.Out)
		}
	}
	side.Stop(t, syscall.SIGTERM)
}

func TestTheExampleUserSeesItsViewAndChangesNothing(t *testing.T) {
	t.Parallel()
	snmpd := hardened(t)
	kit.Serve(t, kit.StartNATS(t), "--agentx", "unix:"+snmpd.socket, "--mib-dir", "", kit.TheNet(t)).Registered(t)
	shown := []string{".1.3.6.1.2.1.1.", ".1.3.6.1.6.3.10.2.1.", "." + kit.OIDRoot + "."}
	rows := map[string]int{}
	walked := snmpd.noc(t, noModules(), "snmpbulkwalk", []string{"-On"}, ".1")
	for line := range strings.Lines(walked.Out) {
		if !strings.HasPrefix(line, ".") { // a string of several lines, or the end of the MIB view
			continue
		}
		i := slices.IndexFunc(shown, func(subtree string) bool { return strings.HasPrefix(line, subtree) })
		if i < 0 {
			t.Fatalf("what is outside of the view is shown: %s", line)
		}
		rows[shown[i]]++
	}
	if walked.Code != 0 || rows[shown[0]] < 5 || rows[shown[1]] < 3 || rows[shown[2]] < 100 {
		t.Errorf("a walk of everything shows %v: %s", rows, walked.Err)
	}
	for _, outside := range []string{".1.3.6.1.4.1.2021.4.5.0", ".1.3.6.1.6.3.15.1.1.1.0", ".1.3.6.1.2.1.25.1.1.0"} { // memory, USM, up time of the host
		if r := snmpd.noc(t, noModules(), "snmpget", nil, outside); !strings.Contains(r.Out, "No Such") {
			t.Errorf("%s: got %q%q; want no such object", outside, r.Out, r.Err)
		}
	}
	for _, object := range []string{".1.3.6.1.2.1.1.5.0", "." + kit.OIDRoot + ".1.1.1.2.0", ".1.3.6.1.6.3.15.1.1.1.0"} { // sysName, pnAgentName, outside
		before := snmpd.noc(t, noModules(), "snmpget", nil, object)
		r := snmpd.noc(t, noModules(), "snmpset", nil, object, "s", "changed")
		if r.Code == 0 || !strings.Contains(r.Err, "noAccess") && !strings.Contains(r.Err, "authorizationError") {
			t.Errorf("setting %s is answered with %+v", object, r)
		}
		if after := snmpd.noc(t, noModules(), "snmpget", nil, object); after.Out != before.Out {
			t.Errorf("%s after setting it: got %q; want %q", object, after.Out, before.Out)
		}
	}
}

func TestOnlyTheGroupOfTheExampleReachesTheSocket(t *testing.T) {
	t.Parallel()
	snmpd := hardened(t)
	socket, err := os.Stat(snmpd.socket)
	if err != nil {
		t.Fatal(err)
	}
	dir, err := os.Stat(filepath.Dir(snmpd.socket))
	if err != nil {
		t.Fatal(err)
	}
	if socket.Mode() != os.ModeSocket|0o660 || dir.Mode() != os.ModeDir|0o755 {
		t.Errorf("the socket is %v in a directory of %v", socket.Mode(), dir.Mode())
	}
	of := socket.Sys().(*syscall.Stat_t)
	u, userErr := user.LookupId(fmt.Sprint(of.Uid))
	g, groupErr := user.LookupGroupId(fmt.Sprint(of.Gid))
	if userErr != nil || groupErr != nil || u.Username+" "+g.Name != owner(t) {
		t.Errorf("the socket belongs to %v and %v, want %s", u, g, owner(t))
	}
	if os.Getuid() != 0 {
		t.Skip("only root can try it as other users")
	}
	// To connect to a socket is to write to it.
	for _, c := range []struct {
		name string
		gid  uint32
		code int
	}{{"of the group", of.Gid, 0}, {"not of the group", 1, 1}} {
		cmd := exec.Command(kit.Need(t, "test", "coreutils"), "-w", snmpd.socket)
		cmd.SysProcAttr = &syscall.SysProcAttr{Credential: &syscall.Credential{Uid: 1, Gid: c.gid}}
		if err := cmd.Run(); cmd.ProcessState.ExitCode() != c.code {
			t.Errorf("someone %s: %v, want exit code %d", c.name, err, c.code)
		}
	}
}

func TestTheExampleConfigurationPassesCheckConfig(t *testing.T) {
	t.Parallel()
	if r := kit.Pnagent(t, "check-config", filepath.Join(operations, "serve.yaml")); r.Code != 0 {
		t.Errorf("got %+v; want exit code 0", r)
	}
}

func TestTheExampleUnitsAreOnesThatSystemdTakes(t *testing.T) {
	t.Parallel()
	for _, name := range []string{"pnagent.service", "../pair/pnagent@.service"} {
		unit := kit.Write(t, filepath.Base(name), example(t, name, "/usr/bin/pnagent", kit.Built().Pnagent))
		r := kit.Tool(t, []string{"SYSTEMD_LOG_LEVEL=warning"}, kit.Need(t, "systemd-analyze", "systemd"), "verify", "--man=no", unit)
		var own []string
		for line := range strings.Lines(r.Out + r.Err) {
			if strings.Contains(line, "pnagent") { // not what is wrong with the units of this machine
				own = append(own, line)
			}
		}
		if len(own) > 0 {
			t.Errorf("%s: got faults of systemd-analyze verify; want none:\n%s", name, strings.Join(own, ""))
		}
	}
}
