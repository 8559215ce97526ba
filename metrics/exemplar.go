// SPDX-License-Identifier: Apache-2.0

package metrics

import (
	"unicode/utf8"

	dto "github.com/prometheus/client_model/go"
	"google.golang.org/protobuf/types/known/timestamppb"

	"github.com/pnagent/pnagent/stats"
)

const (
	// ExemplarLabel is the one label of an exemplar: the name of the instance
	// whose token stayed longest, or whose firing took longest. A case is an
	// instance of a process; the label "instance" is used by Prometheus itself.
	ExemplarLabel = "case"

	// maxExemplar is how many characters the names and values of an exemplar's
	// labels may have together (OpenMetrics 1.0, Exemplars).
	maxExemplar = 128
)

// exemplar is the exemplar of a series, reused between scrapes.
type exemplar struct {
	shown    dto.Exemplar
	list     [1]*dto.Exemplar
	label    dto.LabelPair
	labels   [1]*dto.LabelPair
	at       timestamppb.Timestamp
	name     string
	value    float64
	instance string // that name is made from
	text     string
}

func newExemplar() *exemplar {
	x := &exemplar{name: ExemplarLabel}
	x.label.Name, x.label.Value = &x.name, &x.text
	x.labels[0], x.list[0] = &x.label, &x.shown
	x.shown.Label, x.shown.Value, x.shown.Timestamp = x.labels[:], &x.value, &x.at
	return x
}

func (x *exemplar) fill(s *stats.Slowest) {
	if x.instance != s.Instance {
		x.instance, x.text = s.Instance, exemplarName(s.Instance)
	}
	x.value = float64(s.Micros) / 1e6
	x.at.Seconds, x.at.Nanos = s.At/1e6, int32(s.At%1e6*1e3)
}

// exemplarName returns an instance's name, cut to the allowed length. A cut name
// ends with an ellipsis.
func exemplarName(instance string) string {
	const room = maxExemplar - len(ExemplarLabel)
	name := valid(instance)
	if utf8.RuneCountInString(name) <= room {
		return name
	}
	return string([]rune(name)[:room-1]) + "…"
}

// exemplify adds an exemplar to a filled histogram from newHistogram: at the
// classic bucket of its duration, and besides the native buckets. A duration above
// the last bound needs a bucket of its own, which exists only for that.
func exemplify(h *dto.Histogram, x *exemplar) {
	h.Exemplars = x.list[:]
	for _, b := range h.Bucket {
		if x.value <= *b.UpperBound {
			b.Exemplar = &x.shown
			return
		}
	}
	h.Bucket = h.Bucket[:numBounds+1]
	b := h.Bucket[numBounds]
	b.Exemplar, *b.CumulativeCount = &x.shown, *h.SampleCount
}
