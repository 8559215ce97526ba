// SPDX-License-Identifier: Apache-2.0

package integrations

import (
	"strings"

	"github.com/pnagent/pnagent/internal/plaintext"
)

// services returns the checks under names of Nagios, each of which is there once.
func (s *site) services() []check {
	all, taken := s.checks(), map[string]bool{}
	for i := range all {
		c := &all[i]
		if c.Title = nagiosText(c.Title); taken[c.Title] {
			c.Title += " " + c.Name
		}
		taken[c.Title] = true
	}
	return all
}

// limits returns the options of check_snmp for the limits and the unit of a check.
func limits(c check) string {
	var options []string
	for _, o := range [][2]string{{"-w", c.Warning}, {"-c", c.Critical}, {"-u", c.Units}} {
		if o[1] != "" {
			options = append(options, o[0]+" "+o[1])
		}
	}
	return strings.Join(options, " ")
}

// nagiosText returns a text as a name of Nagios: without what ends a value, begins a comment
// or a macro, or is not allowed in names.
func nagiosText(s string) string {
	return strings.Map(func(r rune) rune {
		if strings.ContainsRune("`~!$%^&*|'\"<>?,()=;{}#\\", r) {
			return '_'
		}
		return r
	}, strings.Join(strings.Fields(plaintext.Escape(s)), " "))
}
