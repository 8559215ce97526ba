// SPDX-License-Identifier: Apache-2.0

package main

import (
	"bytes"
	"log/slog"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// A flag overrides its environment variable, that a key of the file, and that the default.
func TestWhereAFlagHasItsValueFrom(t *testing.T) {
	t.Parallel()
	file := filepath.Join(t.TempDir(), "pnagent.yml")
	if err := os.WriteFile(file, []byte("web.viewers: 2\nnats: nats://file\nweb.allowed-hosts: [a, b]\nsnmp.inform: true\nlog.level: warn\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	for name, c := range map[string]struct {
		env     map[string]string
		args    []string
		viewers int
		nats    string
		hosts   string
		inform  bool
		level   string
	}{
		"defaults":             {viewers: 1000, level: "info"},
		"a file":               {args: []string{"--config", file}, viewers: 2, nats: "nats://file", hosts: "a b", inform: true, level: "warn"},
		"a file by a variable": {env: map[string]string{"PNAGENT_CONFIG": file}, viewers: 2, nats: "nats://file", hosts: "a b", inform: true, level: "warn"},
		"variables": {env: map[string]string{"PNAGENT_WEB_VIEWERS": "3", "PNAGENT_NATS": "nats://env", "PNAGENT_WEB_ALLOWED_HOSTS": "c,d", "PNAGENT_SNMP_INFORM": "false", "PNAGENT_LOG_LEVEL": "error"},
			args: []string{"--config", file}, viewers: 3, nats: "nats://env", hosts: "c d", level: "error"},
		"a variable of another name": {env: map[string]string{"PNAGENT_NATS_URL": "nats://old"}, args: []string{"--config", file}, viewers: 2, nats: "nats://old", hosts: "a b", inform: true, level: "warn"},
		"flags": {env: map[string]string{"PNAGENT_WEB_VIEWERS": "3", "PNAGENT_NATS": "nats://env", "PNAGENT_CONFIG": "/nowhere"},
			args: []string{"--config", file, "--web.viewers=4", "--nats=nats://flag"}, viewers: 4, nats: "nats://flag", hosts: "a b", inform: true, level: "warn"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			var keys serveKeys
			from := &values{env: func(name string) (string, bool) { v, ok := c.env[name]; return v, ok }, from: map[string]string{}}
			parser, err := newParser(&keys, from)
			if err != nil {
				t.Fatal(err)
			}
			if _, err := parser.Parse(c.args); err != nil {
				t.Fatal(err)
			}
			s := &keys.Serve
			if s.Viewers != c.viewers || s.NATS.URL != c.nats || strings.Join(s.Hosts, " ") != c.hosts || s.Alarm.Inform != c.inform || keys.Log.Level != c.level {
				t.Errorf("got %d, %q, %q, %v, %q; want %+v", s.Viewers, s.NATS.URL, s.Hosts, s.Alarm.Inform, keys.Log.Level, c)
			}
		})
	}
}

// An error about a value from the environment names the variable.
func TestAnErrorNamesTheVariable(t *testing.T) {
	for variable, c := range map[string]struct{ value, want string }{
		"PNAGENT_WEB_VIEWERS": {"many", "PNAGENT_WEB_VIEWERS: --web.viewers: expected a valid"},
		"PNAGENT_LOG_LEVEL":   {"loud", "PNAGENT_LOG_LEVEL: --log.level must be one of"},
		"PNAGENT_AGENTX":      {"/var/agentx", `PNAGENT_AGENTX: invalid agentx configuration: Addr: "/var/agentx"; expected unix:/path`},
	} {
		t.Run(variable, func(t *testing.T) {
			t.Setenv(variable, c.value)
			t.Setenv("PNAGENT_MIB_DIR", "")
			if got, code := errorLines(t, "serve", "--web.listen-address=127.0.0.1:0"); code != exitUsage || !strings.HasPrefix(got, "pnagent: "+c.want) {
				t.Errorf("exit status %d, %s\nwant %s", code, got, c.want)
			}
		})
	}
}

func TestUnknownVariablesAreReported(t *testing.T) {
	t.Parallel()
	action := []string{"PNAGENT_ATTEMPT=1", "PNAGENT_KEY=k", "PNAGENT_NET=n", "PNAGENT_SOURCE=s"}
	for name, c := range map[string]struct {
		environment []string
		want        string
	}{
		"none":                        {[]string{"HOME=/", "PNAGENT_LOG_LEVEL=info"}, ""},
		"one of another command":      {[]string{"PNAGENT_FIRINGS=1", "REDIS_ADDRESS=x", "PNAGENT_NATS_URL=x", "PNAGENT_SNMP_COMMUNITY=c"}, ""},
		"misspelt":                    {[]string{"PNAGENT_WEB_LISTENADDRESS=x"}, "name=PNAGENT_WEB_LISTENADDRESS did_you_mean=PNAGENT_WEB_LISTEN_ADDRESS"},
		"like nothing":                {[]string{"PNAGENT_QUIXOTIC_ZEBRA_XYLEM=x"}, "name=PNAGENT_QUIXOTIC_ZEBRA_XYLEM\n"},
		"of a Service":                {[]string{"PNAGENT_SERVICE_HOST=10.0.0.1", "PNAGENT_SERVICE_PORT_HTTP=1", "PNAGENT_PORT=tcp://10.0.0.1:9797", "PNAGENT_PORT_9797_TCP_ADDR=10.0.0.1", "PNAGENT_SNMP_PORT_161_UDP=x"}, ""},
		"of the command of an engine": {action, ""},
		"as such, but not of one":     {action[1:], "name=PNAGENT_KEY"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			from := &values{env: func(name string) (string, bool) {
				for _, entry := range c.environment {
					if value, is := strings.CutPrefix(entry, name+"="); is {
						return value, true
					}
				}
				return "", false
			}}
			var out bytes.Buffer
			from.warnOfUnknown(c.environment, nil, slog.New(slog.NewTextHandler(&out, nil)))
			if got := out.String(); c.want == "" && got != "" || !strings.Contains(got, c.want) || strings.Count(got, "\n") > 1 {
				t.Errorf("got %s\nwant %s", got, c.want)
			}
		})
	}
}

