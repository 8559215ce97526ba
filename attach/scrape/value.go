// SPDX-License-Identifier: Apache-2.0

package scrape

import (
	"github.com/pnagent/pnagent/petri/yamlfile"
)

const expectedValue = "a metric such as name{label=\"value\"}, a list of them, or a mapping of metric, unit, is, missing"

// readValue reads how a column is filled.
func readValue(v yamlfile.Node, s *columnSpec) (*value, error) {
	out := &value{micros: 1e6}
	if word, ok := v.Scalar(); ok {
		return out, out.readWord(v, word, s)
	}
	if _, ok := v.List(); ok {
		return out, out.readSelectors(v)
	}
	err := v.Each(expectedValue, func(key yamlfile.Key, v yamlfile.Node) error {
		return out.readKey(key, v, s)
	})
	if err == nil && len(out.selectors) == 0 {
		err = v.Fault("no metric; expected %s", expectedValue)
	}
	return out, err
}

// readWord reads a value of one word: observed, never, true, or a metric.
func (o *value) readWord(v yamlfile.Node, word string, s *columnSpec) error {
	switch word {
	case "observed":
		if !s.observable() {
			return v.Fault("%s cannot be observed; expected a metric", s.key)
		}
		o.observed = true
		return nil
	case "never":
		if s.kind != counter {
			return v.Fault("%s is no counter, so it cannot be never; expected a metric", s.key)
		}
		o.never = true
		return nil
	case "true":
		if s.fills != 0 {
			return v.Fault("%s cannot be true; expected a metric", s.key)
		}
		o.always = true
		return nil
	}
	return o.readSelectors(v)
}

func (o *value) readSelectors(v yamlfile.Node) error {
	list, ok := v.List()
	if !ok {
		list = []yamlfile.Node{v}
	}
	if len(list) > maxSelectors {
		return v.Fault("more than %d metrics", maxSelectors)
	}
	for _, e := range list {
		text, ok := e.Scalar()
		if !ok {
			return e.Expected(`a metric such as name{label="value"}`)
		}
		s, err := parseSelector(text)
		if err != nil {
			return e.Fault(`%v; expected a metric such as name{label="value"}`, err)
		}
		o.selectors = append(o.selectors, s)
	}
	return nil
}

func (o *value) readKey(key yamlfile.Key, v yamlfile.Node, s *columnSpec) error {
	if key.Name == "metric" {
		return o.readSelectors(v)
	}
	word, err := text(v)
	if err != nil {
		return err
	}
	switch key.Name {
	case "unit":
		units := map[string]float64{"s": 1e6, "ms": 1e3, "us": 1, "ns": 1e-3, "m": 60e6, "h": 3600e6}
		if o.micros = units[word]; o.micros == 0 || s.kind != since && s.kind != last {
			return v.Fault("unit %q of %s; expected h, m, s, ms, us or ns, of a time", word, s.key)
		}
	case "is":
		if o.timestamp = word == "timestamp"; !o.timestamp && word != "age" || s.kind != since && s.kind != last {
			return v.Fault("%s is %q; expected age or timestamp, of a time", s.key, word)
		}
	case "missing":
		return o.readMissing(v, word, s)
	default:
		return key.Expected("metric, unit, is or missing")
	}
	return nil
}

// readMissing reads what no series means.
func (o *value) readMissing(v yamlfile.Node, word string, s *columnSpec) error {
	o.zero, o.observed = word == "zero", word == "observed"
	switch {
	case word == "unknown":
	case o.zero && s.kind == since:
		return v.Fault("an unknown %s is not zero; expected unknown or observed", s.key)
	case o.observed && !s.observable():
		return v.Fault("%s cannot be observed; expected zero or unknown", s.key)
	case !o.zero && !o.observed:
		return v.Expected("zero, unknown or observed")
	}
	return nil
}
