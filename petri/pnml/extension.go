// SPDX-License-Identifier: Apache-2.0

package pnml

import (
	"encoding/base64"
	"strconv"

	"github.com/pnagent/pnagent/petri"
	"github.com/pnagent/pnagent/petri/xmlscan"
)

// tool and toolVersion mark the sections with what PNML cannot express: guards,
// triggers, defaults, transitions that preempt, open places, roles, scopes and variables.
// Their values are attributes, which keep white space.
const (
	tool        = "pnagent"
	toolVersion = "1"
)

// invisible is the value of the attribute activity by which ProM and pm4py mark a
// silent transition.
const invisible = "$invisible$"

// maxSection bounds the elements of a section of a place, a transition or an arc.
const maxSection = 1000

// own reads a <toolspecific> section of Write, and skips those of other tools. count is called
// for each element.
func (n *netReader) own(e *element, count func() error, code func(c coder)) error {
	version := e.attr("version")
	switch {
	case e.attr("tool") != tool:
		return n.Skip()
	case version != toolVersion:
		n.faults.Add(e.pos, "<toolspecific> of %s in version %s; expected version %s", tool, xmlscan.Quote(version), toolVersion)
		return n.Skip()
	}
	n.tree.Count = count
	section, err := n.tree.Element()
	if err != nil {
		return err
	}
	d := &decoder{n, section}
	code(d)
	d.rest()
	return nil
}

// ownNode is own for a section of a place, a transition or an arc.
func (n *netReader) ownNode(e *element, code func(c coder)) error {
	return n.own(e, n.AtMost(maxSection), code)
}

func codeTransition(c coder, t *petri.Transition) {
	codeValue(c, "guard", &t.Guard)
	c.child("trigger", t.Trigger != petri.Trigger{}, func(c coder) { codeTrigger(c, &t.Trigger) })
	codeEvent(c, "catches", &t.Trigger.Event)
	codeEvent(c, "throws", &t.Throws)
	c.flag("alternative", &t.Alternative)
	c.flag("preempts", &t.Preempts)
	codeRole(c, &t.Role)
	codeCalled(c, &t.Called)
}

func codeTrigger(c coder, t *petri.Trigger) {
	c.word("kind", t.Kind.String(), func(s string) string {
		for k := petri.TriggerNone; k <= petri.TriggerTimer; k++ {
			if k.String() == s {
				t.Kind = k
				return ""
			}
		}
		return "event, work, delay, time or timer"
	})
	c.text("name", &t.Name, false)
	c.word("micros", digits(t.Micros, t.Micros != 0), func(s string) (expected string) {
		t.Micros, expected = parsed(s, 64, "a whole number of microseconds")
		return expected
	})
	c.word("begins", digits(int64(t.Times), t.Begins), func(s string) (expected string) {
		times, expected := parsed(s, 33, "a whole number, 0 without end")
		t.Begins, t.Times = true, uint32(times)
		return expected
	})
}

// digits returns a number for a word, if it is there.
func digits(v int64, there bool) string {
	if !there {
		return ""
	}
	return strconv.FormatInt(v, 10)
}

// parsed returns the whole number of a word. One of fewer than 64 bits is not negative.
func parsed(s string, bits int, expected string) (int64, string) {
	v, err := strconv.ParseInt(s, 10, bits)
	if err != nil || v < 0 && bits < 64 {
		return 0, expected
	}
	return v, ""
}

func codeEvent(c coder, does string, e *petri.Event) {
	c.child(does, e.Kind != petri.EventNone, func(c coder) {
		c.word("kind", e.Kind.String(), func(s string) string {
			switch s {
			case petri.EventMessage.String():
				e.Kind = petri.EventMessage
			case petri.EventSignal.String():
				e.Kind = petri.EventSignal
			default:
				return "message or signal"
			}
			return ""
		})
		c.text("name", &e.Name, true)
		c.text("key", &e.Key, false)
	})
}

// codeRole codes what a place or a transition is for. A role of a later version is work, with a
// warning, because it only changes how the net is shown.
func codeRole(c coder, r *petri.Role) {
	c.child("role", *r != petri.RoleWork, func(c coder) {
		c.word("value", r.String(), func(s string) string {
			role, known := petri.RoleOf(s)
			if !known {
				c.warn("ignored the role " + xmlscan.Quote(s) + "; expected work, state or data")
			}
			*r = role
			return ""
		})
	})
}

func codeCalled(c coder, called *petri.Called) {
	c.child("called", *called != petri.Called{}, func(c coder) {
		c.text("kind", &called.Kind, true)
		c.text("name", &called.Name, true)
	})
}

