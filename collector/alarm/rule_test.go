// SPDX-License-Identifier: Apache-2.0

package alarm

import (
	"bytes"
	"errors"
	"os"
	"regexp"
	"strings"
	"testing"
	"time"
	"unicode/utf8"

	"github.com/google/go-cmp/cmp"

	"github.com/pnagent/pnagent/petri"
)

func TestAPatternMatchesTheWholeName(t *testing.T) {
	for _, c := range []struct {
		pattern, name string
		want          bool
	}{
		{"", "anything", true},
		{"p", "p", true},
		{"p", "pp", false},
		{"p*", "p", true},
		{"*p", "p p", true},
		{"a*b*c", "a/x/b b c", true},
		{"a*b*c", "abcd", false},
		{"?", "€", true},
		{"?", "", false},
		{"paid ?", "paid €", true},
		{"??", "€", false},
		{"*?*", "", false},
		{"*a*a*b", strings.Repeat("a", 200), false},
		{"**", "", true},
		{"[a]", "a", false},
		{"*", "*", true},
	} {
		if got := Match(c.pattern, c.name); got != c.want {
			t.Errorf("%q matches %q: %v, want %v", c.pattern, c.name, got, c.want)
		}
	}
}

// slowMatch says what a pattern means.
func slowMatch(pattern, name string) bool {
	if pattern == "" {
		return name == ""
	}
	_, size := utf8.DecodeRuneInString(name)
	switch {
	case pattern[0] == '*':
		return slowMatch(pattern[1:], name) || name != "" && slowMatch(pattern, name[size:])
	case name == "":
		return false
	case pattern[0] == '?':
		return slowMatch(pattern[1:], name[size:])
	}
	return pattern[0] == name[0] && slowMatch(pattern[1:], name[1:])
}

func FuzzMatch(f *testing.F) {
	f.Add("a*b?c", "axxbyc")
	f.Add("*€*", "a€")
	f.Fuzz(func(t *testing.T, pattern, name string) {
		if len(pattern) > 12 || len(name) > 24 || pattern == "" || !utf8.ValidString(name) || !utf8.ValidString(pattern) {
			return
		}
		if got, want := Match(pattern, name), slowMatch(pattern, name); got != want {
			t.Errorf("%q matches %q: %v, want %v", pattern, name, got, want)
		}
	})
}

func TestAnEmptyFileHasTheDefaults(t *testing.T) {
	for _, text := range []string{"", "# nothing\n", "defaults: {}\n", "overrides: []\n"} {
		rules, err := ReadRules(strings.NewReader(text), "alarms.yaml")
		if err != nil {
			t.Fatalf("rules %q: got error %v; want none", text, err)
		}
		if d := cmp.Diff(DefaultRules().base, rules.base); d != "" {
			t.Errorf("rules %q, compared with the defaults (-want +got): %s", text, d)
		}
	}
}