// No flag is read from a variable that Kubernetes sets for a Service.
func TestNoVariableIsThatOfAService(t *testing.T) {
	t.Parallel()
	for _, command := range allCommands(t) {
		for _, flags := range command.AllFlags(false) {
			for _, flag := range flags {
				if serviceLink().MatchString(variable(flag.Name)) {
					t.Errorf("--%s of %s is set by the environment of a Service", flag.Name, command.FullPath())
				}
			}
		}
	}
}

func TestMisspeltNamesAreCorrected(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		args []string
		want string
	}{
		{[]string{"serv"}, "unexpected argument serv; did you mean serve?"},
		{[]string{"alarms", "lst"}, "unexpected argument lst; did you mean list?"},
		{[]string{"check-confg", "a.yml"}, "unexpected argument check-confg; did you mean check-config?"},
		{[]string{"--log.level", "warn", "serv"}, "unexpected argument serv; did you mean serve?"},
		{[]string{"fire", "orders", "berlin/48", "ship", "now"}, "unexpected argument now"},
		{[]string{"check", "--json", "a.pnml", "--explor", "7"}, "unknown flag --explor; did you mean --explore"},
		{[]string{"serve", "--web.listn", "x"}, "unknown flag --web.listn; did you mean --web.listen-address?"},
		{[]string{"serve", "--snmp.trap", "x"}, "unknown flag --snmp.trap; did you mean --snmp.trap-sink or --snmp.trap-user?"},
		{[]string{"check", "--xylophone", "x"}, "unknown flag --xylophone; see"},
	} {
		if got, code := errorLines(t, c.args...); code != exitUsage || !strings.HasPrefix(got, "pnagent: "+c.want) {
			t.Errorf("%q: exit status %d, %s\nwant %s", c.args, code, got, c.want)
		}
	}
}
