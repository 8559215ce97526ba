// SPDX-License-Identifier: Apache-2.0

package alarms

import (
	"errors"
	"testing"

	"github.com/pnagent/pnagent/e2e/kit"
)

func TestRulesForAlarmsMayStandInTheConfiguration(t *testing.T) {
	t.Parallel()
	config := kit.Write(t, "serve.yaml", kit.Inline(kit.Impatient))
	if r := kit.Pnagent(t, "check-config", config); r.Code != 0 {
		t.Fatalf("check-config: %+v", r)
	}
	url := kit.StartNATS(t)
	side := kit.Serve(t, url, "--config", config, "--mib-dir", "")
	kit.RunEngine(t, url, "berlin", "--bindings", kit.Write(t, "bindings.yaml", kit.StuckBindings), kit.Write(t, "claims.pnml", kit.StuckNet))
	kit.Until(t, "an alarm by the rules is raised", func() error {
		if len(side.Alarms(t)) != 1 {
			return errors.New("none yet")
		}
		return nil
	})
}

func TestFaultsInTheRulesOfTheConfigurationAreAnsweredWithTheirPlace(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct{ config, want string }{
		"a duration":     {kit.Inline("defaults:\n  stuck: {after: soon}"), `serve\.yaml:3:20: found "soon"; expected a duration`},
		"a key":          {kit.Inline("above: 1"), `serve\.yaml:2:3: unknown key "above"; expected a mapping with the keys settle, defaults, overrides, page and sinks`},
		"a list":         {"nats: nats://127.0.0.1:4222\nalarms: [1]\n", `serve\.yaml:2:9: found a sequence; expected a mapping`},
		"of two places":  {kit.Inline("overrides:\n  - {place: a, transition: b, stuck: off}"), `serve\.yaml:3:\d+: a place beside a transition`},
		"nothing at all": {"alarms:\n", `serve\.yaml:1:\d+: found a null; expected a mapping`},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			config := kit.Write(t, "serve.yaml", c.config)
			for _, args := range [][]string{{"check-config", config}, {"serve", "--config", config}} {
				kit.WantFailure(t, kit.Pnagent(t, args...), 1, c.want)
			}
		})
	}
}

// Every other flag overrides the file. Rules in two places are an error.
func TestRulesForAlarmsInTwoPlacesAreRefused(t *testing.T) {
	t.Parallel()
	rules, config := kit.Write(t, "alarms.yaml", kit.Impatient), kit.Write(t, "serve.yaml", kit.Inline(kit.Impatient))
	for _, args := range [][]string{{"--config", config, "--alarms", rules}, {"--alarms", rules, "--config", config}} {
		kit.WantFailure(t, kit.Pnagent(t, append([]string{"serve"}, args...)...), 1,
			`serve\.yaml:2:\d+: rules for alarms here and in --alarms .*alarms\.yaml; expected one of them`)
	}
}
