// SPDX-License-Identifier: Apache-2.0

package merge

import (
	"fmt"
	"slices"

	"github.com/pnagent/pnagent/stats"
	"github.com/pnagent/pnagent/telemetry"
)

// Respondent is a source that can be asked for tokens.
type Respondent struct {
	Source, Digest string
	Place          int   // index in the source's own definition
	Shift          int64 // of its clock, microseconds

	rows columns // of that definition; immutable
}

// Respondents returns the sources that are up and may have tokens in a place.
func (m *Merger) Respondents(net string, place int) []Respondent {
	n := m.nets[net]
	if n == nil {
		return nil
	}
	var out []Respondent
	var row stats.Place
	for _, s := range n.order {
		cols := n.known[s.digest]
		if s.state != Up || s.rows == nil || cols == nil {
			continue
		}
		at := slices.Index(cols.places, int32(place))
		places, _ := s.rows.Size()
		if at < 0 || place >= places || s.columns.Has(stats.ColTokens) && s.rows.PlaceAt(place, &row).Tokens == 0 {
			continue
		}
		out = append(out, Respondent{Source: s.name, Digest: s.digest, Place: at, Shift: s.clock.shift, rows: *cols})
	}
	return out
}

// Translate converts tokens from a source's definition and clock to the union and
// the collector's clock.
func (a *Respondent) Translate(tokens []stats.FoundToken) error {
	for i := range tokens {
		t := &tokens[i]
		t.Injected = max(t.Injected+a.Shift, 1)
		for j := range t.Waits {
			w := &t.Waits[j]
			if int(w.Transition) >= len(a.rows.transitions) || int(w.Place) >= len(a.rows.places) {
				return fmt.Errorf("%w: source %q waits outside its definition", telemetry.BadIndex, a.Source)
			}
			w.Transition = a.rows.transitions[w.Transition]
			if w.Place >= 0 {
				w.Place = a.rows.places[w.Place]
			}
			if w.Until != 0 {
				w.Until = max(w.Until+a.Shift, 1)
			}
		}
	}
	return nil
}
