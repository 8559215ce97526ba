// SPDX-License-Identifier: Apache-2.0

package integrations

import (
	"errors"
	"maps"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/goccy/go-yaml"

	"github.com/pnagent/pnagent/collector/alarm"
	"github.com/pnagent/pnagent/mib"
	"github.com/pnagent/pnagent/petri"
)

// nasty are names that end values, begin comments, macros, expressions and commands.
func nasty() []string {
	return []string{`a"; }`, "b\n}\ndefine command {\n command_name x\n}", "$(id)", "`id`", "]]> & <x y='1'>", "{{ ITEM.VALUE }}", "c!d!e", "%s %n", "ZBXTRAP 10.0.0.1",
		"\u202e right", "it's", `back\slash\`, "$HOSTADDRESS$", "${x}", "# no: comment", "- item", "'", `"`, "\x00\x1b[31m", "yes", "0x10", "大きさ", "\xff", "*anchor", "[[table]]"}
}

// netNamed returns a net with a place and a transition of each name.
func netNamed(names []string) *petri.Net {
	net := &petri.Net{ID: names[0] + " net", Name: names[0]}
	for i, name := range names {
		p, t := "p"+strconv.Itoa(i), "t"+strconv.Itoa(i)
		net.Places = append(net.Places, petri.Place{ID: p, Name: name})
		net.Transitions = append(net.Transitions, petri.Transition{ID: t, Name: name})
		net.Arcs = append(net.Arcs, petri.Arc{ID: "a" + strconv.Itoa(i), Source: p, Target: t})
	}
	return net
}

// plain returns as many names that mean nothing anywhere.
func plain() (names []string) {
	for i := range nasty() {
		names = append(names, "name"+strconv.Itoa(i))
	}
	return names
}

// What is not a name is the same for nasty names and plain ones: no name adds an object, a
// key or a command.
func TestNamesOfNetsAddNothingToFiles(t *testing.T) {
	for path, names := range map[string]*regexp.Regexp{
		"nagios/pnagent.cfg":  regexp.MustCompile(`service_description .*`),
		"icinga/pnagent.conf": regexp.MustCompile(`"(\\.|[^"\\\n])*"`),
	} {
		bare := func(names_ []string) string {
			return names.ReplaceAllString(written(t, options(t, mib.DefaultRoot, netNamed(names_)), path), "NAME")
		}
		if got, want := bare(nasty()), bare(plain()); got != want {
			t.Errorf("%s has with nasty names\n%s\nand with plain ones\n%s", path, got, want)
		}
	}
	for _, tool := range Tools() {
		if tool == "nagios" || tool == "icinga" {
			continue
		}
		one, err := Files(tool, options(t, mib.DefaultRoot, netNamed(nasty())))
		if err != nil {
			t.Fatal(err)
		}
		two, err := Files(tool, options(t, mib.DefaultRoot))
		if err != nil {
			t.Fatal(err)
		}
		for i := range one {
			if string(one[i].Content) != string(two[i].Content) {
				t.Errorf("%s discovers nets, and depends on those given", one[i].Path)
			}
		}
	}
}

func TestServicesOfNagiosHaveNamesThatItTakes(t *testing.T) {
	text := written(t, options(t, mib.DefaultRoot, netNamed(nasty())), "nagios/pnagent.cfg")
	seen := map[string]bool{}
	for _, m := range regexp.MustCompile(`service_description +(.*)`).FindAllStringSubmatch(text, -1) {
		if strings.ContainsAny(m[1], "`~!$%^&*|'\"<>?,()=;\\{}") || strings.TrimSpace(m[1]) != m[1] || seen[m[1]] {
			t.Errorf("service %q has a character that is not allowed, or is there twice", m[1])
		}
		seen[m[1]] = true
	}
	for _, m := range regexp.MustCompile(`check_command +(.*)`).FindAllStringSubmatch(text, -1) {
		if !regexp.MustCompile(`^pn_snmp![0-9.]+![a-z_]+!(-w \S+|-c \S+)( -u s)?$`).MatchString(m[1]) {
			t.Errorf("check %q has more than an OID, a label and a threshold", m[1])
		}
	}
	if want := 2 * len(nasty()); len(seen) < want {
		t.Errorf("%d services; want more than %d", len(seen), want)
	}
}

// Places and transitions have the thresholds and severities of the rules; places in which
// tokens stay on purpose, and what a rule is off for, have no check.
func TestChecksHaveTheThresholdsOfTheRules(t *testing.T) {
	rules, err := alarm.ReadRules(strings.NewReader(`
defaults: {deadlocked: {above: 2, severity: minor}}
overrides:
  - {net: shop, place: slow, stuck: {after: 2h, severity: major}}
  - {net: shop, place: quiet, stuck: off}
`), "rules.yaml")
	if err != nil {
		t.Fatal(err)
	}
	net := &petri.Net{ID: "shop", Places: []petri.Place{{ID: "slow"}, {ID: "quick"}, {ID: "quiet"}, {ID: "done"}},
		Transitions: []petri.Transition{{ID: "work"}, {ID: "begin"}},
		Arcs: []petri.Arc{{ID: "1", Source: "slow", Target: "work"}, {ID: "2", Source: "quick", Target: "work"}, {ID: "3", Source: "quiet", Target: "work"},
			{ID: "4", Source: "work", Target: "done"}, {ID: "5", Source: "begin", Target: "slow"}}}
	o := options(t, "1.3.6.1.4.1.32473.7", net)
	o.Rules = rules
	got := map[string][3]string{}
	for _, c := range newSite(o).checks() {
		got[c.Name] = [3]string{c.OID, c.Warning, c.Critical}
	}
	const objects = "1.3.6.1.4.1.32473.7.1.1"
	want := map[string][3]string{
		"pn-view-age":        {objects + ".1.6.0", "", "10"},
		"pn-1-deadlocked":    {objects + ".2.1.9.1", "2", ""},
		"pn-1-place-1":       {objects + ".3.1.6.1.1", "", "7200"},
		"pn-1-place-2":       {objects + ".3.1.6.1.2", "600", ""},
		"pn-1-transition-1":  {objects + ".5.1.9.1.1", "600", ""},
		"pn-alarms-critical": {newSite(o).objects["pnAlarmCritical"].OID.String() + ".0", "", "0"},
	}
	for name, w := range want {
		if got[name] != w {
			t.Errorf("%s is %q, want %q", name, got[name], w)
		}
	}
	for _, name := range slices.Sorted(maps.Keys(got)) {
		if _, wanted := want[name]; strings.HasPrefix(name, "pn-1-") && !wanted {
			t.Errorf("there is a check %s", name)
		}
	}
}

// Names that begin in the same way are cut, and their services stay apart.
func TestLongNamesFitIntoATitle(t *testing.T) {
	long := strings.Repeat("\u202e大", 300)
	net := netNamed([]string{long + "a", long + "b"})
	o := options(t, mib.DefaultRoot, net)
	for _, c := range newSite(o).checks() {
		if n := utf8.RuneCountInString(nagiosText(c.Title)); n > 240 {
			t.Errorf("%s has a title of %d characters", c.Name, n)
		}
	}
	seen := map[string]bool{}
	for _, m := range regexp.MustCompile(`service_description +(.*)`).FindAllStringSubmatch(written(t, o, "nagios/pnagent.cfg"), -1) {
		if seen[m[1]] || utf8.RuneCountInString(m[1]) > 255 {
			t.Errorf("service %q is there twice, or too long", m[1])
		}
		seen[m[1]] = true
	}
}

func TestANetWithoutNumbersIsRefusedWhereTheyMatter(t *testing.T) {
	o := options(t, mib.DefaultRoot)
	o.Nets = []*petri.Net{netNamed(plain())}
	if _, err := Files("nagios", o); !errors.Is(err, ErrNumber) || !strings.Contains(err.Error(), "name0 net") {
		t.Errorf("the error is %v", err)
	}
	if _, err := Files("telegraf", o); err != nil {
		t.Errorf("the error is %v", err)
	}
}

// Quoted texts are read again as what they are, with characters that do more than be shown
// replaced.
func TestQuotedTextsAreReadAsTheyAre(t *testing.T) {
	for _, name := range nasty() {
		var read struct{ V string }
		if err := yaml.Unmarshal([]byte("v: "+yamlText(name)+"\n"), &read); err != nil || strings.ContainsAny(read.V, "\n\x00\x1b") {
			t.Errorf("%q is %q in YAML, %v", name, read.V, err)
		}
		if safe := strings.ToValidUTF8(name, ""); safe == name && !strings.ContainsAny(name, "\n\x00\x1b\u202e") && read.V != name {
			t.Errorf("%q is %q in YAML", name, read.V)
		}
		if text := quoted(name); !regexp.MustCompile(`^"([^"\\\n]|\\["\\])*"$`).MatchString(text) {
			t.Errorf("%q is %s in Icinga", name, text)
		}
	}
}