func TestRulesAreReadFieldByField(t *testing.T) {
	rules, err := ReadRules(strings.NewReader(`
settle: 5s
defaults:
  stuck: {after: 1h}
  failures: {above: 5%, runs: 7, window: 2m}
  loop: on
overrides:
  - {net: "order-*", stuck: {for: 2s, severity: major}, loop: {above: 90/m}, deadlocked: {above: 3, severity: warning}}
  - {net: order-1, transition: pay, failures: {above: 0.25}, loop: off}
  - {place: "a*", stuck: {clear_after: 0s}}
  - {source: "test-*", lost: {for: 1m}}
  - {source: "test-9", lost: off}
  - {source: "test-2", lost: {severity: critical}}
`), "alarms.yaml")
	if err != nil {
		t.Fatal(err)
	}
	if rules.Settle != 5*time.Second {
		t.Errorf("settle is %v", rules.Settle)
	}
	first, other := rules.net("order-1"), rules.net("x")
	for _, c := range []struct {
		what      string
		got, want Rule
	}{
		{"a place", other.place(TokenStuck, "p"), Rule{On: true, Severity: Minor, After: time.Hour, ClearAfter: time.Minute}},
		{"a place by its name", other.place(TokenStuck, "ab"), Rule{On: true, Severity: Minor, After: time.Hour}},
		{"a place by its net", first.place(TokenStuck, "p"), Rule{On: true, Severity: Major, After: time.Hour, For: 2 * time.Second, ClearAfter: time.Minute}},
		{"a place by both", first.place(TokenStuck, "ab"), Rule{On: true, Severity: Major, After: time.Hour, For: 2 * time.Second}},
		{"failures", other.transition(FailureRatio, "pay"), Rule{On: true, Severity: Minor, Above: 0.05, Runs: 7, Window: 2 * time.Minute, ClearAfter: time.Minute}},
		{"failures by name", first.transition(FailureRatio, "pay"), Rule{On: true, Severity: Minor, Above: 0.25, Runs: 7, Window: 2 * time.Minute, ClearAfter: time.Minute}},
		{"a loop", other.transition(TransitionLoop, "pay"), Rule{On: true, Severity: Warning, Above: 1000, Window: time.Minute, ClearAfter: time.Minute}},
		{"a loop by net", first.transition(TransitionLoop, "t"), Rule{On: true, Severity: Warning, Above: 1.5, Window: time.Minute, ClearAfter: time.Minute}},
		{"a loop by name", first.transition(TransitionLoop, "pay"), Rule{Severity: Warning, Above: 1.5, Window: time.Minute, ClearAfter: time.Minute}},
		{"a net", first.whole(NetDeadlocked), Rule{On: true, Severity: Warning, Above: 3, For: time.Minute, ClearAfter: time.Minute}},
		{"a source", rules.source(SourceLost, "test-1"), Rule{On: true, Severity: Major, For: time.Minute, ClearAfter: 10 * time.Second}},
		{"a source that is off", rules.source(SourceLost, "test-9"), Rule{Severity: Major, For: time.Minute, ClearAfter: 10 * time.Second}},
		{"a source by its severity", rules.source(SourceLost, "test-2"), Rule{On: true, Severity: Critical, For: time.Minute, ClearAfter: 10 * time.Second}},
		{"another source", rules.source(SourceLost, "x"), DefaultRules().base[SourceLost]},
	} {
		if d := cmp.Diff(c.want, c.got); d != "" {
			t.Errorf("%s (-want +got): %s", c.what, d)
		}
	}
}

