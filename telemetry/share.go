// SPDX-License-Identifier: Apache-2.0

package telemetry

import (
	"fmt"
	"strconv"
	"strings"
)

// Where many collectors share the sources of a subject space, the NATS server
// can divide them: it maps each Snapshot and Bye subject to one below
// PREFIX.shared.N.K, by its partition K of N over the tokens of net and source,
// or below PREFIX.shared.Nn.K by its partition over the token of the net alone.
// A mapped message is no longer published on its plain subject.

// Shared matches every Snapshot and Bye subject that the server maps to share
// index (from 1) of count. With a count of 0 it matches all shares.
func (s Subjects) Shared(index, count int, byNet bool) string {
	if count == 0 {
		return s.Prefix() + ".shared.*.*.*.*.*"
	}
	return fmt.Sprintf("%s.shared.%s.%d.*.*.*", s.Prefix(), shares(count, byNet), index-1)
}

// shares is the subject token for the number of shares and for the tokens that
// divide them.
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

// Mappings returns the configuration of a NATS server that divides the sources
// into count shares. It belongs into an account, or at the top of the
// configuration if there are no accounts.
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
