// SPDX-License-Identifier: Apache-2.0

package doctor

import (
	"context"
	"encoding/json"
	"fmt"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/pnagent/pnagent/agentx"
	"github.com/pnagent/pnagent/e2e/kit"
	"github.com/pnagent/pnagent/internal/porttest"
	"github.com/pnagent/pnagent/mib"
	"github.com/pnagent/pnagent/mib/smi"
	"github.com/pnagent/pnagent/sidecar/doctor"
	"github.com/pnagent/pnagent/snmp/snmptest"
	"github.com/pnagent/pnagent/web/api"
)

// examine runs pnagent doctor and returns what it found, and its exit code.
func examine(t *testing.T, args ...string) ([]doctor.Finding, int) {
	t.Helper()
	r := kit.Pnagent(t, append([]string{"doctor", "--json", "--within", "6s", "--mib-dir", ""}, args...)...)
	var found []doctor.Finding
	if err := json.Unmarshal([]byte(r.Out), &found); err != nil {
		t.Fatalf("%v: got %d, %s, %s; want JSON", err, r.Code, r.Out, r.Err)
	}
	return found, r.Code
}

// registered is examine once a check has a cause: a subagent of the test registers its subtree in its own time.
func registered(t *testing.T, check, cause string, args ...string) (found []doctor.Finding) {
	t.Helper()
	kit.Until(t, check+" has its cause", func() error {
		found, _ = examine(t, args...)
		if !slices.ContainsFunc(of(found, check), func(f doctor.Finding) bool { return strings.Contains(f.Cause, cause) }) {
			return fmt.Errorf("%s: got %+v; want %q", check, of(found, check), cause)
		}
		return nil
	})
	return found
}

// of returns the findings of a check.
func of(found []doctor.Finding, check string) (all []doctor.Finding) {
	for _, f := range found {
		if f.Check == check {
			all = append(all, f)
		}
	}
	return all
}

// says checks that a finding has an outcome, a cause and hints. It returns the lines.
func says(t *testing.T, found []doctor.Finding, check string, outcome doctor.Outcome, cause string, hints ...string) []string {
	t.Helper()
	for _, f := range of(found, check) {
		var lines []string
		for _, h := range f.Hints {
			lines = append(lines, h.Line)
		}
		missing := slices.ContainsFunc(hints, func(h string) bool { return !slices.Contains(lines, h) })
		if f.Outcome == outcome && strings.Contains(f.Cause, cause) && !missing {
			return lines
		}
	}
	t.Errorf("%s: got %+v; want %s, %q and the lines %q", check, of(found, check), outcome, cause, hints)
	return nil
}

// unused returns the address of a port where nothing listens.
func unused(t *testing.T) string { return "http://" + porttest.Addr(t) }

// subtree is the root as snmpd.conf has it.
const subtree = "." + kit.OIDRoot

// monitored is a sidecar with an engine, behind a snmpd.
func monitored(t *testing.T, snmpd *snmptest.Snmpd, more ...string) (side *kit.Sidecar, flags []string) {
	t.Helper()
	url := kit.StartNATS(t)
	flags = append([]string{"--nats", url}, more...)
	if snmpd != nil {
		flags = append(flags, "--agentx", snmpd.AgentX)
	}
	side = kit.Serve(t, url, append([]string{"--mib-dir", "", kit.TheNet(t)}, flags[2:]...)...)
	kit.RunEngine(t, url, "berlin", kit.TheNet(t))
	kit.Until(t, "the engine is seen", func() error {
		if v := side.View(t); v.States.Up != 1 {
			return fmt.Errorf("%+v", v.States)
		}
		return nil
	})
	if snmpd != nil {
		side.Registered(t)
		flags = append(flags, "--manager.address", snmpd.Addr)
	}
	return side, append(flags, "--url", side.URL)
}