func TestAFaultInRulesIsReportedWithItsPosition(t *testing.T) {
	for _, c := range []struct{ text, want string }{
		{"- a", `alarms.yaml:1:1: found a sequence; expected a mapping`},
		{"stuck: {after: 1m}", `alarms.yaml:1:1: unknown key "stuck"; expected a mapping with the keys settle`},
		{"settle: soon", `alarms.yaml:1:9: found "soon"; expected a duration`},
		{"defaults:\n  stucked: on", `alarms.yaml:2:3: unknown key "stucked"; expected one of stuck, starved`},
		{"defaults:\n  stuck: maybe", `alarms.yaml:2:10: found "maybe"; expected on, off, or a mapping with reason, after`},
		{"defaults:\n  stuck: {above: 3}", `alarms.yaml:2:11: unknown key "above"; expected one of reason, after, for, clear_after`},
		{"defaults:\n  stuck: {after: -1s}", `alarms.yaml:2:18: found "-1s"; expected a duration`},
		{"defaults:\n  stuck: {after: 1000000h}", `expected a duration from 0s to 10 years`},
		{"defaults:\n  stuck: {after: due - 5m}", `alarms.yaml:2:18: found "due - 5m"; expected a duration from 0s to 10 years such as 10m, one from when a token was due such as due + 5m, or off`},
		{"defaults:\n  stuck: {after: due + }", `found "due +"; expected a duration`},
		{"defaults:\n  stuck: {after: + 5m}", `found "+ 5m"; expected a duration`},
		{"defaults:\n  starved: {after: due + 5m}", `found "due + 5m"; expected a duration from 0s to 10 years such as 30s, 10m or 1h30m`},
		{"defaults:\n  stuck: {reason: late}", `alarms.yaml:2:19: found "late"; expected a reason: one of enabled, running, delayed, guarded, missing, inhibited, manual, dead, incident, noWorker`},
		{"defaults:\n  stuck: []", `alarms.yaml:2:10: 0 rules; expected 1 to 11`},
		{"defaults:\n  stuck: [on, {reason: dead}, {reason: dead, after: 1m}]", `alarms.yaml:2:31: a second rule for reason dead; expected one for each reason, and one without`},
		{"defaults:\n  starved: [on]", `alarms.yaml:2:12: found a sequence; expected on, off, or a mapping`},
		{"defaults:\n  failures: {above: 100%}", `found "100%"; expected a share such as 20%`},
		{"defaults:\n  failures: {above: NaN}", `expected a share`},
		{"defaults:\n  failures: {runs: -1}", `expected a number`},
		{"defaults:\n  loop: {above: 100}", `found "100"; expected a rate such as 100/s`},
		{"defaults:\n  loop: {above: 0/s}", `expected a rate`},
		{"defaults:\n  loop: {window: 1ms}", `expected a window of a second or more`},
		{"defaults:\n  deadlocked: {above: 1/s}", `expected a number`},
		{"defaults:\n  lost: {severity: high}", `alarms.yaml:2:20: found "high"; expected critical, major, minor or warning`},
		{"defaults:\n  lost: {severity: cleared}", `found "cleared"; expected critical, major, minor or warning`},
		{"overrides: {net: n}", `expected a list of overrides`},
		{"overrides:\n  - {stuck: on}", `alarms.yaml:2:5: an override that names nothing`},
		{"overrides:\n  - {net: n}", `an override without a rule; expected one of stuck, starved, deadlocked, failures, loop`},
		{"overrides:\n  - {net: n, lost: off}", `unknown key "lost"`},
		{"overrides:\n  - {place: p, loop: off}", `unknown key "loop"; expected one of stuck`},
		{"overrides:\n  - {transition: p, stuck: off}", `unknown key "stuck"; expected one of starved, failures, loop`},
		{"overrides:\n  - {source: s, net: n, lost: off}", `a source beside a net`},
		{"overrides:\n  - {place: s, transition: n, stuck: off}", `a place beside a transition`},
		{"overrides:\n  - {net: '', stuck: off}", `expected a pattern of 1 to 256 bytes`},
		{"overrides:\n  - {net: " + strings.Repeat("n", 257) + ", stuck: off}", `expected a pattern`},
		{"overrides:\n  - {net: [n], stuck: off}", `expected a pattern`},
		{"overrides:\n" + strings.Repeat("  - {net: n, stuck: off}\n", 1001), `1001 overrides; expected at most 1000`},
		{"settle: 1s\nsettle: 2s", `alarms.yaml:2:1: not YAML: mapping key "settle" already defined`},
		{"settle: soon\ndefaults: 3", "alarms.yaml:1:9: found \"soon\"; expected a duration from 0s to 10 years such as 30s, 10m or 1h30m\nalarms.yaml:2:11: found \"3\""},
	} {
		rules, err := ReadRules(strings.NewReader(c.text), "alarms.yaml")
		if err == nil || !strings.Contains(err.Error(), c.want) || rules != nil {
			t.Errorf("%.60q: %v, want %s", c.text, err, c.want)
		}
		if fault := (*petri.Fault)(nil); !errors.As(err, &fault) {
			t.Errorf("%.60q: no place in %v", c.text, err)
		}
	}
}

func FuzzReadRules(f *testing.F) {
	f.Add([]byte("settle: 5s\ndefaults: {stuck: {after: 1h}, loop: on}\noverrides:\n  - {net: 'a*', place: p, stuck: {for: 2s}}\n  - {source: s, lost: off}\n"))
	f.Add([]byte("overrides: [{transition: '?', failures: {above: 5%, runs: 3, window: 1m}}]"))
	f.Fuzz(func(t *testing.T, text []byte) {
		rules, err := ReadRules(bytes.NewReader(text), "alarms.yaml")
		if err != nil {
			return
		}
		n := rules.net("net")
		for _, r := range []Rule{n.whole(NetDeadlocked), n.place(TokenStuck, "p"), n.transition(TransitionLoop, "t"), n.transition(FailureRatio, "t"), rules.source(SourceLost, "s")} {
			if r.After < 0 || r.For < 0 || r.ClearAfter < 0 || r.Window < 0 || !(r.Above >= 0) || r.After > maxTime {
				t.Errorf("%q gives %+v", text, r)
			}
		}
	})
}

