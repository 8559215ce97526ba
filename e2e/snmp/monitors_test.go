// SPDX-License-Identifier: Apache-2.0

//go:build peers

package snmp

import (
	"errors"
	"fmt"
	"os"
	"os/user"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/nats-io/nats.go"

	"github.com/pnagent/pnagent/e2e/kit"
	"github.com/pnagent/pnagent/snmp/snmptest"
)

// plugins is the directory of check_snmp.
const plugins = "/usr/lib/nagios/plugins"

// idleNet is stuckNet without a claim.
var idleNet = strings.Replace(kit.StuckNet, "<text>40</text>", "<text>0</text>", 1)

// monitored is a sidecar whose net has no token yet, and generated files of a monitoring tool
// that read it. A token that has been in a place for more than two seconds is critical there.
type monitored struct {
	port  string // of SNMP, at 127.0.0.1
	files string // directory of the files of the tool
	bus   *nats.Conn
}

func startMonitored(t *testing.T, tool string) monitored {
	t.Helper()
	snmptest.RequireTools(t)
	if _, err := os.Stat(filepath.Join(plugins, "check_snmp")); err != nil {
		t.Skip("check_snmp is not installed (Debian package monitoring-plugins-standard)")
	}
	rules := kit.Write(t, "alarms.yaml", strings.Replace(kit.Impatient, "after: 1s,", "after: 2s, severity: major,", 1))
	net := kit.Write(t, "claims.pnml", idleNet)
	m, bus, dir := kit.Generate(t, "", net), kit.StartNATS(t), t.TempDir()
	side := kit.Serve(t, bus, "--alarms", rules, "--snmp", "127.0.0.1:0", "--snmp.users-file", kit.SNMPUsers(t), "--state-dir", t.TempDir(), "--mib-dir", m.Dir)
	kit.RunEngine(t, bus, "berlin", "--bindings", kit.Write(t, "bindings.yaml", kit.StuckBindings), net)
	if r := kit.Pnagent(t, "integrations", tool, "--dir", dir, "--mib-dir", m.Dir, "--alarms", rules, net); r.Code != 0 {
		t.Fatalf("pnagent integrations: got %+v", r)
	}
	_, port, _ := strings.Cut(side.SNMP, ":")
	return monitored{port, filepath.Join(dir, tool), kit.Connect(t, bus)}
}

// file returns a generated file with replacements.
func (m monitored) file(t *testing.T, name string, replace ...string) string {
	t.Helper()
	text, err := os.ReadFile(filepath.Join(m.files, name))
	if err != nil {
		t.Fatal(err)
	}
	return strings.NewReplacer(append(replace, "CHANGE-THE-AUTH-PASSPHRASE", "authenticate-me", "CHANGE-THE-PRIV-PASSPHRASE", "encrypt-me-too")...).Replace(string(text))
}

// reported is a service as the tool has it.
type reported struct{ state, output, perfdata string }

// follows wants a tool to show a service as OK, then as critical while a token is stuck, and as
// OK again once it was released.
func (m monitored) follows(t *testing.T, states [2]string, service func() (reported, error)) {
	t.Helper()
	becomes := func(what, state, output, perfdata string) {
		t.Helper()
		kit.Until(t, what, func() error {
			s, err := service()
			if err == nil && (s.state != state || kit.Submatch(s.output, output) == nil || kit.Submatch(s.perfdata, perfdata) == nil) {
				err = fmt.Errorf("it is shown as %+v", s)
			}
			return err
		})
	}
	becomes("the service is OK", states[0], `^SNMP OK - oldest_age_seconds 0 s`, `^oldest_age_seconds=0;;2`)
	kit.Request(t, m.bus, "inject", "claims", "berlin", `{"instance":0,"place":"inbox","tokens":1}`)
	becomes("the service is critical", states[1], `^SNMP CRITICAL - oldest_age_seconds \*[0-9]+\* s`, `^oldest_age_seconds=([3-9]|\d\d+);;2`)
	kit.Request(t, m.bus, "fire", "claims", "berlin", `{"instance":0,"transition":"answer"}`)
	becomes("the service is OK again", states[0], `^SNMP OK - oldest_age_seconds 0 s`, `^oldest_age_seconds=0;;2`)
}