func TestAHealthySetUpIsGreen(t *testing.T) {
	t.Parallel()
	trapd := snmptest.StartTrapd(t)
	side, flags := monitored(t, snmptest.Start(t, snmptest.Config{}), "--snmp.trap-sink", trapd.Addr)
	manager := porttest.Addr(t)
	kit.Start(t, kit.Need(t, "prometheus-alertmanager", "prometheus-alertmanager"), "--config.file="+kit.Write(t, "alertmanager.yml", "route: {receiver: none}\nreceivers: [{name: none}]\n"),
		"--storage.path="+t.TempDir(), "--cluster.listen-address=", "--web.listen-address="+manager)
	rules, err := filepath.Abs("../../dashboards/prometheus")
	if err != nil {
		t.Fatal(err)
	}
	prometheus := observing(t, side.URL, "rule_files: ["+rules+"/alerts.yaml, "+rules+"/recordings.yaml]\nalerting: {alertmanagers: [{static_configs: [{targets: ['"+manager+"']}]}]}\n")
	flags = append(flags, "--web.prometheus", prometheus)
	var found []doctor.Finding
	kit.Until(t, "all is ok", func() error {
		var code int
		found, code = examine(t, flags...)
		if code != doctor.AllOK {
			return fmt.Errorf("%d: %+v", code, slices.DeleteFunc(found, func(f doctor.Finding) bool { return f.Outcome == doctor.OK }))
		}
		return nil
	})
	for _, check := range []string{"flags", "sidecar", "clocks", "agentx", "master", "master.root", "master.tables", "sink", "nats", "nats.permissions", "prometheus", "prometheus.rules", "prometheus.alertmanager"} {
		says(t, found, check, doctor.OK, "")
	}
	if got := kit.Pnagent(t, append([]string{"doctor", "--mib-dir", "", "--fix-hints"}, flags...)...); got.Out != "" || got.Code != 0 {
		t.Errorf("--fix-hints: got %+v; want nothing to add", got)
	}
}

// observing runs a Prometheus that scrapes a sidecar, if any.
func observing(t *testing.T, url, more string) string {
	t.Helper()
	config := "global: {scrape_interval: 1s, evaluation_interval: 1s}\n" + more
	if url != "" {
		config += "scrape_configs: [{job_name: pnagent, static_configs: [{targets: ['" + strings.TrimPrefix(url, "http://") + "']}]}]\n"
	}
	p := kit.Start(t, kit.Need(t, "prometheus", "prometheus"), "--config.file="+kit.Write(t, "prometheus.yml", config), "--storage.tsdb.path="+t.TempDir(), "--web.listen-address=127.0.0.1:0")
	at := p.Says(t, `msg="Listening on" address=(\S+)`)
	p.Says(t, `msg="Server is ready`)
	return "http://" + at[1]
}

// TestAViewThatHidesTheSubtree has snmpd's usual view of the system alone. The session is up and
// managers get nothing; with the line that the doctor names they do.
func TestAViewThatHidesTheSubtree(t *testing.T) {
	t.Parallel()
	socket := "unix:" + filepath.Join(t.TempDir(), "x")
	lines := []string{"view systemonly included .1.3.6.1.2.1.1", "rocommunity public default -V systemonly", "master agentx", "agentXSocket " + socket}
	conf := kit.Write(t, "snmpd.conf", strings.Join(lines, "\n")+"\n")
	snmpd := snmptest.Start(t, snmptest.Config{Bare: true, Lines: lines})
	snmpd.AgentX = socket
	_, flags := monitored(t, snmpd)
	found, code := examine(t, append(flags, "--manager.snmpd-conf", conf)...)
	cure := says(t, found, "master.root", doctor.Fails, "a view of snmpd.conf hides the subtree", "view systemonly included "+subtree)
	says(t, found, "agentx", doctor.OK, "")
	says(t, found, "master", doctor.OK, "")
	if code != doctor.SomeFail {
		t.Errorf("got exit code %d; want 1", code)
	}

	cured := snmptest.Start(t, snmptest.Config{Bare: true, Lines: append(lines[:3:3], append(cure, "agentXSocket "+socket+"2")...)})
	cured.AgentX = socket + "2"
	_, flags = monitored(t, cured)
	found, _ = examine(t, flags...)
	says(t, found, "master.root", doctor.OK, "")
	says(t, found, "master.tables", doctor.OK, "")
}

