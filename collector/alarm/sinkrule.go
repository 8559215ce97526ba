// SPDX-License-Identifier: Apache-2.0

package alarm

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/pnagent/pnagent/petri/yamlfile"
)

const (
	maxSinks    = 100
	maxSinkName = 64 // bytes
	minRepeat   = time.Minute
)

// SinkRule is a sink of a file of rules: what its recipient gets, and the mapping that says how
// it is reached, which this package does not read.
type SinkRule struct {
	Recipient
	Node yamlfile.Node
}

// SinkKeys are the keys of a sink that this package reads.
func SinkKeys() []string { return []string{"severity", "net", "repeat", "escalate"} }

// Recipients returns the recipients of the rules.
func (r *Rules) Recipients() (all []Recipient) {
	for i := range r.Sinks {
		all = append(all, r.Sinks[i].Recipient)
	}
	return all
}

// readSinks reads the mapping from names of sinks.
func (r *Rules) readSinks(n yamlfile.Node) error {
	var targets []yamlfile.Node // of escalations, by sink
	err := n.Each("a mapping from names of sinks, such as {oncall: {mail: [oncall@example.org]}}", func(key yamlfile.Key, value yamlfile.Node) error {
		if strings.Trim(key.Name, "abcdefghijklmnopqrstuvwxyz0123456789-_") != "" || len(key.Name) > maxSinkName || slices.Contains([]string{"", "agentx", "snmp"}, key.Name) {
			return key.Fault("a sink named %q; expected 1 to %d of a-z, 0-9, - and _, and neither agentx nor snmp", key.Name, maxSinkName)
		}
		s := SinkRule{Recipient: Recipient{Name: key.Name}, Node: value}
		target, err := s.read(value)
		r.Sinks, targets = append(r.Sinks, s), append(targets, target)
		return err
	})
	if err == nil && len(r.Sinks) > maxSinks {
		err = n.Fault("%d sinks; expected at most %d", len(r.Sinks), maxSinks)
	}
	if err != nil {
		return err
	}
	var faults []error
	for i, target := range targets {
		if !target.IsEmpty() {
			faults = append(faults, r.checkEscalation(i, target))
		}
	}
	return errors.Join(faults...)
}

// read reads what the recipient gets. It returns where the file names the sink to escalate to.
func (s *SinkRule) read(n yamlfile.Node) (target yamlfile.Node, err error) {
	err = n.Each("a mapping with mail, webhook or syslog, and what the sink gets", func(key yamlfile.Key, value yamlfile.Node) error {
		switch key.Name {
		case "severity":
			return yamlfile.Into(&s.Severity, severityOf)(value)
		case "net":
			text, ok := value.Scalar()
			s.Net = text
			if !ok || text == "" || len(text) > maxPattern {
				return value.Expected(fmt.Sprintf("a pattern of 1 to %d bytes, such as order-*", maxPattern))
			}
		case "repeat":
			return yamlfile.Into(&s.Repeat, periodOf)(value)
		case "escalate":
			expected := "when and to which sink, such as {after: 30m, to: manager}"
			if err := value.Fields(expected, expected, map[string]func(yamlfile.Node) error{
				"after": yamlfile.Into(&s.EscalateAfter, periodOf),
				"to":    func(to yamlfile.Node) error { target = to; return nil },
			}); err != nil {
				return err
			}
			if target.IsEmpty() || s.EscalateAfter == 0 {
				return value.Expected(expected)
			}
			s.EscalateTo, _ = target.Scalar()
		}
		return nil
	})
	return target, err
}

// checkEscalation checks that a sink escalates to another one, and not in a circle.
func (r *Rules) checkEscalation(i int, target yamlfile.Node) error {
	at := i
	for range r.Sinks {
		to := r.Sinks[at].EscalateTo
		if to == "" {
			return nil
		}
		at = slices.IndexFunc(r.Sinks, func(s SinkRule) bool { return s.Name == to })
		if at < 0 {
			return target.Expected("the name of a sink of this file: one of " + strings.Join(r.sinkNames(), ", "))
		}
	}
	return target.Fault("sink %s escalates to itself, by way of %s; expected a chain that ends", r.Sinks[i].Name, r.Sinks[i].EscalateTo)
}

func (r *Rules) sinkNames() (names []string) {
	for i := range r.Sinks {
		names = append(names, r.Sinks[i].Name)
	}
	return names
}

// periodOf reads the time between two notifications.
func periodOf(n yamlfile.Node) (time.Duration, error) {
	d, err := durationOf(n)
	if err == nil && d < minRepeat {
		err = n.Expected("a minute or more, such as 4h")
	}
	return d, err
}

// readPage reads the address of the live page.
func (r *Rules) readPage(n yamlfile.Node) error {
	text, _ := n.Scalar()
	if !strings.HasPrefix(text, "http://") && !strings.HasPrefix(text, "https://") {
		return n.Expected("the address of the live page, such as https://nets.example.org:9797")
	}
	r.Page = strings.TrimSuffix(text, "/")
	return nil
}
