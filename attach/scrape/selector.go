// SPDX-License-Identifier: Apache-2.0

package scrape

import (
	"errors"
	"fmt"
	"regexp"
	"strconv"
	"strings"

	dto "github.com/prometheus/client_model/go"
	"github.com/prometheus/common/model"
)

// selector selects series, as a vector selector of PromQL does: a name and matchers in braces.
type selector struct {
	name     string
	matchers []matcher
}

type matcher struct {
	label string
	op    string // = != =~ !~
	value string
	re    *regexp.Regexp // of =~ and !~, for the whole value
}

// parseSelector parses name{label="value",…}. The error quotes the part that is invalid.
func parseSelector(text string) (selector, error) {
	name, rest, braces := strings.Cut(strings.TrimSpace(text), "{")
	s := selector{name: strings.TrimSpace(name)}
	if !model.LegacyValidation.IsValidMetricName(s.name) {
		return s, fmt.Errorf("%q is not the name of a metric", s.name)
	}
	if !braces {
		return s, nil
	}
	for {
		rest = strings.TrimLeft(rest, " ,")
		if strings.TrimSpace(rest) == "}" {
			return s, nil
		}
		m, left, err := parseMatcher(rest)
		if err != nil {
			return s, err
		}
		s.matchers, rest = append(s.matchers, m), left
	}
}

func parseMatcher(text string) (m matcher, rest string, err error) {
	end := strings.IndexAny(text, "=!")
	if end < 0 {
		return m, "", fmt.Errorf("%q is not label=\"value\" or the closing brace", text)
	}
	m.label, rest = strings.TrimSpace(text[:end]), text[end:]
	if !model.LegacyValidation.IsValidLabelName(m.label) {
		return m, "", fmt.Errorf("%q is not the name of a label", m.label)
	}
	for _, op := range []string{"=~", "!~", "!=", "="} {
		if strings.HasPrefix(rest, op) {
			m.op, rest = op, strings.TrimLeft(rest[len(op):], " ")
			break
		}
	}
	quoted, err := strconv.QuotedPrefix(rest)
	if m.op == "" || err != nil {
		return m, "", fmt.Errorf("the value of label %s is not in quotes", m.label)
	}
	if m.value, err = strconv.Unquote(quoted); err != nil {
		return m, "", fmt.Errorf("the value of label %s: %w", m.label, err)
	}
	if m.op == "=~" || m.op == "!~" {
		if m.re, err = regexp.Compile("^(?s:" + m.value + ")$"); err != nil {
			return m, "", errors.New(err.Error())
		}
	}
	return m, rest[len(quoted):], nil
}

// matches reports whether the selector selects a series of its family. A missing label is empty.
func (s *selector) matches(labels []*dto.LabelPair) bool {
	for i := range s.matchers {
		m, value := &s.matchers[i], label(labels, s.matchers[i].label)
		var is bool
		if m.re != nil {
			is = m.re.MatchString(value)
		} else {
			is = m.value == value
		}
		if is == (m.op[0] == '!') {
			return false
		}
	}
	return true
}

// label returns the value of a label, or "".
func label(labels []*dto.LabelPair, name string) string {
	for _, l := range labels {
		if l.GetName() == name {
			return l.GetValue()
		}
	}
	return ""
}