func TestWithoutASocketOfAgentX(t *testing.T) {
	t.Parallel()
	absent := "unix:" + filepath.Join(t.TempDir(), "x")
	snmpd := snmptest.Start(t, snmptest.Config{Bare: true, Lines: []string{"rocommunity public 127.0.0.1"}})
	found, _ := examine(t, "--agentx", absent, "--manager.address", snmpd.Addr, "--url", unused(t))
	says(t, found, "agentx", doctor.Fails, "no such file or directory", "master agentx", "agentXSocket "+absent)
	says(t, found, "master", doctor.OK, "")
	says(t, found, "master.root", doctor.Fails, "either the sidecar has no session")
	says(t, found, "clocks", doctor.Unknown, "")

	// Its socket remains, and nothing listens there.
	path := strings.TrimPrefix(absent, "unix:")
	l, err := net.ListenUnix("unix", &net.UnixAddr{Name: path})
	if err != nil {
		t.Fatal(err)
	}
	l.SetUnlinkOnClose(false)
	_ = l.Close()
	found, _ = examine(t, "--agentx", absent, "--manager.address", snmpd.Addr, "--url", unused(t))
	says(t, found, "agentx", doctor.Fails, "connection refused", "master agentx", "agentXSocket "+absent)
}

func TestASocketOfAgentXThatIsNotPermitted(t *testing.T) {
	t.Parallel()
	if os.Getuid() != 0 {
		t.Skip("needs root, to run the doctor as another user")
	}
	snmpd := snmptest.Start(t, snmptest.Config{})
	dir := t.TempDir()
	program, err := os.ReadFile(kit.Built().Pnagent)
	if err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(dir, "pnagent"), program, 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.Chmod(filepath.Dir(dir), 0o755); err != nil {
		t.Fatal(err)
	}
	cmd := exec.CommandContext(t.Context(), filepath.Join(dir, "pnagent"), "doctor", "--json", "--mib-dir", "", "--agentx", snmpd.AgentX, "--manager.address", snmpd.Addr, "--url", unused(t))
	cmd.Dir, cmd.Env = "/", kit.CleanEnv()
	cmd.SysProcAttr = &syscall.SysProcAttr{Credential: &syscall.Credential{Uid: 65534, Gid: 65534}}
	out, _ := cmd.Output() // it exits with 1
	var found []doctor.Finding
	if err := json.Unmarshal(out, &found); err != nil {
		t.Fatalf("%v: %s", err, out)
	}
	says(t, found, "agentx", doctor.Fails, "permission denied", "agentXPerms 0660 0550 root GROUP")
}

func TestAnotherSubagentHasTheSubtree(t *testing.T) {
	t.Parallel()
	snmpd := snmptest.Start(t, snmptest.Config{})
	root, err := mib.ParseRoot(kit.OIDRoot)
	if err != nil {
		t.Fatal(err)
	}
	other, err := agentx.New(agentx.Config{Addr: snmpd.AgentX, Subtrees: []smi.OID{root}, Tables: func() *smi.Table { return nil }, Priority: mib.PrimaryPriority})
	if err != nil {
		t.Fatal(err)
	}
	ctx, end := context.WithCancel(context.Background())
	ended := make(chan struct{})
	go func() { defer close(ended); _ = other.Run(ctx) }()
	defer func() { end(); <-ended }()
	found := registered(t, "agentx", "another subagent", "--agentx", snmpd.AgentX, "--manager.address", snmpd.Addr, "--url", unused(t))
	says(t, found, "agentx", doctor.Fails, "another subagent has registered the subtree", "--agentx.priority=127")
}

