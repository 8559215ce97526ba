// SPDX-License-Identifier: Apache-2.0

package act

import (
	"fmt"
	"strings"

	"github.com/pnagent/pnagent/internal/plaintext"
)

// Quote returns a name as a word of bash. A character that a terminal or a page does not
// show as it is, is escaped, so that what a person copies is the name.
func Quote(name string) string {
	switch {
	case name != "" && !strings.ContainsFunc(name, special):
		return name
	case !strings.ContainsFunc(name, plaintext.Hostile):
		return "'" + strings.ReplaceAll(name, "'", `'\''`) + "'"
	}
	var b strings.Builder
	b.WriteString("$'")
	for _, r := range name {
		switch {
		case r == '\'' || r == '\\':
			b.WriteString(`\` + string(r))
		case plaintext.Hostile(r):
			for _, c := range []byte(string(r)) {
				fmt.Fprintf(&b, `\x%02x`, c)
			}
		default:
			b.WriteRune(r)
		}
	}
	return b.String() + "'"
}

// special reports whether a character can mean something to a shell.
func special(r rune) bool {
	plain := r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z' || r >= '0' && r <= '9' || strings.ContainsRune("_-./:@%+,=", r)
	return !plain
}
