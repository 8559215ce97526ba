// SPDX-License-Identifier: Apache-2.0

//go:build peers

package snmp

import (
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/pnagent/pnagent/e2e/kit"
	"github.com/pnagent/pnagent/internal/cachetest"
	"github.com/pnagent/pnagent/internal/porttest"
	"github.com/pnagent/pnagent/snmp/snmptest"
)

// file writes one of the files with what it says to change, and returns its path.
func (p polled) file(t *testing.T, name string, replace ...string) string {
	t.Helper()
	text, err := os.ReadFile(filepath.Join(p.files, name))
	if err != nil {
		t.Fatal(err)
	}
	replace = append(replace, "CHANGE-THE-AUTH-PASSPHRASE", "authenticate-me", "CHANGE-THE-PRIV-PASSPHRASE", "encrypt-me-too", "CHANGE-THE-HOST:161", p.SNMP)
	changed := strings.NewReplacer(replace...).Replace(string(text))
	if strings.Contains(strings.ReplaceAll(changed, "what says CHANGE", ""), "CHANGE-") {
		t.Fatalf("%s: got a text that is still to change; want none:\n%s", name, changed)
	}
	return kit.Write(t, filepath.Base(name), changed)
}

// agrees holds the tokens and firings that a tool shows against those of pnagent's own
// interface, and the age of the oldest token, in seconds, against SNMP. read returns them.
func (p polled) agrees(t *testing.T, read func() (kit.Numbers, map[kit.Key]uint64, error)) {
	t.Helper()
	agent, waiting := snmptest.Client{Addr: p.SNMP}, kit.Key{Net: "claims", ID: "awaiting answer"}
	kit.Until(t, "every place and transition has its numbers, by name", func() error {
		want := p.View(t).Numbers()
		from := kit.Walk(t, agent).Rows(kit.PlaceTable, kit.PlaceOldestAge)[waiting].Num
		got, ages, err := read()
		if err != nil {
			return err
		}
		to := kit.Walk(t, agent).Rows(kit.PlaceTable, kit.PlaceOldestAge)[waiting].Num
		if len(want.Tokens) != 4 || len(want.Firings) != 4 || !maps.Equal(got.Tokens, want.Tokens) || !maps.Equal(got.Firings, want.Firings) {
			return fmt.Errorf("got %v, want %v", got, want)
		}
		if age := ages[waiting]; age < from || age > to || from == 0 {
			return fmt.Errorf("the oldest token is %d s old, want %d to %d", age, from, to)
		}
		return nil
	})
}

// influxLine is one of the line protocol of InfluxDB.
type influxLine struct {
	measurement  string
	tags, fields map[string]string
	at           int64 // ns
}