func TestUsersOfSNMPv3(t *testing.T) {
	t.Parallel()
	snmpd := snmptest.Start(t, snmptest.Config{Lines: []string{"createUser noc SHA-256 long-passphrase AES long-passphrase", "rouser noc priv"}})
	_, flags := monitored(t, snmpd)
	users := func(line string) string {
		file := kit.Write(t, "users", line+"\n")
		if err := os.Chmod(file, 0o600); err != nil {
			t.Fatal(err)
		}
		return file
	}
	for _, c := range []struct {
		name, line, cause string
		outcome           doctor.Outcome
		hint              string
	}{
		{"noc", "noc SHA-256 long-passphrase AES-128 long-passphrase", "it answers", doctor.OK, ""},
		{"ops", "ops SHA-256 long-passphrase AES-128 long-passphrase", `no user "ops"`, doctor.Fails, "createUser ops SHA-256 PASSPHRASE AES PASSPHRASE"},
		{"noc", "noc SHA-256 other-passphrase AES-128 long-passphrase", `authentication protocol of the user "noc" is another one`, doctor.Fails, "createUser noc SHA-256 PASSPHRASE AES PASSPHRASE"},
		{"noc", "noc SHA-256 long-passphrase AES-128 other-passphrase", `privacy passphrase or protocol of the user "noc" is another one`, doctor.Fails, "createUser noc SHA-256 PASSPHRASE AES PASSPHRASE"},
		{"noc", "noc SHA-256 long-passphrase", "level of security", doctor.Fails, "rouser noc auth " + subtree},
	} {
		found, _ := examine(t, append(flags, "--manager.user", c.name, "--manager.users-file", users(c.line))...)
		var hints []string
		if c.hint != "" {
			hints = []string{c.hint}
		}
		says(t, found, "master", c.outcome, c.cause, hints...)
	}
	found, _ := examine(t, append(flags, "--manager.community-file", users("another"))...)
	says(t, found, "master", doctor.Fails, "answers discovery and not this community", "rocommunity COMMUNITY HOST-OF-THE-MANAGER "+subtree)
}