func TestTheDocumentHasTheDefaultSeverities(t *testing.T) {
	text, err := os.ReadFile("../../docs/alarms.md")
	if err != nil {
		t.Fatal(err)
	}
	for _, k := range Kinds() {
		want := DefaultRules().base[k].Severity
		if !regexp.MustCompile("(?m)^\\| `" + k.String() + "` \\|.*\\| " + want.String() + " \\|$").Match(text) {
			t.Errorf("docs/alarms.md does not have %s as %s", k, want)
		}
	}
}

func TestARuleSaysWhenATransitionIsExpectedToFire(t *testing.T) {
	rules, err := ReadRules(strings.NewReader(`
defaults:
  expect: {grace: 1m, severity: minor}
overrides:
  - {net: n, expect: {grace: 2m}}
  - {net: n, transition: "*", expect: {every: 10m}}
  - {net: n, transition: night, expect: {cron: "0 3 * * *", zone: Europe/Berlin, grace: 15m}}
  - {net: n, transition: engine, expect: off}
`), "rules.yaml")
	if err != nil {
		t.Fatal(err)
	}
	noon := time.Date(2026, 11, 29, 12, 0, 0, 0, time.UTC).UnixMicro()
	for _, c := range []struct {
		net, transition string
		on              bool
		grace, every    time.Duration
		next            string
	}{
		{"other", "t", true, time.Minute, 0, ""},
		{"n", "t", true, 2 * time.Minute, 10 * time.Minute, "2026-11-29T12:10:00Z"},
		{"n", "night", true, 15 * time.Minute, 0, "2026-11-30T02:00:00Z"},
		{"n", "engine", false, 2 * time.Minute, 10 * time.Minute, "2026-11-29T12:10:00Z"},
	} {
		r := rules.Of(FiringMissed, c.net, c.transition)
		if r.On != c.on || r.After != c.grace || r.Every != c.every || r.Severity != Minor || r.scheduled() != (c.next != "") {
			t.Errorf("%s %s: %+v", c.net, c.transition, r)
		}
		if c.next != "" && date(r.next(noon)) != c.next {
			t.Errorf("%s %s: next %s, want %s", c.net, c.transition, date(r.next(noon)), c.next)
		}
	}
}

func TestExpectationsThatAreRefused(t *testing.T) {
	for text, want := range map[string]string{
		`defaults: {expect: {every: 10m}}`:                                                  `rules.yaml:1:21: every without a transition; expected it in an override with one`,
		`overrides: [{net: n, expect: {cron: "0 3 * * *"}}]`:                                `rules.yaml:1:31: cron without a transition; expected it in an override with one`,
		`overrides: [{transition: t, expect: {cron: "0 3 * * *", every: 1h}}]`:              `rules.yaml:1:44: cron beside every; expected one of them`,
		`overrides: [{transition: t, expect: {zone: UTC}}]`:                                 `rules.yaml:1:44: a zone without cron; expected both, such as {cron: "0 3 * * *", zone: Europe/Berlin}`,
		`overrides: [{transition: t, expect: {cron: "0 3 * * *", zone: Berlin}}]`:           `rules.yaml:1:63: found "Berlin"; expected the name of a time zone, such as Europe/Berlin`,
		`overrides: [{transition: t, expect: {cron: "0 0 3 * * ?"}}]`:                       `rules.yaml:1:44: cron: 6 fields; expected the 5 of crontab: minute, hour, day, month, weekday`,
		`overrides: [{transition: t, expect: {every: 10}}]`:                                 `rules.yaml:1:45: found "10"; expected a duration from 0s to 10 years such as 30s, 10m or 1h30m`,
		`overrides: [{transition: t, expect: {every: 10ms}}]`:                               `rules.yaml:1:45: found "10ms"; expected a second or more, such as 10m`,
		`overrides: [{transition: t, expect: {each: 10m}}]`:                                 `rules.yaml:1:38: unknown key "each"; expected one of every, cron, zone, grace, clear_after, severity`,
		`overrides: [{place: p, expect: off}]`:                                              `rules.yaml:1:24: unknown key "expect"; expected one of stuck`,
		`overrides: [{transition: t, expect: {cron: "0 3 * * *", grace: soon, zone: UTC}}]`: `rules.yaml:1:64: found "soon"; expected a duration from 0s to 10 years such as 30s, 10m or 1h30m`,
	} {
		if _, err := ReadRules(strings.NewReader(text), "rules.yaml"); err == nil || err.Error() != want {
			t.Errorf("%s\n%v\nwant %s", text, err, want)
		}
	}
}
