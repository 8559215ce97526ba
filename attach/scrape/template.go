// SPDX-License-Identifier: Apache-2.0

package scrape

import (
	"fmt"
	"slices"
	"strings"

	dto "github.com/prometheus/client_model/go"
	"github.com/prometheus/common/model"
)

// template is a name with labels in it, such as "{vhost}/{queue} ready". What
// has the same name is the same thing.
type template struct {
	text   string
	parts  []string // text and labels in turn, text first
	labels []string
}

func parseTemplate(text string) (template, error) {
	t := template{text: text}
	for rest := text; ; {
		before, after, found := strings.Cut(rest, "{")
		if t.parts = append(t.parts, before); !found {
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

// append appends the name for a series, and reports whether the series has all
// of its labels.
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

// of is append, for what is made once.
func (t *template) of(labels []*dto.LabelPair) string {
	name, _ := t.append(nil, labels)
	return string(name)
}

// shape is the text with the names of labels left out: metrics may call the
// same thing by different labels.
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
