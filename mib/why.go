// SPDX-License-Identifier: Apache-2.0

package mib

import (
	"fmt"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/pnagent/pnagent/petri"
	"github.com/pnagent/pnagent/stats"
)

// reasonTexts caches the sentences for the oldest tokens of a net's places, because a stuck token
// waits for the same condition tick after tick. It is safe for concurrent use.
type reasonTexts struct {
	mu     sync.Mutex
	places []placeTexts // as netPlan.places
}

type placeTexts struct {
	waits [stats.MaxStuck][]stats.Wait
	text  [stats.MaxStuck]string
}

func (w *reasonTexts) of(at *stuckAt, waits []stats.Wait) string {
	w.mu.Lock()
	defer w.mu.Unlock()
	p := &w.places[at.place]
	if p.text[at.rank] == "" || !slices.Equal(p.waits[at.rank], waits) {
		p.waits[at.rank], p.text[at.rank] = waits, whyText(at.net.def, waits)
	}
	return p.text[at.rank]
}

// whyText returns what each transition waits for: "ship: 2 tokens short in stock".
func whyText(def *petri.Net, waits []stats.Wait) string {
	if len(waits) == 0 {
		return "not reported"
	}
	var b strings.Builder
	for i, w := range waits {
		if i > 0 {
			b.WriteString("; ")
		}
		if b.Len() > maxText {
			break
		}
		b.WriteString(transitionAt(def, w.Transition).Label() + ": " + waitText(def, w))
	}
	return b.String()
}

func waitText(def *petri.Net, w stats.Wait) string { return w.Text(reasonText(def, w)) }

func reasonText(def *petri.Net, w stats.Wait) string {
	switch w.Reason {
	case stats.ReasonEnabled:
		return "enabled, waits for its turn"
	case stats.ReasonRunning:
		return "running"
	case stats.ReasonDelayed:
		return "delayed until " + time.UnixMicro(w.Until).UTC().Format(time.RFC3339)
	case stats.ReasonGuarded:
		return "its guard is false" + inPlace(def, w.Place)
	case stats.ReasonMissing:
		return fmt.Sprintf("%d tokens short%s", w.Count, inPlace(def, w.Place))
	case stats.ReasonInhibited:
		return fmt.Sprintf("inhibited by %d tokens%s", w.Count, inPlace(def, w.Place))
	case stats.ReasonManual:
		return transitionAt(def, w.Transition).Called.Awaits()
	case stats.ReasonDead:
		return "can never fire again"
	case stats.ReasonIncident:
		return "failed permanently, needs an operator"
	case stats.ReasonNoWorker:
		return "no worker takes it"
	}
	return "not reported"
}

func inPlace(def *petri.Net, place int32) string {
	if place < 0 || int(place) >= len(def.Places) {
		return ""
	}
	return " in " + def.Places[place].Label()
}

func transitionAt(def *petri.Net, t int32) *petri.Transition {
	if t < 0 || int(t) >= len(def.Transitions) {
		return &petri.Transition{ID: "a transition"}
	}
	return &def.Transitions[t]
}