func TestTheResponderByBothVersions(t *testing.T) {
	t.Parallel()
	users := kit.Write(t, "users", "noc SHA-256 long-passphrase AES-256 long-passphrase\n")
	community := kit.Write(t, "community", "secret\n")
	for _, file := range []string{users, community} {
		if err := os.Chmod(file, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	address := porttest.Addr(t)
	_, flags := monitored(t, nil, "--snmp", address, "--snmp.users-file", users, "--snmp.community-file", community, "--state-dir", t.TempDir())
	found, code := examine(t, flags...)
	if code != doctor.AllOK || len(of(found, "responder.tables")) != 2 {
		t.Errorf("got %d, %+v; want all ok, and the responder by SNMPv2c and by SNMPv3", code, found)
	}
	// A port where nothing listens.
	flags[slices.Index(flags, address)] = porttest.Addr(t)
	found, _ = examine(t, flags...)
	says(t, found, "responder", doctor.Fails, "nothing listens there")
}

func TestNATS(t *testing.T) {
	t.Parallel()
	conf := kit.Write(t, "nats.conf", `authorization { users: [{user: u, password: p, permissions: {publish: {deny: "petrinet.v1.sidecars.>"}, subscribe: {deny: "petrinet.v1.audit.>"}}}] }`+"\n")
	url := strings.Replace(kit.StartNATS(t, "--config", conf), "nats://", "nats://u:p@", 1)
	found, _ := examine(t, "--nats", url, "--url", unused(t), "--jetstream")
	says(t, found, "nats", doctor.OK, "nats-server 2.")
	says(t, found, "nats.permissions", doctor.Fails, `Permissions Violation for Publish to "petrinet.v1.sidecars.pnagent-doctor"`, "pnagent permissions --role sidecar --nats.prefix petrinet.v1, and put what it prints into nats-server.conf")
	says(t, found, "nats.permissions", doctor.Fails, `Permissions Violation for Subscription to "petrinet.v1.audit.`)
	says(t, found, "nats.jetstream", doctor.Fails, "not enabled", `jetstream { store_dir: "/var/lib/nats" }`)

	found, _ = examine(t, "--nats", strings.Replace(url, "u:p@", "u:wrong@", 1), "--url", unused(t))
	says(t, found, "nats", doctor.Fails, "Authorization Violation")
	found, _ = examine(t, "--nats", "nats://"+porttest.Addr(t), "--url", unused(t))
	says(t, found, "nats", doctor.Fails, "connection refused", "systemctl start nats-server")
	found, _ = examine(t, "--nats", kit.StartNATS(t, "--jetstream", "--store_dir", t.TempDir()), "--url", unused(t), "--jetstream")
	says(t, found, "nats.jetstream", doctor.OK, "")
	says(t, found, "nats.version", doctor.OK, "")
}

func TestPrometheus(t *testing.T) {
	t.Parallel()
	side, flags := monitored(t, nil)
	found, _ := examine(t, append(flags, "--web.prometheus", observing(t, "", ""))...)
	target := strings.TrimPrefix(side.URL, "http://")
	says(t, found, "prometheus", doctor.Fails, "no job that scrapes pnagent", "scrape_configs:\n  - job_name: pnagent\n    static_configs:\n      - targets: ["+target+"]")
	says(t, found, "prometheus.rules", doctor.Fails, "not loaded: pnagent-nets", "rule_files:\n  - /etc/prometheus/pnagent/prometheus/*.yaml")
	says(t, found, "prometheus.alertmanager", doctor.Fails, "no Alertmanager", "alerting:\n  alertmanagers:\n    - static_configs:\n        - targets: [HOST:9093]")

	down := observing(t, unused(t), "")
	kit.Until(t, "the target is down", func() error {
		found, _ = examine(t, append(flags, "--web.prometheus", down)...)
		if all := of(found, "prometheus"); len(all) != 1 || !strings.Contains(all[0].Cause, "is down: ") || all[0].Outcome != doctor.Fails {
			return fmt.Errorf("%+v", all)
		}
		return nil
	})
	found, _ = examine(t, append(flags, "--web.prometheus", unused(t))...)
	says(t, found, "prometheus", doctor.Fails, "connection refused")
}

func TestWhatIsOnThisHost(t *testing.T) {
	t.Parallel()
	file := kit.Write(t, "a-file", "")
	silent, err := net.ListenPacket("udp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer silent.Close()
	config := kit.Write(t, "serve.yaml", "snmp.inform: true\nsnmp.packet-rate: 5\nstate-dir: "+file+"/state\n")
	found, code := examine(t, "--config", config, "--url", unused(t))
	says(t, found, "state", doctor.Fails, "not a directory", "state-dir: "+file+"/state")
	says(t, found, "flags", doctor.Fails, "--snmp.inform has no effect: it needs --snmp.trap-sink", "(remove) snmp.inform")
	says(t, found, "flags", doctor.Fails, "--snmp.packet-rate has no effect: it needs --snmp", "(remove) snmp.packet-rate")
	says(t, found, "sidecar", doctor.Fails, "connection refused")
	if code != doctor.SomeFail {
		t.Errorf("got exit code %d; want 1", code)
	}
	found, _ = examine(t, "--snmp.trap-sink", silent.LocalAddr().String(), "--snmp.inform", "--url", unused(t))
	says(t, found, "sink", doctor.Fails, "no acknowledgement", "authCommunity log,execute,net COMMUNITY")
	says(t, found, "flags", doctor.OK, "")
}

func TestSinksOfTheRules(t *testing.T) {
	t.Parallel()
	hook := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.Method != http.MethodOptions {
			t.Errorf("%s; want no event", r.Method)
		}
		w.WriteHeader(http.StatusNoContent)
	}))
	t.Cleanup(hook.Close)
	unsafe := httptest.NewTLSServer(nil)
	t.Cleanup(unsafe.Close)
	nowhere := porttest.Addr(t)
	rules := kit.Write(t, "alarms.yaml", "sinks:\n  ops: {webhook: "+hook.URL+"}\n  away: {webhook: http://"+nowhere+"}\n  unknown: {webhook: "+unsafe.URL+"}\n"+
		"  mails: {mail: [a@example.org], from: b@example.org, server: \""+nowhere+"\", encryption: none}\n  log: {syslog: tcp://"+nowhere+"}\n")
	found, code := examine(t, "--alarms", rules, "--url", unused(t))
	says(t, found, "sink", doctor.OK, "it answers 204 No Content to OPTIONS")
	says(t, found, "sink", doctor.Fails, "connection refused", "webhook: ADDRESS-WHERE-IT-LISTENS")
	says(t, found, "sink", doctor.Fails, "certificate signed by unknown authority", "ca_file: FILE-WITH-THE-AUTHORITY-OF-ITS-CERTIFICATE")
	says(t, found, "sink", doctor.Fails, "connection refused", "server: HOST-WHERE-IT-LISTENS")
	says(t, found, "sink", doctor.Fails, "connection refused", "syslog: ADDRESS-WHERE-IT-LISTENS")
	if code != doctor.SomeFail {
		t.Errorf("got exit code %d; want 1", code)
	}
	checked := kit.Pnagent(t, "check-config", "--connect", rules)
	for _, want := range []string{"reached, it answers 204 No Content to OPTIONS", "not reached: dial tcp " + nowhere + ": connect: connection refused"} {
		if !strings.Contains(checked.Out, want) || checked.Code != 1 {
			t.Errorf("got %d, %s%s; want %q", checked.Code, checked.Out, checked.Err, want)
		}
	}
}

