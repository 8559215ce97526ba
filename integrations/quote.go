// SPDX-License-Identifier: Apache-2.0

package integrations

import (
	"slices"
	"strings"

	"github.com/pnagent/pnagent/internal/plaintext"
)

// yamlText returns a text of one line as a scalar of YAML: plain if it is a word for every
// reader, else in single quotes, in which only these have a meaning.
func yamlText(s string) string {
	s = plaintext.Escape(s)
	reserved := []string{"", "true", "false", "yes", "no", "on", "off", "null", "y", "n"}
	const words = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz_"
	if !slices.Contains(reserved, strings.ToLower(s)) && strings.Trim(s, words) == "" {
		return s
	}
	return "'" + strings.ReplaceAll(s, "'", "''") + "'"
}

// quoted returns a text as a string of Icinga's language.
func quoted(s string) string {
	return `"` + strings.NewReplacer(`\`, `\\`, `"`, `\"`).Replace(plaintext.Escape(s)) + `"`
}
