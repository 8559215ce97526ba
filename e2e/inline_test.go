// SPDX-License-Identifier: Apache-2.0

package e2e

import (
	"errors"
	"strings"
	"testing"
)

// inline is the rules of a file as a part of serve's own configuration.
func inline(rules string) string {
	return "alarms:\n  " + strings.ReplaceAll(strings.TrimSpace(rules), "\n", "\n  ") + "\n"
}

func TestRulesForAlarmsMayStandInTheConfiguration(t *testing.T) {
	t.Parallel()
	config := write(t, "serve.yaml", inline(impatient))
	if r := pnagent(t, "check-config", config); r.code != 0 {
		t.Fatalf("check-config: %+v", r)
	}
	url := startNATS(t)
	side := serve(t, url, "--config", config, "--mib-dir", "")
	runEngine(t, url, "berlin", "--bindings", write(t, "bindings.yaml", stuckBindings), write(t, "claims.pnml", stuckNet))
	until(t, "an alarm by the rules is raised", func() error {
		if len(side.alarms(t)) != 1 {
			return errors.New("none yet")
		}
		return nil
	})
}

func TestFaultsInTheRulesOfTheConfigurationAreAnsweredWithTheirPlace(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct{ config, want string }{
		"a duration":     {inline("defaults:\n  stuck: {after: soon}"), `serve\.yaml:3:20: found "soon"; expected a duration`},
		"a key":          {inline("above: 1"), `serve\.yaml:2:3: unknown key "above"; expected a mapping with the keys settle, defaults and overrides`},
		"a list":         {"nats: nats://127.0.0.1:4222\nalarms: [1]\n", `serve\.yaml:2:9: found a sequence; expected a mapping`},
		"of two places":  {inline("overrides:\n  - {place: a, transition: b, stuck: off}"), `serve\.yaml:3:\d+: a place beside a transition`},
		"nothing at all": {"alarms:\n", `serve\.yaml:1:\d+: found a null; expected a mapping`},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			config := write(t, "serve.yaml", c.config)
			for _, args := range [][]string{{"check-config", config}, {"serve", "--config", config}} {
				wantFailure(t, pnagent(t, args...), 1, c.want)
			}
		})
	}
}

// Every other flag overrides the file. Rules in two places are an error.
func TestRulesForAlarmsInTwoPlacesAreRefused(t *testing.T) {
	t.Parallel()
	rules, config := write(t, "alarms.yaml", impatient), write(t, "serve.yaml", inline(impatient))
	for _, args := range [][]string{{"--config", config, "--alarms", rules}, {"--alarms", rules, "--config", config}} {
		wantFailure(t, pnagent(t, append([]string{"serve"}, args...)...), 1,
			`serve\.yaml:2:\d+: rules for alarms here and in --alarms .*alarms\.yaml; expected one of them`)
	}
}
