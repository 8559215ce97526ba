// SPDX-License-Identifier: Apache-2.0

package telemetry

import (
	"fmt"
	"strconv"
	"strings"
)

// Where many collectors share the sources of a subject space, the NATS server
// can divide them: it maps each Snapshot and Bye subject to one below
// PREFIX.shared.N.K, by its partition K of N over the tokens of net and source, or
// below PREFIX.shared.Nn.K by that over the token of the net alone. Such a message
// does not come by its plain subject any more.

// Shared matches every Snapshot and Bye subject that the server maps to a share,
// the index-th of count from 1 on; with a count of 0 to any share of any number.
func (s Subjects) Shared(index, count int, byNet bool) string {
	if count == 0 {
		return s.Prefix() + ".shared.*.*.*.*.*"
	}
	return fmt.Sprintf("%s.shared.%s.%d.*.*.*", s.Prefix(), shares(count, byNet), index-1)
}

// shares is the token that tells into how many shares, and by what.
func shares(count int, byNet bool) string {
	if byNet {
		return strconv.Itoa(count) + "n"
	}
	return strconv.Itoa(count)
}

// Plain returns the subject as the source published it, and whether it was
// mapped to a share.
func (s Subjects) Plain(subject string) (plain string, mapped bool) {
	rest, mapped := strings.CutPrefix(subject, s.Prefix()+".shared.")
	if !mapped {
		return subject, false
	}
	_, rest, _ = strings.Cut(rest, ".") // the number of shares
	_, rest, mapped = strings.Cut(rest, ".")
	if !mapped {
		return subject, false
	}
	return s.Prefix() + "." + rest, true
}

// Mappings returns what to write into an account of the NATS server, or at the
// top of its configuration where it has no accounts, so that it divides the
// sources into so many shares.
func (s Subjects) Mappings(count int, byNet bool) string {
	tokens := "1,2"
	if byNet {
		tokens = "1"
	}
	var b strings.Builder
	b.WriteString("mappings = {\n")
	for _, kind := range []string{"snapshot", "bye"} {
		fmt.Fprintf(&b, "  %q: %q\n", s.Prefix()+"."+kind+".*.*",
			fmt.Sprintf("%s.shared.%s.{{partition(%d,%s)}}.%s.{{wildcard(1)}}.{{wildcard(2)}}", s.Prefix(), shares(count, byNet), count, tokens, kind))
	}
	b.WriteString("}\n")
	return b.String()
}
