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
	// whose token stayed longest, or whose firing took longest. A case is what
	// an instance of a process is called, and unlike "instance" the name is not
	// one that Prometheus gives itself.
	ExemplarLabel = "case"

	// maxExemplar is how many characters the names and values of an exemplar's
	// labels may have together (OpenMetrics 1.0, Exemplars).
	maxExemplar = 128
)

// exemplar is the slowest of a series, kept with it and filled in place.
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

// exemplarName is an instance's name as far as there is room for it. One that
// is cut ends with an ellipsis.
func exemplarName(instance string) string {
	const room = maxExemplar - len(ExemplarLabel)
	name := valid(instance)
	if utf8.RuneCountInString(name) <= room {
		return name
	}
	return string([]rune(name)[:room-1]) + "…"
}

// exemplify shows who was slowest in a histogram from newHistogram that is
// filled: at the classic bucket that the duration falls into, and for native
// buckets beside them. What is above the last bound needs a bucket of its own,
// which is there only then.
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
