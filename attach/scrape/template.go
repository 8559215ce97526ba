// SPDX-License-Identifier: Apache-2.0

package scrape

import (
	"fmt"
	"slices"
	"strings"

	dto "github.com/prometheus/client_model/go"
	"github.com/prometheus/common/model"
)

// template is a name with labels, such as "{vhost}/{queue} ready". Equal names
// identify the same row or net.
type template struct {
	text   string
	parts  []string // text and labels alternately, text first
	labels []string
}

func parseTemplate(text string) (template, error) {
	t := template{text: text}
	for rest := text; ; {
		before, after, found := strings.Cut(rest, "{")
		t.parts = append(t.parts, before)
		if !found {
			return t, nil
		}
		name, left, closed := strings.Cut(after, "}")
		if !closed || !model.LegacyValidation.IsValidLabelName(name) {
			return t, fmt.Errorf("%q has no label in its braces; expected such as {queue}", text)
		}
		t.parts, rest = append(t.parts, name), left
		if !slices.Contains(t.labels, name) {
			t.labels = append(t.labels, name)
		}
	}
}

// append appends the name of a series, and reports whether the series has all labels.
func (t *template) append(to []byte, labels []*dto.LabelPair) ([]byte, bool) {
	whole := true
	for i, part := range t.parts {
		if i%2 == 1 {
			part = label(labels, part)
			whole = whole && part != ""
		}
		to = append(to, part...)
	}
	return to, whole
}

// of returns the name for labels.
func (t *template) of(labels []*dto.LabelPair) string {
	name, _ := t.append(nil, labels)
	return string(name)
}

// shape returns the text without the names of labels, which may differ between metrics.
func (t *template) shape() string {
	var out strings.Builder
	for i, part := range t.parts {
		if i%2 == 1 {
			part = "{}"
		}
		out.WriteString(part)
	}
	return out.String()
}
