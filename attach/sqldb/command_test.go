// SPDX-License-Identifier: Apache-2.0

package sqldb

import (
	"os/exec"
	"strings"
	"testing"

	"github.com/pnagent/pnagent/attach/internal/ledger"
	"github.com/pnagent/pnagent/petri"
	"github.com/pnagent/pnagent/stats"
)

func TestACommandIsWordsOfAShell(t *testing.T) {
	net := &petri.Net{ID: "mail orders", Places: []petri.Place{{ID: "job/in"}}, Transitions: []petri.Transition{{ID: "job"}}}
	for what, c := range map[string]struct{ text, want string }{
		"ids":                         {`echo {token} {instance} {place} {transition}`, "echo 42 run-7 job/in job"},
		"a name is quoted":            {`echo {net}`, "echo 'mail orders'"},
		"a name within a word":        {`echo "ARRAY["{token}"]"`, `echo "ARRAY["42"]"`},
		"braces in quotes stay":       {`curl -d '{"retries": 1}' http://x/{token}`, `curl -d '{"retries": 1}' http://x/42`},
		"a quote in the other quotes": {`echo "it's" {token}`, `echo "it's" 42`},
	} {
		parsed, err := parseCommand(c.text)
		if err != nil {
			t.Errorf("%s: %v", what, err)
			continue
		}
		m := &Mapping{commands: map[stats.Reason]command{stats.ReasonIncident: parsed}}
		token := &ledger.Token{ID: "42", Instance: "run-7"}
		if got := m.commandFor(net, token, stats.Wait{Reason: stats.ReasonIncident}); got != c.want {
			t.Errorf("%s: %q; expected %q", what, got, c.want)
		}
		if got := m.commandFor(net, token, stats.Wait{Reason: stats.ReasonEnabled}); got != "" {
			t.Errorf("%s: %q for another reason", what, got)
		}
	}
}

// No id leaves its word, whatever it has.
func TestAnIDIsNoCommand(t *testing.T) {
	for _, id := range []string{"$(id)", "`id`", "'; id; '", `"; id; "`, "a b", "-x", "*", "\x1b[2J", "a\nb", `\`, "ü"} {
		parsed, err := parseCommand("printf '%s|' {token}")
		if err != nil {
			t.Fatal(err)
		}
		m := &Mapping{commands: map[stats.Reason]command{stats.ReasonIncident: parsed}}
		net := &petri.Net{Places: make([]petri.Place, 1), Transitions: make([]petri.Transition, 1)}
		line := m.commandFor(net, &ledger.Token{ID: id}, stats.Wait{Reason: stats.ReasonIncident})
		out, err := exec.CommandContext(t.Context(), "bash", "-c", line).Output()
		if err != nil || string(out) != id+"|" {
			t.Errorf("%s prints %q, %v; expected %q", line, out, err, id)
		}
	}
}

func TestBadCommandsAreRefused(t *testing.T) {
	for line, want := range map[string]string{
		"-- command: incident: retry {job}":                  `x.sql:1:1: command for incident: "{job}"; expected one of {token}, {instance}, {net}, {place}, {transition}`,
		"-- command: incident: retry {token":                 `x.sql:1:1: command for incident: "{token"; expected one of`,
		"-- command: incident: retry '{token}'":              `x.sql:1:1: command for incident: {token} in quotes; expected it outside`,
		`-- command: incident: retry "a`:                     `x.sql:1:1: command for incident: a quote " that does not end`,
		"-- command: broken: retry {token}":                  `x.sql:1:1: "broken"; expected a reason that has no command yet`,
		"-- command: incident: " + strings.Repeat("x", 1025): `x.sql:1:1: command for incident: 1025 bytes; expected at most 1024`,
		"-- command: incident: a\n-- command: incident: b":   `x.sql:2:1: "incident"; expected a reason that has no command yet`,
	} {
		_, err := ReadMapping(strings.NewReader(line+"\n"), "x.sql")
		if err == nil || !strings.HasPrefix(err.Error(), want) {
			t.Errorf("%.60s: %v; expected %s", line, err, want)
		}
	}
}