// account returns the names of the user that runs the test, and of its group.
func account(t *testing.T) (name, group string) {
	t.Helper()
	u, err := user.Current()
	if err != nil {
		t.Fatal(err)
	}
	g, err := user.LookupGroupId(u.Gid)
	if err != nil {
		t.Fatal(err)
	}
	return u.Username, g.Name
}

// private has net-snmp's tools read and write nothing of the user.
func private(t *testing.T) []string {
	t.Helper()
	return []string{"SNMPCONFPATH=" + os.DevNull, "SNMP_PERSISTENT_DIR=" + t.TempDir()}
}

// fences returns the blocks of code of a page.
func fences(page string) (all []string) {
	for _, m := range regexp.MustCompile("(?ms)^```[a-z]*\n(.*?)^```$").FindAllStringSubmatch(page, -1) {
		all = append(all, m[1])
	}
	return all
}

// nagiosConf is the main configuration, with the sample objects of Debian. A minute has one second.
const nagiosConf = `log_file=DIR/nagios.log
cfg_dir=/etc/nagios-plugins/config
cfg_file=/etc/nagios4/objects/commands.cfg
cfg_file=/etc/nagios4/objects/contacts.cfg
cfg_file=/etc/nagios4/objects/timeperiods.cfg
cfg_file=/etc/nagios4/objects/templates.cfg
cfg_file=DIR/pnagent.cfg
cfg_file=DIR/host.cfg
resource_file=DIR/resource.cfg
object_cache_file=DIR/objects.cache
status_file=DIR/status.dat
status_update_interval=1
nagios_user=USER
nagios_group=GROUP
command_file=DIR/nagios.cmd
query_socket=DIR/nagios.qh
lock_file=DIR/nagios.pid
temp_file=DIR/nagios.tmp
temp_path=DIR
check_result_path=DIR/results
check_result_reaper_frequency=1
retain_state_information=0
interval_length=1
enable_notifications=0
check_for_updates=0
illegal_object_name_chars=` + "`" + `~!$%^&*|'"<>?,()=
illegal_macro_output_chars=` + "`" + `~$&|'"<>
`

