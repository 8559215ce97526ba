// SPDX-License-Identifier: Apache-2.0

package alarm

import (
	"fmt"
	"time"

	"github.com/pnagent/pnagent/internal/cron"
	"github.com/pnagent/pnagent/internal/zones"
	"github.com/pnagent/pnagent/petri/yamlfile"
)

// expectation is when a transition is to fire, as a file has it.
type expectation struct {
	every, cron, zone yamlfile.Node // empty for a key that is not there
}

// node returns where the value of a key of a rule belongs; nil for a key of another kind.
func (e *expectation) node(key string) *yamlfile.Node {
	return map[string]*yamlfile.Node{"every": &e.every, "cron": &e.cron, "zone": &e.zone}[key]
}

// change returns what sets the expectation of a rule; nil if the file has none.
func (e *expectation) change() (func(*Rule), error) {
	switch {
	case !e.every.IsEmpty() && !e.cron.IsEmpty():
		return nil, e.cron.Fault("cron beside every; expected one of them")
	case !e.zone.IsEmpty() && e.cron.IsEmpty():
		return nil, e.zone.Fault("a zone without cron; expected both, such as {cron: \"0 3 * * *\", zone: Europe/Berlin}")
	case !e.cron.IsEmpty():
		s, err := e.schedule()
		return func(r *Rule) { r.Every, r.Cron = 0, s }, err
	case e.every.IsEmpty():
		return nil, nil
	}
	d, err := durationOf(e.every)
	if err == nil && d < time.Second {
		err = e.every.Expected("a second or more, such as 10m")
	}
	return func(r *Rule) { r.Every, r.Cron = d, nil }, err
}

// schedule reads a cron expression and its zone.
func (e *expectation) schedule() (*cron.Schedule, error) {
	zone := time.UTC
	if !e.zone.IsEmpty() {
		name, _ := e.zone.Scalar()
		in, err := zones.Load(name)
		if err != nil {
			return nil, e.zone.Expected("the name of a time zone, such as Europe/Berlin")
		}
		zone = in
	}
	text, _ := e.cron.Scalar()
	if len(text) > maxPattern {
		return nil, e.cron.Expected(fmt.Sprintf("a cron expression of at most %d bytes", maxPattern))
	}
	s, err := cron.Parse(text, zone)
	if err != nil {
		return nil, e.cron.Fault("cron: %v", err)
	}
	return s, nil
}