// parseLines reads what Telegraf wrote, of which the last line may not be whole yet.
func parseLines(text string) (all []influxLine) {
	unescape := strings.NewReplacer(`\ `, " ", `\,`, ",", `\=`, "=")
	split := func(s, sep string) []string {
		parts := strings.Split(strings.ReplaceAll(s, `\`+sep, "\x00"), sep)
		for i := range parts {
			parts[i] = strings.ReplaceAll(parts[i], "\x00", `\`+sep)
		}
		return parts
	}
	pairs := func(s []string) map[string]string {
		m := map[string]string{}
		for _, one := range s {
			if kv := split(one, "="); len(kv) == 2 {
				m[unescape.Replace(kv[0])] = unescape.Replace(kv[1])
			}
		}
		return m
	}
	whole := text[:strings.LastIndexByte(text, '\n')+1]
	for l := range strings.Lines(whole) {
		head := split(strings.TrimSuffix(l, "\n"), " ")
		if len(head) < 3 {
			continue
		}
		series, last := split(head[0], ","), len(head)-1
		at, _ := strconv.ParseInt(head[last], 10, 64)
		all = append(all, influxLine{series[0], pairs(series[1:]), pairs(split(strings.Join(head[1:last], " "), ",")), at})
	}
	return all
}

// whole is a field that is a whole number.
func (l influxLine) whole(field string) uint64 {
	n, _ := strconv.ParseUint(strings.TrimRight(l.fields[field], "iu"), 10, 64) // 0 without the field
	return n
}

func TestTelegrafCollectsEveryTableAndNotifications(t *testing.T) {
	t.Parallel()
	program := cachetest.Telegraf().Path(t)
	traps := porttest.Addr(t)
	p := startPolled(t, "telegraf", "--snmp.trap-user", "noc", "--snmp.trap-sink", traps)
	config := p.file(t, "telegraf/pnagent.conf", "udp://:162", "udp://"+traps, "/etc/pnagent/mibs", filepath.Join(p.files, "mibs"), `"30s"`, `"1s"`)
	out := filepath.Join(t.TempDir(), "out")
	agent := kit.Write(t, "telegraf.conf", "[agent]\n  interval = \"1s\"\n  flush_interval = \"1s\"\n  snmp_translator = \"gosmi\"\n  omit_hostname = true\n"+
		"[[outputs.file]]\n  files = [\""+out+"\"]\n  data_format = \"influx\"\n")
	telegraf := kit.Start(t, program, "--config", agent, "--config", config)
	telegraf.Says(t, "Listening on udp")
	read := func() (all []influxLine) {
		text, err := os.ReadFile(out)
		if err != nil && !os.IsNotExist(err) {
			t.Fatal(err)
		}
		return parseLines(string(text))
	}
	p.play(t)
	p.agrees(t, func() (n kit.Numbers, ages map[kit.Key]uint64, err error) {
		n, ages = kit.NewNumbers(), map[kit.Key]uint64{}
		all := read()
		for _, l := range all {
			if l.at < all[len(all)-1].at-int64(5*time.Second) {
				continue // a walk during which the net came may lack its names
			}
			name := kit.Key{Net: l.tags["net"], ID: l.tags["id"]}
			switch l.measurement {
			case "pn_place":
				n.Tokens[name], ages[name] = l.whole("tokens"), l.whole("oldest_age_seconds")
			case "pn_transition":
				n.Firings[name] = l.whole("firings")
			}
		}
		return n, ages, nil
	})
	wrote := func(what string, is func(influxLine) bool) {
		kit.Until(t, what+" is written", func() error {
			if all := read(); !slices.ContainsFunc(all, is) {
				return fmt.Errorf("only %v", all)
			}
			return nil
		})
	}
	wrote("the agent", func(l influxLine) bool {
		return l.measurement == "pn_agent" && l.whole("nats_state") == 1 && l.whole("minor") == 1
	})
	wrote("the net", func(l influxLine) bool {
		return l.measurement == "pn_net" && l.tags["net"] == "claims" && l.whole("firings") == 80
	})
	wrote("the source", func(l influxLine) bool {
		return l.measurement == "pn_source" && l.tags["name"] == "berlin" && l.whole("state") == 1
	})
	wrote("a place by name", func(l influxLine) bool {
		return l.tags["name"] == "Awaiting an answer" && l.tags["source"] == "127.0.0.1"
	})
	notified := func(name string) {
		wrote(name, func(l influxLine) bool {
			return l.measurement == "snmp_trap" && l.tags["mib"] == "PETRINET-MIB" && l.tags["name"] == name && l.fields["pnAlarmSubject"] == `"awaiting answer"`
		})
	}
	notified("pnTokenStuck")
	nc := kit.Connect(t, p.nats)
	for range 40 {
		kit.Request(t, nc, "fire", "claims", "berlin", `{"instance":0,"transition":"answer"}`)
	}
	notified("pnTokenMoving")
	if said := regexp.MustCompile(`(?m)^.* E! .*$`).FindAllString(telegraf.Err.String(), -1); said != nil {
		t.Errorf("telegraf finds fault: %q", said)
	}
}

// collectdSays is what a run of collectd wrote, by the path of a file without its date.
func collectdSays(dir string) (map[string]float64, error) {
	found, err := filepath.Glob(filepath.Join(dir, "*", "*", "*"))
	values := map[string]float64{}
	for _, path := range found {
		text, readErr := os.ReadFile(path)
		if readErr != nil {
			return nil, readErr
		}
		lines := strings.Split(strings.TrimSpace(string(text)), "\n")
		_, last, _ := strings.Cut(lines[len(lines)-1], ",")
		value, parseErr := strconv.ParseFloat(last, 64)
		if parseErr != nil { // only the heading
			continue
		}
		name, _ := filepath.Rel(dir, path)
		values[name[:len(name)-len("-2006-01-02")]] = value
	}
	return values, err
}

func TestCollectdCollectsEveryTable(t *testing.T) {
	t.Parallel()
	collectd := kit.Need(t, "collectd", "collectd-core")
	p := startPolled(t, "collectd")
	p.play(t)
	const user = `    Version 3
    SecurityLevel "authPriv"
    Username "collectd"
    AuthProtocol "SHA"
    AuthPassphrase "authenticate-me"
    PrivacyProtocol "AES"
    PrivacyPassphrase "encrypt-me-too"
`
	three := p.file(t, "collectd/pnagent.conf", "Interval 30", "Interval 1")
	text, err := os.ReadFile(three)
	if err != nil || !strings.Contains(string(text), user) {
		t.Fatalf("%v: the file has no user:\n%s", err, text)
	}
	two := kit.Write(t, "pnagent.conf", strings.Replace(string(text), user, "    Version 2\n    Community \"public\"\n", 1))
	for version, config := range map[string]string{"SNMPv3": three, "SNMPv2c": two} {
		t.Run(version, func(t *testing.T) { p.collecting(t, collectd, config) })
	}
}

func (p polled) collecting(t *testing.T, collectd, config string) {
	t.Parallel()
	dir := t.TempDir()
	whole := kit.Write(t, "collectd.conf", fmt.Sprintf("Hostname \"here\"\nFQDNLookup false\nInterval 1\nBaseDir %q\nPIDFile %q\nLoadPlugin csv\n<Plugin csv>\n  DataDir %q\n  StoreRates false\n</Plugin>\nInclude %q\n",
		dir, filepath.Join(dir, "pid"), dir, config))
	if r := kit.Tool(t, noModules(), collectd, "-t", "-C", whole); r.Code != 0 || r.Err != "" {
		t.Fatalf("collectd -t: got exit code %d, %s%s; want 0 and no message", r.Code, r.Out, r.Err)
	}
	process := kit.Start(t, kit.Need(t, "env", "coreutils"), append(noModules(), collectd, "-f", "-C", whole)...)
	p.agrees(t, func() (n kit.Numbers, ages map[kit.Key]uint64, err error) {
		n, ages = kit.NewNumbers(), map[kit.Key]uint64{}
		values, err := collectdSays(dir)
		if err != nil {
			return n, nil, err
		}
		for name, value := range values {
			if id, is := strings.CutPrefix(name, "pnagent/petrinet-claims/gauge-place-tokens-"); is {
				n.Tokens[kit.Key{Net: "claims", ID: id}] = uint64(value)
			}
			if id, is := strings.CutPrefix(name, "pnagent/petrinet-claims/derive-transition-firings-"); is {
				n.Firings[kit.Key{Net: "claims", ID: id}] = uint64(value)
			}
			if id, is := strings.CutPrefix(name, "pnagent/petrinet-claims/duration-place-oldest_age_seconds-"); is {
				ages[kit.Key{Net: "claims", ID: id}] = uint64(value)
			}
		}
		return n, ages, nil
	})
	kit.Until(t, "the agent, the net and the source have their numbers", func() error {
		values, err := collectdSays(dir)
		for name, want := range map[string]float64{
			"pnagent/petrinet-agent/gauge-minor":                1,
			"pnagent/petrinet-agent/gauge-nats_state":           1,
			"pnagent/petrinet-claims/derive-net-firings":        80,
			"pnagent/petrinet-claims/gauge-source-state-berlin": 1,
		} {
			if got, is := values[name]; !is || got != want {
				return fmt.Errorf("%s is %v (%v), want %v", name, got, is, want)
			}
		}
		return err
	})
	if said := process.Err.String() + process.Out.String(); strings.Contains(said, "rror") || strings.Contains(said, "ailed") {
		t.Errorf("collectd finds fault:\n%.3000s", said)
	}
}
