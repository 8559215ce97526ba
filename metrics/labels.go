// SPDX-License-Identifier: Apache-2.0

package metrics

import (
	"fmt"
	"strconv"
	"strings"
	"unicode/utf8"

	dto "github.com/prometheus/client_model/go"

	"github.com/pnagent/pnagent/collector/merge"
	"github.com/pnagent/pnagent/petri"
	"github.com/pnagent/pnagent/stats"
)

// pair returns a label. Pairs are shared between series and never written to.
func pair(name, value string) *dto.LabelPair {
	value = valid(value)
	return &dto.LabelPair{Name: &name, Value: &value}
}

// valid returns a text as a label value: itself, or with the octets that are not
// UTF-8 as \xNN, so that ids that differ stay different.
func valid(text string) string {
	if utf8.ValidString(text) {
		return text
	}
	var b strings.Builder
	for i := 0; i < len(text); {
		r, n := utf8.DecodeRuneInString(text[i:])
		if r == utf8.RuneError && n == 1 {
			fmt.Fprintf(&b, `\x%02x`, text[i])
		} else {
			b.WriteString(text[i : i+n])
		}
		i += n
	}
	return b.String()
}

// netLabels are the labels of one net. Those of its places and transitions are
// made once per definition.
type netLabels struct {
	def         *petri.Net
	net         *dto.LabelPair
	places      []*dto.LabelPair
	transitions []*dto.LabelPair
	// What they are called; nil for what is of no file of BPMN.
	calledPlaces, calledTransitions []*dto.LabelPair

	noPlace     *dto.LabelPair
	sources     []*dto.LabelPair
	sourceNames []string
	regions     []*dto.LabelPair // of each source, empty for none
	regionNames []string
}

func newNetLabels(net string) *netLabels {
	return &netLabels{net: pair("net", net), noPlace: pair("place", "")}
}

// define sets the definition, if it differs from the last.
func (l *netLabels) define(def *petri.Net) {
	if l.def == def {
		return
	}
	l.def = def
	l.places, l.calledPlaces = make([]*dto.LabelPair, len(def.Places)), make([]*dto.LabelPair, len(def.Places))
	for i := range def.Places {
		p := &def.Places[i]
		l.places[i], l.calledPlaces[i] = pair("place", p.ID), called(p.Called)
	}
	l.transitions, l.calledTransitions = make([]*dto.LabelPair, len(def.Transitions)), make([]*dto.LabelPair, len(def.Transitions))
	for i := range def.Transitions {
		t := &def.Transitions[i]
		l.transitions[i], l.calledTransitions[i] = pair("transition", t.ID), called(t.Called)
	}
}

// called returns the label of what an element is called; nil for none.
func called(c petri.Called) *dto.LabelPair {
	if c.Kind == "" {
		return nil
	}
	return pair("called", c.String())
}

// place returns the label of a place by its index, with an empty value for
// stats.NoPlace.
func (l *netLabels) place(i int32) *dto.LabelPair {
	if i == stats.NoPlace {
		return l.noPlace
	}
	return l.places[i]
}

// setSources makes the labels of the sources that are new in their position.
func (l *netLabels) setSources(sources []*merge.Source) {
	for i, src := range sources {
		switch {
		case i == len(l.sources):
			l.sources = append(l.sources, pair("source", src.Name))
			l.sourceNames = append(l.sourceNames, src.Name)
		case l.sourceNames[i] != src.Name:
			l.sources[i], l.sourceNames[i] = pair("source", src.Name), src.Name
		}
		switch {
		case i == len(l.regions):
			l.regions = append(l.regions, pair("region", src.Region))
			l.regionNames = append(l.regionNames, src.Region)
		case l.regionNames[i] != src.Region:
			l.regions[i], l.regionNames[i] = pair("region", src.Region), src.Region
		}
	}
}

// fixedLabels are the labels that all nets share.
type fixedLabels struct {
	active, deadlocked *dto.LabelPair
	text, sent         *dto.LabelPair
	ladder             []rungLabel
	reasons            []*dto.LabelPair
	priorities         [stats.Priorities]*dto.LabelPair
	refusals           [len(stats.RefusedRequests{})]*dto.LabelPair
}

type rungLabel struct {
	micros int64
	label  *dto.LabelPair
}

func newFixedLabels() *fixedLabels {
	f := &fixedLabels{active: pair("state", "active"), deadlocked: pair("state", "deadlocked"), text: pair("form", "text"), sent: pair("form", "sent")}
	for _, step := range stats.AgeSteps() {
		f.ladder = append(f.ladder, rungLabel{micros: step.Age, label: pair("age", step.Label)})
	}
	for reason := stats.ReasonUnknown; reason <= stats.LastReason; reason++ {
		f.reasons = append(f.reasons, pair("reason", reason.String()))
	}
	for p := range f.priorities {
		f.priorities[p] = pair("priority", strconv.Itoa(p))
	}
	for i, reason := range stats.RefusedReasons() {
		f.refusals[i] = pair("reason", reason)
	}
	return f
}

// reason returns the label of a reason, "unknown" for an unknown one.
func (f *fixedLabels) reason(r stats.Reason) *dto.LabelPair {
	if int(r) < len(f.reasons) {
		return f.reasons[r]
	}
	return f.reasons[stats.ReasonUnknown]
}