// Nagios takes the generated services and the host of the page without a warning, and shows
// them as the net is.
func TestNagiosShowsAStuckToken(t *testing.T) {
	t.Parallel()
	nagios := kit.Need(t, "nagios4", "nagios4-core")
	m, dir := startMonitored(t, "nagios"), t.TempDir()
	ini := kit.Write(t, "pnagent.ini", m.file(t, "pnagent.ini", "port=161", "port="+m.port))
	name, group := account(t)
	hosts := fences(m.file(t, "README.md", "192.0.2.1", "127.0.0.1"))
	if len(hosts) != 1 {
		t.Fatalf("the page has the blocks %q; want that of a host", hosts)
	}
	for file, text := range map[string]string{
		"nagios.cfg":   strings.NewReplacer("DIR", dir, "USER", name, "GROUP", group).Replace(nagiosConf),
		"pnagent.cfg":  m.file(t, "pnagent.cfg", "/etc/nagios4/pnagent.ini", ini),
		"host.cfg":     hosts[0],
		"resource.cfg": "$USER1$=" + plugins + "\n",
	} {
		if err := os.WriteFile(filepath.Join(dir, file), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	if err := os.Mkdir(filepath.Join(dir, "results"), 0o700); err != nil {
		t.Fatal(err)
	}
	conf := filepath.Join(dir, "nagios.cfg")
	if r := kit.Tool(t, nil, nagios, "-v", conf); r.Code != 0 || !strings.Contains(r.Out, "Total Warnings: 0") || !strings.Contains(r.Out, "Total Errors:   0") {
		t.Fatalf("nagios4 -v: got %d:\n%s%s", r.Code, r.Out, r.Err)
	}
	kit.StartGroup(t, private(t), nagios, conf)
	m.follows(t, [2]string{"0", "2"}, func() (reported, error) {
		text, err := os.ReadFile(filepath.Join(dir, "status.dat"))
		if err != nil {
			return reported{}, err
		}
		for _, block := range strings.Split(string(text), "\nservicestatus {")[1:] {
			value := func(key string) string {
				if found := kit.Submatch(block, `(?m)^\s*`+key+`=(.*)$`); found != nil {
					return found[1]
				}
				return ""
			}
			if value("service_description") == "claims: oldest token of Awaiting an answer" {
				return reported{value("current_state"), value("plugin_output"), value("performance_data")}, nil
			}
		}
		return reported{}, errors.New("the service is not in status.dat")
	})
}

// icingaConf is what the page expects to be there, with an output of results. A minute has one second.
const icingaConf = `include <itl>
include <plugins>
const PluginDir = "PLUGINS"
const NodeName = "here"
const ZoneName = "here"
object Endpoint NodeName {}
object Zone ZoneName { endpoints = [ NodeName ] }
object CheckerComponent "checker" {}
object PerfdataWriter "results" {
  service_perfdata_path = "DIR/services"
  service_temp_path = "DIR/services-now"
  host_perfdata_path = "DIR/hosts"
  host_temp_path = "DIR/hosts-now"
  rotation_interval = 1s
  service_format_template = "$service.display_name$\t$service.state$\t$service.output$\t$service.perfdata$"
}
object Host "shop" {
  address = "127.0.0.1"
  check_command = "dummy"
  vars.pnagent = true
  vars.snmpv3_port = PORT
}
`

// Icinga takes the generated services and the constants of the page, and shows them as the net is.
func TestIcingaShowsAStuckToken(t *testing.T) {
	t.Parallel()
	icinga := kit.Need(t, "icinga2", "icinga2-bin")
	m, dir := startMonitored(t, "icinga"), t.TempDir()
	constants := fences(m.file(t, "README.md"))
	if len(constants) != 1 {
		t.Fatalf("the page has the blocks %q; want that of the constants", constants)
	}
	conf := kit.Write(t, "icinga2.conf", constants[0]+strings.NewReplacer("DIR", dir, "PORT", m.port, "PLUGINS", plugins).Replace(icingaConf)+
		m.file(t, "pnagent.conf", "interval = 1m", "interval = 1s", "interval = 30s", "interval = 1s"))
	name, group := account(t)
	arguments := []string{"daemon", "-c", conf, "-D", "RunAsUser=" + name, "-D", "RunAsGroup=" + group}
	for _, of := range []string{"DataDir", "LogDir", "CacheDir", "SpoolDir", "InitRunDir"} {
		arguments = append(arguments, "-D", of+"="+t.TempDir())
	}
	if r := kit.Tool(t, nil, icinga, append(slices.Clone(arguments), "-C")...); r.Code != 0 || strings.Contains(r.Out+r.Err, "warning/") || strings.Contains(r.Out+r.Err, "critical/") {
		t.Fatalf("icinga2 daemon -C: got %d:\n%s%s", r.Code, r.Out, r.Err)
	}
	kit.StartGroup(t, private(t), icinga, arguments...)
	m.follows(t, [2]string{"OK", "CRITICAL"}, func() (s reported, err error) {
		files, err := filepath.Glob(filepath.Join(dir, "services.*")) // names end in the time
		if err != nil {
			return s, err
		}
		slices.Sort(files)
		for _, file := range slices.Backward(files) {
			text, err := os.ReadFile(file)
			if err != nil {
				return s, err
			}
			if all := regexp.MustCompile(`(?m)^claims: oldest token of Awaiting an answer\t(.*)\t(.*)\t(.*)$`).FindAllStringSubmatch(string(text), -1); all != nil {
				last := all[len(all)-1]
				return reported{last[1], last[2], last[3]}, nil
			}
		}
		return s, errors.New("the service has no result")
	})
}