func codePlace(c coder, p *petri.Place) {
	codeValue(c, "scope", &p.Scope)
	c.flag("open", &p.Open)
	around := p.Data == petri.DataAround
	c.flag("around", &around)
	if around && p.Data != petri.DataAround { // it was read
		p.Data = petri.DataAround
	}
	c.child("own", false, func(c coder) {
		c.fault("a place whose tokens carry data of their own in a net that shares variables; expected none")
	})
	codeRole(c, &p.Role)
	codeCalled(c, &p.Called)
	codeValue(c, "element", &p.Element)
}

func codeArc(c coder, a *petri.Arc) {
	codeValue(c, "guard", &a.Guard)
	c.flag("default", &a.Default)
	c.child("data", false, func(c coder) {
		c.fault("an arc with data for its tokens; expected variables of the net, and of its scopes")
	})
	c.child("each", false, func(c coder) { c.fault("an arc for each element of a list; expected a scope with a loop") })
	c.child("aside", a.Aside != petri.AsideNone, func(c coder) {
		c.word("value", a.Aside.String(), func(s string) string {
			switch s {
			case petri.AsideAll.String():
				a.Aside = petri.AsideAll
			case petri.AsideOwn.String():
				a.Aside = petri.AsideOwn
			default:
				return "all or own"
			}
			return ""
		})
	})
}

func codeNet(c coder, n *petri.Net) {
	c.flag("shared", &n.Shared)
	codeList(c, "scope", &n.Scopes, codeScope)
	models := 0
	if n.Model != nil {
		models = 1
	}
	c.each("model", models, func(c coder, i int) { codeModel(c, n, i) })
}

func codeScope(c coder, s *petri.Scope) {
	c.at(&s.Pos)
	c.text("id", &s.ID, true)
	c.text("parent", &s.Parent, false)
	c.text("begin", &s.Begin, false)
	c.text("end", &s.End, false)
	c.flag("apart", &s.Apart)
	codeList(c, "local", &s.Local, codeName)
	codeList(c, "leave", &s.Leave, codeName)
	codeList(c, "in", &s.In, codeAssignment)
	codeList(c, "out", &s.Out, codeAssignment)
	c.child("loop", s.Loop != nil, func(c coder) {
		if s.Loop == nil {
			s.Loop = &petri.Loop{}
		}
		codeLoop(c, s.Loop)
	})
}

func codeName(c coder, name *string) { c.text("value", name, true) }

// codeLoop codes how often the activity runs of which a scope is one run.
func codeLoop(c coder, l *petri.Loop) {
	const expected = "a whole number"
	c.word("most", digits(int64(l.Most), l.Most > 0), func(s string) string {
		v, wrong := parsed(s, 32, expected)
		l.Most = uint32(v)
		return wrong
	})
	c.word("first", digits(int64(l.First), l.First > 0), func(s string) string {
		v, wrong := parsed(s, 32, expected)
		l.First = int(v)
		return wrong
	})
	c.text("element", &l.Element, false)
	c.text("into", &l.Into, false)
	c.begun()
	c.flag("parallel", &l.Parallel)
	c.flag("before", &l.Before)
	codeExpression(c, "number", &l.Number)
	codeExpression(c, "list", &l.List)
	codeExpression(c, "until", &l.Until)
	codeExpression(c, "while", &l.While)
	codeExpression(c, "result", &l.Result)
}

// codeExpression codes an expression, and what has it in the source.
func codeExpression(c coder, name string, x *petri.Expression) {
	c.child(name, x.Text != "", func(c coder) {
		c.at(&x.Pos)
		c.text("value", &x.Text, true)
		c.text("of", &x.Of, true)
	})
}

// codeAssignment codes a variable that a run gets or gives.
func codeAssignment(c coder, a *petri.Assignment) {
	c.text("name", &a.Name, false)
	c.text("source", &a.Source, false)
	c.flag("inner", &a.Inner)
	c.flag("leaves", &a.Leaves)
	codeExpression(c, "be", &a.Value)
}

// codeModel codes the document that a net was made from. One that is invalid is ignored with a
// warning, and so is a second one, because it only changes how the net is shown.
func codeModel(c coder, n *petri.Net, i int) {
	m, written := petri.Model{}, n.Model != nil && i == 0
	if written {
		m = *n.Model.Pack()
	}
	packed := base64.StdEncoding.EncodeToString(m.Packed)
	c.text("kind", &m.Kind, true)
	c.text("missing", &m.Missing, false)
	c.text("gzip", &packed, m.Missing == "")
	if written {
		return
	}
	var err error
	m.Packed, err = base64.StdEncoding.DecodeString(packed)
	switch {
	case m.Missing != "":
		m.Packed = nil
	case err != nil || len(m.Packed) > petri.MaxModelPacked:
		c.warn("ignored a <model> whose text is not base64, or too long")
		return
	}
	if i > 0 {
		c.warn("ignored a second <model>")
		return
	}
	n.Model = &m
}
