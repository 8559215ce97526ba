// SPDX-License-Identifier: Apache-2.0

package pnml

import (
	"encoding/base64"
	"strconv"

	"github.com/pnagent/pnagent/petri"
	"github.com/pnagent/pnagent/petri/xmlscan"
)

// tool and toolVersion mark the sections with what PNML cannot express: guards,
// triggers, defaults, transitions that preempt, open places, roles, scopes, variables and data of arcs.
// Their values are attributes, which keep white space.
const (
	tool        = "pnagent"
	toolVersion = "1"
)

// invisible is the value of the attribute activity by which ProM and pm4py mark a
// silent transition.
const invisible = "$invisible$"

// own reads a <toolspecific> section of Write, child by child, and skips those of
// other tools.
func (n *netReader) own(e *element, child func(c *element) error) error {
	version := e.attr("version")
	switch {
	case e.attr("tool") != tool:
		return n.Skip()
	case version != toolVersion:
		n.faults.Add(e.pos, "<toolspecific> of %s in version %s; expected version %s", tool, xmlscan.Quote(version), toolVersion)
		return n.Skip()
	}
	return n.each(e, elements, child)
}

func (n *netReader) ownTransition(e *element, t *petri.Transition) error {
	t.Silent = t.Silent || e.attr("activity") == invisible
	return n.own(e, func(c *element) error {
		switch c.name {
		case "guard":
			return n.value(c, &t.Guard)
		case "trigger":
			return n.trigger(c, &t.Trigger)
		case "catches":
			return n.event(c, &t.Trigger.Event)
		case "throws":
			return n.event(c, &t.Throws)
		case "alternative":
			return n.flag(c, &t.Alternative)
		case "preempts":
			return n.flag(c, &t.Preempts)
		case "role":
			return n.role(c, &t.Role)
		}
		return n.ignore(c)
	})
}

func (n *netReader) ownArc(e *element, a *petri.Arc) error {
	return n.own(e, func(c *element) error {
		switch c.name {
		case "guard":
			return n.value(c, &a.Guard)
		case "default":
			return n.flag(c, &a.Default)
		case "data":
			return n.value(c, &a.Data)
		case "each":
			n.faults.Add(c.pos, "an arc for each element of a list; expected a scope with a loop")
		case "aside":
			return n.aside(c, &a.Aside)
		}
		return n.ignore(c)
	})
}

func (n *netReader) ownPlace(e *element, p *petri.Place) error {
	return n.own(e, func(c *element) error {
		switch c.name {
		case "scope":
			return n.value(c, &p.Scope)
		case "open":
			return n.flag(c, &p.Open)
		case "around":
			p.Data = petri.DataAround
			return n.flag(c, new(bool))
		case "own":
			n.faults.Add(c.pos, "a place whose tokens carry data of their own in a net that shares variables; expected none")
		case "role":
			return n.role(c, &p.Role)
		case "element":
			return n.value(c, &p.Element)
		}
		return n.ignore(c)
	})
}

// role reads what a place or a transition is for. A role of a later version is work, with a
// warning, because it only changes how the net is shown.
func (n *netReader) role(e *element, to *petri.Role) error {
	name := ""
	if err := n.value(e, &name); err != nil {
		return err
	}
	role, known := petri.RoleOf(name)
	if !known {
		n.Warnings.Add(e.pos, "ignored the role "+xmlscan.Quote(name)+"; expected work, state or data")
	}
	*to = role
	return nil
}

// ownNet reads the scopes of a net, and whether it is shared.
func (n *netReader) ownNet(e *element) error {
	return n.own(e, func(c *element) error {
		switch c.name {
		case "shared":
			return n.flag(c, &n.net.Shared)
		case "scope":
			return n.scope(c)
		case "model":
			return n.model(c)
		}
		return n.ignore(c)
	})
}

// model reads the document that a net was made from. One that is invalid is ignored with a
// warning, because it only changes how the net is shown.
func (n *netReader) model(e *element) error {
	m := petri.Model{}
	packed := ""
	err := n.attrs(e, func(name string, value []byte) bool {
		switch name {
		case "kind":
			m.Kind = string(value)
		case "missing":
			m.Missing = string(value)
		case "gzip":
			packed = string(value)
		default:
			return false
		}
		return true
	})
	if err != nil {
		return err
	}
	if m.Missing == "" {
		if m.Packed, err = base64.StdEncoding.DecodeString(packed); err != nil || len(m.Packed) > petri.MaxModelPacked {
			n.Warnings.Add(e.pos, "ignored a <model> whose text is not base64, or too long")
			return n.each(e, elements, n.other)
		}
	}
	if n.net.Model != nil {
		n.Warnings.Add(e.pos, "ignored a second <model>")
		return n.each(e, elements, n.other)
	}
	n.net.Model = &m
	return n.each(e, elements, n.other)
}

