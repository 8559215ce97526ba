// SPDX-License-Identifier: Apache-2.0

package mib

import "strings"

// convention is one TEXTUAL-CONVENTION.
type convention struct {
	name, hint, text, reference, syntax string
	labels                              []string // of an enumeration, from 1
}

func (m *petrinetText) conventions() {
	for _, c := range petrinet().conventions {
		m.names = append(m.names, c.name)
		m.use("TEXTUAL-CONVENTION", strings.Fields(c.syntax + " INTEGER")[0])
		m.printf("%s ::= TEXTUAL-CONVENTION\n", c.name)
		if c.hint != "" {
			m.printf("    DISPLAY-HINT \"%s\"\n", c.hint)
		}
		syntax := c.syntax
		if len(c.labels) > 0 {
			syntax = enumeration(c.labels)
		}
		m.printf("    STATUS      current\n%s%s    SYNTAX      %s\n\n", descriptionClause(c.text), referenceClause(c.reference), syntax)
	}
}

// enumeration returns an INTEGER with its labels, one a line.
func enumeration(labels []string) string {
	const indent = "\n                    "
	return "INTEGER {" + indent + strings.Join(withNumbers(labels), ","+indent) + "\n                }"
}
