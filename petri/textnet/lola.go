// SPDX-License-Identifier: Apache-2.0

package textnet

import (
	"bytes"
	"io"

	"github.com/pnagent/pnagent/petri"
)

// ReadLoLA reads a place/transition net in the format of the model checker LoLA: places, the initial
// marking, and transitions with what they consume and produce. The net has the name of its file.
// Bounds (SAFE), fairness, and a question behind the net are ignored with a warning; high-level nets are refused.
func ReadLoLA(in io.Reader, file string, lim Limits) (*petri.Net, []petri.Fault, error) {
	r, err := newReader(in, file, lim, lexLoLA)
	for _, read := range []func() error{r.lolaPlaces, r.lolaMarking, r.lolaTransitions} {
		if err == nil {
			err = read()
		}
	}
	if err != nil {
		return nil, nil, err
	}
	return r.finish()
}

// lexLoLA reads a token of LoLA's format. Comments are in braces, or behind // up to the end of the
// line.
func lexLoLA(r *reader) (token, error) {
	for len(r.rest()) > 0 {
		switch c := r.rest()[0]; {
		case c == ' ' || c == '\t' || c == '\r' || c == '\n':
			r.skip(1)
		case bytes.HasPrefix(r.rest(), []byte("//")):
			line := bytes.IndexByte(r.rest(), '\n')
			if line < 0 {
				line = len(r.rest())
			}
			r.skip(line)
		case c == '{':
			end := bytes.IndexByte(r.rest(), '}')
			if end < 0 {
				return token{pos: r.pos}, r.fault(r.pos, "a comment that begins with { and does not end; expected }")
			}
			r.skip(end + 1)
		default:
			n := bytes.IndexAny(r.rest(), ",;:(){} \t\r\n")
			if n < 0 {
				n = len(r.rest())
			}
			return r.take(max(n, 1), n > 0), nil
		}
	}
	return token{pos: r.pos}, nil
}

// list reads names, separated by commas, up to a semicolon. If numbered, there may be a number behind
// each name, which is 1 if it is not given.
func (r *reader) list(what string, numbered bool, each func(t token, n uint32) error) error {
	done, err := r.accept(";") // an empty list
	for err == nil && !done {
		t, err := r.word(what)
		if err != nil {
			return err
		}
		n := uint32(1)
		if numbered && r.is(":") {
			if err := r.next(); err != nil {
				return err
			}
			if n, err = r.number("a number of tokens", ""); err != nil {
				return err
			}
		}
		if err := each(t, n); err != nil {
			return err
		}
		if done, err = r.accept(";"); err != nil || done {
			return err
		}
		if !r.is(",") {
			return r.expected(`"," or ";"`)
		}
		if err := r.next(); err != nil {
			return err
		}
	}
	return err
}

func (r *reader) lolaPlaces() error {
	if !r.is("PLACE") {
		return r.expected("PLACE, as of a place/transition net")
	}
	r.net.Pos = r.tok.pos
	if err := r.next(); err != nil {
		return err
	}
	for !r.is("MARKING") {
		if err := r.safe(); err != nil {
			return err
		}
		err := r.list("the name of a place", false, func(t token, _ uint32) error {
			if _, known := r.nodeOf[t.text]; known {
				return r.fault(t.pos, "a second place %s; expected every place once", t)
			}
			_, err := r.place(t)
			return err
		})
		if err != nil {
			return err
		}
		if r.tok.text == "" {
			return r.expected("MARKING")
		}
	}
	return nil
}

// safe reads SAFE and a bound, if they are there.
func (r *reader) safe() error {
	pos := r.tok.pos
	has, err := r.accept("SAFE")
	if !has || err != nil {
		return err
	}
	r.warnings.Add(pos, "ignored SAFE: the bounds of places are not checked")
	if !r.is(":") {
		if _, err := r.number("a bound", ""); err != nil {
			return err
		}
	}
	return r.demand(":")
}

// known reads the place that a list names.
func (r *reader) known(t token) (*petri.Place, error) {
	n, known := r.nodeOf[t.text]
	if !known || !n.place {
		return nil, r.fault(t.pos, "%s is not a place; expected one of PLACE", t)
	}
	return &r.net.Places[n.index], nil
}

func (r *reader) lolaMarking() error {
	if err := r.demand("MARKING"); err != nil {
		return err
	}
	return r.list("the name of a place", true, func(t token, n uint32) error {
		p, err := r.known(t)
		if err != nil {
			return err
		}
		return r.mark(p, t, n)
	})
}

func (r *reader) lolaTransitions() error {
	for r.tok.text != "" {
		if r.is("FORMULA") || r.is("ANALYSE") {
			r.warnings.Add(r.tok.pos, "ignored what LoLA is asked about the net ("+r.tok.text+"), and what follows")
			return nil
		}
		if err := r.demand("TRANSITION"); err != nil {
			return err
		}
		id, err := r.word("the name of a transition")
		if err != nil {
			return err
		}
		if n, known := r.nodeOf[id.text]; known && !n.place {
			return r.fault(id.pos, "a second transition %s; expected every transition once", id)
		}
		if _, err := r.transition(id); err != nil {
			return err
		}
		if r.is("STRONG") || r.is("WEAK") {
			r.warnings.Add(r.tok.pos, "ignored the fairness of a transition")
			if err := r.next(); err != nil {
				return err
			}
			if err := r.demand("FAIR"); err != nil {
				return err
			}
		}
		if err := r.lolaArcs("CONSUME", id.text, true); err != nil {
			return err
		}
		if err := r.lolaArcs("PRODUCE", id.text, false); err != nil {
			return err
		}
	}
	return nil
}

// lolaArcs reads the arcs into a transition, or out of it.
func (r *reader) lolaArcs(word, transition string, in bool) error {
	if err := r.demand(word); err != nil {
		return err
	}
	return r.list("the name of a place", true, func(t token, n uint32) error {
		if _, err := r.known(t); err != nil {
			return err
		}
		if in {
			return r.arc(t.text, transition, petri.Normal, n, t.pos)
		}
		return r.arc(transition, t.text, petri.Normal, n, t.pos)
	})
}