// scope reads a scope with its variables.
func (n *netReader) scope(e *element) error {
	if err := n.countNode(); err != nil {
		return err
	}
	s := petri.Scope{Pos: e.pos}
	err := n.attrs(e, func(name string, value []byte) bool {
		switch name {
		case "id":
			s.ID = n.strings.Of(value)
		case "parent":
			s.Parent = n.strings.Of(value)
		case "begin":
			s.Begin = n.strings.Of(value)
		case "end":
			s.End = n.strings.Of(value)
		default:
			return false
		}
		return true
	})
	if err != nil {
		return err
	}
	err = n.each(e, elements, func(c *element) error {
		switch c.name {
		case "apart":
			return n.flag(c, &s.Apart)
		case "local", "leave":
			if err := n.countNode(); err != nil {
				return err
			}
			name, to := "", &s.Local
			if c.name == "leave" {
				to = &s.Leave
			}
			err := n.value(c, &name)
			*to = append(*to, name)
			return err
		case "in":
			return n.assignment(c, &s.In)
		case "out":
			return n.assignment(c, &s.Out)
		case "loop":
			s.Loop = &petri.Loop{}
			return n.loop(c, s.Loop)
		}
		return n.ignore(c)
	})
	n.net.Scopes = append(n.net.Scopes, s)
	return err
}

// flag reads an element that is a flag by its presence.
func (n *netReader) flag(e *element, to *bool) error {
	*to = true
	return n.empty(e, func(string, []byte) bool { return false })
}

// empty reads an element that has attributes only.
func (n *netReader) empty(e *element, take func(name string, value []byte) bool) error {
	if err := n.attrs(e, take); err != nil {
		return err
	}
	return n.each(e, elements, n.other)
}

// value reads an element whose text is the attribute value.
func (n *netReader) value(e *element, to *string) error {
	return n.empty(e, func(name string, value []byte) bool {
		if name != "value" {
			return false
		}
		if *to != "" && *to != string(value) {
			n.faults.Add(e.pos, "a second %s %s after %s; expected one", e.name, xmlscan.Quote(string(value)), xmlscan.Quote(*to))
		}
		*to = n.strings.Of(value)
		return true
	})
}

func (n *netReader) aside(e *element, to *petri.Aside) error {
	value := ""
	err := n.value(e, &value)
	switch value {
	case petri.AsideAll.String():
		*to = petri.AsideAll
	case petri.AsideOwn.String():
		*to = petri.AsideOwn
	default:
		n.faults.Add(e.pos, "an arc that is aside of %s; expected all or own", xmlscan.Quote(value))
	}
	return err
}

func (n *netReader) event(e *element, to *petri.Event) error {
	if *to != (petri.Event{}) {
		n.faults.Add(e.pos, "a second <%s>; expected one", e.name)
	}
	return n.empty(e, func(name string, value []byte) bool {
		switch name {
		case "kind":
			switch string(value) {
			case petri.EventMessage.String():
				to.Kind = petri.EventMessage
			case petri.EventSignal.String():
				to.Kind = petri.EventSignal
			default:
				n.faults.Add(e.pos, "the kind %s of an event; expected message or signal", xmlscan.Quote(string(value)))
			}
		case "name":
			to.Name = n.strings.Of(value)
		case "key":
			to.Key = n.strings.Of(value)
		default:
			return false
		}
		return true
	})
}

func (n *netReader) trigger(e *element, to *petri.Trigger) error {
	if *to != (petri.Trigger{Event: to.Event}) {
		n.faults.Add(e.pos, "a second trigger; expected one")
	}
	return n.empty(e, func(name string, value []byte) bool {
		var err error
		switch name {
		case "kind":
			kind, known := triggerKind(string(value))
			if !known {
				n.faults.Add(e.pos, "the kind %s of a trigger; expected event, work, delay, time or timer", xmlscan.Quote(string(value)))
			}
			to.Kind = kind
		case "name":
			to.Name = n.strings.Of(value)
		case "micros":
			if to.Micros, err = strconv.ParseInt(string(value), 10, 64); err != nil {
				n.faults.Add(e.pos, "the time %s of a trigger; expected a whole number of microseconds", xmlscan.Quote(string(value)))
			}
		case "begins":
			times, err := strconv.ParseUint(string(value), 10, 32)
			if err != nil {
				n.faults.Add(e.pos, "how often a trigger begins an instance, %s; expected a whole number, 0 without end", xmlscan.Quote(string(value)))
			}
			to.Begins, to.Times = true, uint32(times)
		default:
			return false
		}
		return true
	})
}

func triggerKind(s string) (petri.TriggerKind, bool) {
	for k := petri.TriggerNone; k <= petri.TriggerTimer; k++ {
		if k.String() == s {
			return k, true
		}
	}
	return petri.TriggerNone, false
}

