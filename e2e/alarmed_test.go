// SPDX-License-Identifier: Apache-2.0

package e2e

import (
	"errors"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/pnagent/pnagent/dashboards"
)

// alarmed checks that Prometheus fires a rule for what a sidecar shows now: the rule of
// this name reads the family, and a series of the family is above 0, with one of the
// reasons that the rule names, if it names any.
func (w web) alarmed(t *testing.T, rule, family string) {
	t.Helper()
	rules := dashboards.Alerts("pnagent")
	i := slices.IndexFunc(rules, func(a dashboards.Alert) bool { return a.Name == rule })
	if i < 0 || !strings.Contains(rules[i].Signal, family) || rules[i].Condition != "> 0" {
		t.Fatalf("no rule %s that fires if %s is above 0", rule, family)
	}
	reasons := regexp.MustCompile("^(.*)$")
	if named := submatch(rules[i].Signal, family+`\{reason=~"([^"]*)"\}`); named != nil {
		reasons = regexp.MustCompile("^(" + named[1] + ")$")
	}
	until(t, "a series of "+family+" is above 0, for which "+rule+" fires", func() error {
		all, err := w.readMetrics()
		if err == nil && !slices.ContainsFunc(all.all(family), func(s series) bool { return s.value > 0 && reasons.MatchString(s.labels["reason"]) }) {
			err = errors.New("there is none")
		}
		return err
	})
}