// TestAClockThatDiffers passes on the View of a sidecar, with a clock that is ahead.
func TestAClockThatDiffers(t *testing.T) {
	t.Parallel()
	side, flags := monitored(t, nil)
	ahead := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		var v api.View
		_, text, err := side.Get("/api/v1/view")
		if err == nil {
			err = json.Unmarshal(text, &v)
		}
		if err != nil || len(v.Sources) == 0 {
			http.Error(w, "no View", http.StatusBadGateway)
			return
		}
		v.Sources[0].Skew = 3600
		_ = json.NewEncoder(w).Encode(v)
	}))
	t.Cleanup(ahead.Close)
	flags[len(flags)-1] = ahead.URL
	found, code := examine(t, flags...)
	says(t, found, "clocks", doctor.Fails, "berlin by 3600 s", "timedatectl set-ntp true")
	if code != doctor.SomeFail {
		t.Errorf("got exit code %d; want 1", code)
	}
}

//promise:unknown dark
func TestUnknownIsNeverOK(t *testing.T) {
	t.Parallel()
	url := kit.StartNATS(t)
	side := kit.Serve(t, url, "--mib-dir", "")
	found, code := examine(t, "--nats", url, "--url", side.URL)
	says(t, found, "sidecar", doctor.Unknown, "no engine reports")
	says(t, found, "clocks", doctor.Unknown, "")
	if code != doctor.NotTold {
		t.Errorf("got exit code %d; want 2", code)
	}
	begun := time.Now()
	if r := kit.Pnagent(t, "doctor", "--mib-dir", "", "--nats", url, "--url", side.URL, "--fix-hints", "--json"); r.Code != 2 || !strings.Contains(r.Err, "--json and --fix-hints") {
		t.Errorf("got %+v after %v; want wrong usage", r, time.Since(begun))
	}
}