func (p printer) ownTransition(t *petri.Transition) {
	if t.Guard == "" && t.Trigger == (petri.Trigger{}) && !t.Eventful() && !t.Preempts && !t.Alternative && t.Role == petri.RoleWork {
		return
	}
	p.beginOwn()
	p.value("guard", t.Guard)
	if t.Trigger != (petri.Trigger{}) {
		p.put("          <trigger kind=\"", t.Trigger.Kind.String(), "\"")
		if t.Trigger.Name != "" {
			p.put(" name=\"", t.Trigger.Name, "\"")
		}
		if t.Trigger.Micros != 0 {
			p.put(" micros=\"", strconv.FormatInt(t.Trigger.Micros, 10), "\"")
		}
		if t.Trigger.Begins {
			p.put(" begins=\"", strconv.FormatUint(uint64(t.Trigger.Times), 10), "\"")
		}
		p.put("/>\n")
	}
	p.event("catches", &t.Trigger.Event)
	p.event("throws", &t.Throws)
	if t.Alternative {
		p.put("          <alternative/>\n")
	}
	if t.Preempts {
		p.put("          <preempts/>\n")
	}
	p.role(t.Role)
	p.put("        </toolspecific>\n")
}

func (p printer) event(does string, e *petri.Event) {
	if e.Kind == petri.EventNone {
		return
	}
	p.put("          <"+does+" kind=\"", e.Kind.String(), "\" name=\"", e.Name)
	if e.Key != "" {
		p.put("\" key=\"", e.Key)
	}
	p.put("\"/>\n")
}

func (p printer) ownPlace(pl *petri.Place) {
	if pl.Scope == "" && !pl.Open && pl.Data == petri.Variables && pl.Role == petri.RoleWork && pl.Element == "" {
		return
	}
	p.beginOwn()
	p.value("scope", pl.Scope)
	if pl.Open {
		p.put("          <open/>\n")
	}
	if pl.Data == petri.DataAround {
		p.put("          <around/>\n")
	}
	p.role(pl.Role)
	p.value("element", pl.Element)
	p.put("        </toolspecific>\n")
}

func (p printer) role(r petri.Role) {
	if r != petri.RoleWork {
		p.value("role", r.String())
	}
}

func (p printer) ownNet(n *petri.Net) {
	if len(n.Scopes) == 0 && !n.Shared && n.Model == nil {
		return
	}
	p.put("    <toolspecific tool=\"", tool, "\" version=\"", toolVersion, "\">\n")
	if n.Shared {
		p.put("      <shared/>\n")
	}
	for i := range n.Scopes {
		p.scope(&n.Scopes[i])
	}
	if m := n.Model; m != nil && m.Missing != "" {
		p.put("      <model kind=\"", m.Kind, "\" missing=\"", m.Missing, "\"/>\n")
	} else if m != nil {
		p.put("      <model kind=\"", m.Kind, "\" gzip=\"", base64.StdEncoding.EncodeToString(m.Packed), "\"/>\n")
	}
	p.put("    </toolspecific>\n")
}

func (p printer) scope(s *petri.Scope) {
	p.put("      <scope id=\"", s.ID, "\"")
	p.attr("parent", s.Parent)
	p.attr("begin", s.Begin)
	p.attr("end", s.End)
	if len(s.Local)+len(s.Leave)+len(s.In)+len(s.Out) == 0 && !s.Apart && s.Loop == nil {
		p.put("/>\n")
		return
	}
	p.put(">\n")
	if s.Apart {
		p.put("        <apart/>\n")
	}
	for _, name := range s.Local {
		p.put("        <local value=\"", name, "\"/>\n")
	}
	for _, id := range s.Leave {
		p.put("        <leave value=\"", id, "\"/>\n")
	}
	p.assignments("in", s.In)
	p.assignments("out", s.Out)
	if s.Loop != nil {
		p.loop(s.Loop)
	}
	p.put("      </scope>\n")
}

// attr writes an attribute, unless it is empty.
func (p printer) attr(name, value string) {
	if value != "" {
		p.put(" "+name+"=\"", value, "\"")
	}
}

func (p printer) ownArc(a *petri.Arc) {
	if a.Guard == "" && !a.Default && a.Data == "" && a.Aside == petri.AsideNone {
		return
	}
	p.beginOwn()
	p.value("guard", a.Guard)
	if a.Default {
		p.put("          <default/>\n")
	}
	p.value("data", a.Data)
	if a.Aside != petri.AsideNone {
		p.value("aside", a.Aside.String())
	}
	p.put("        </toolspecific>\n")
}

func (p printer) beginOwn() {
	p.put("        <toolspecific tool=\"", tool, "\" version=\"", toolVersion, "\">\n")
}

func (p printer) value(name, value string) {
	if value != "" {
		p.put("          <"+name+" value=\"", value, "\"/>\n")
	}
}
