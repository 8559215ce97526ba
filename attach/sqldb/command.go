// SPDX-License-Identifier: Apache-2.0

package sqldb

import (
	"fmt"
	"slices"
	"strings"

	"github.com/pnagent/pnagent/act"
	"github.com/pnagent/pnagent/attach/internal/ledger"
	"github.com/pnagent/pnagent/petri"
	"github.com/pnagent/pnagent/stats"
	"github.com/pnagent/pnagent/telemetry"
)

// command is a command line of a shell with which people act on a token by the engine's own tool. Names in
// braces stand for the ids of the token: text and names in turn, text first.
type command []string

// commandNames are the names of a command.
var commandNames = []string{"token", "instance", "net", "place", "transition"}

// parseCommand reads a command line with names in braces, such as {token}. They are replaced as words
// of the shell, so none may stand in quotes.
func parseCommand(text string) (command, error) {
	if len(text) > telemetry.MaxCommand/2 {
		return nil, fmt.Errorf("%d bytes; expected at most %d", len(text), telemetry.MaxCommand/2)
	}
	var parts command
	quote, from := byte(0), 0
	for i := 0; i < len(text); i++ {
		switch c := text[i]; {
		case quote != 0 && c == quote:
			quote = 0
		case quote == 0 && (c == '\'' || c == '"'):
			quote = c
		case c == '{':
			name, _, closed := strings.Cut(text[i+1:], "}")
			if !closed || !slices.Contains(commandNames, name) {
				if quote == 0 {
					return nil, fmt.Errorf("%.20q; expected one of {%s}", text[i:], strings.Join(commandNames, "}, {"))
				}
				continue
			}
			if quote != 0 {
				return nil, fmt.Errorf("{%s} in quotes; expected it outside", name)
			}
			parts = append(parts, text[from:i], name)
			i += len(name) + 1
			from = i + 1
		}
	}
	if quote != 0 {
		return nil, fmt.Errorf("a quote %c that does not end", quote)
	}
	return append(parts, text[from:]), nil
}

// commandFor returns the command line of the mapping for a token that waits, or "".
func (m *Mapping) commandFor(net *petri.Net, t *ledger.Token, w stats.Wait) string {
	values := map[string]string{"token": t.ID, "instance": t.Instance, "net": net.ID, "place": net.Places[t.Place].ID, "transition": net.Transitions[w.Transition].ID}
	var b strings.Builder
	for i, part := range m.commands[w.Reason] {
		if i%2 == 1 {
			part = act.Quote(values[part])
		}
		b.WriteString(part)
	}
	return b.String()
}
