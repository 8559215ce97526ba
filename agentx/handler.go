// SPDX-License-Identifier: Apache-2.0

package agentx

import (
	"math"
	"time"

	"github.com/pnagent/pnagent/agentx/pdu"
	"github.com/pnagent/pnagent/mib/smi"
)

const (
	// maxAnswer is the largest size of a Response's variables; its fixed part has 8 bytes.
	maxAnswer = pdu.MaxPayload - 8
	// maxBulk is the size at which a GetBulk stops: a little more than a master can send
	// in one UDP datagram. RFC 3416 section 4.2.3 allows a shorter answer.
	maxBulk = 64 << 10
)

// handler makes responses. The result of answer is valid until the next call, so that a
// walk allocates nothing for its answers.
type handler struct {
	contexts *contexts
	walks    *walks // of the context of the request
	response pdu.Response
	last     bool     // the transaction is probably over with the response
	size     int      // of response.Variables, in bytes
	names    []uint32 // the names in response.Variables that come from the table
	cursors  []cursor
}

// answer serves one request of the master. It returns nil for a CleanupSet, which has no
// response. A PDU after a TestSet has no context and comes with the empty one.
func (h *handler) answer(now time.Time, p pdu.PDU) *pdu.Response {
	h.response = pdu.Response{Variables: h.response.Variables[:0]}
	h.size, h.names, h.last = 0, h.names[:0], false
	if h.walks = h.contexts.walks(p.Context); h.walks == nil {
		h.fail(pdu.UnsupportedContext, -1)
		return &h.response
	}
	switch body := p.Body.(type) {
	case *pdu.Get:
		h.get(h.walks.pin(now, p.Header.Transaction, nil), body.Ranges)
		h.last = true
	case *pdu.GetNext:
		h.getNext(h.pin(now, p, body.Ranges), body.Ranges)
		h.reached(now, p, 0, len(body.Ranges))
	case *pdu.GetBulk:
		single := min(int(body.NonRepeaters), len(body.Ranges))
		repeated := body.Ranges[single:]
		table := h.pin(now, p, repeated)
		if h.getNext(table, body.Ranges[:single]) {
			h.repeat(table, repeated, int(body.MaxRepetitions))
			h.reached(now, p, single, len(repeated))
		}
	case *pdu.TestSet:
		if len(body.Variables) > 0 {
			h.fail(pdu.NotWritable, 0)
		}
	case *pdu.CommitSet:
		// No TestSet was ever accepted, so there is nothing to commit.
		h.fail(pdu.CommitFailed, -1)
	case *pdu.UndoSet:
		// Nothing was committed.
	case *pdu.CleanupSet:
		return nil
	default:
		h.fail(pdu.ProcessingError, -1)
	}
	return &h.response
}

// pin returns the table for a request of ranges.
func (h *handler) pin(now time.Time, p pdu.PDU, ranges []pdu.SearchRange) *smi.Table {
	var start smi.OID
	if len(ranges) > 0 {
		start = ranges[0].Start
	}
	return h.walks.pin(now, p.Header.Transaction, start)
}

// reached records in walks the last name of the first of the stride ranges, whose answers
// begin at variable first, and whether that range ended. After an end a master continues
// with another subtree.
func (h *handler) reached(now time.Time, p pdu.PDU, first, stride int) {
	variables := h.response.Variables
	if stride == 0 || len(variables) <= first {
		return
	}
	last := first + (len(variables)-1-first)/stride*stride
	over := variables[last].Value.Type == smi.TypeEndOfMibView
	for i := last; i >= first; i -= stride {
		if v := variables[i]; v.Value.Type != smi.TypeEndOfMibView {
			h.last = h.walks.reached(now, p.Header.Transaction, v.Name, over) && !over
			return
		}
	}
	h.walks.reached(now, p.Header.Transaction, nil, over)
}

// get implements RFC 2741 section 7.2.3.1.
func (h *handler) get(table *smi.Table, ranges []pdu.SearchRange) {
	for i, r := range ranges {
		if !h.add(smi.Variable{Name: r.Start, Value: table.Get(r.Start)}, maxAnswer) {
			h.fail(pdu.GenErr, i)
			return
		}
	}
}

// getNext implements RFC 2741 section 7.2.3.2. It reports whether all variables fit.
func (h *handler) getNext(table *smi.Table, ranges []pdu.SearchRange) bool {
	for i, r := range ranges {
		if !h.add(h.next(table, r), maxAnswer) {
			h.fail(pdu.GenErr, i)
			return false
		}
	}
	return true
}

// next returns the first variable in the range, or endOfMibView with the range's start as
// its name.
func (h *handler) next(table *smi.Table, r pdu.SearchRange) smi.Variable {
	if i := table.Search(r.Start, r.Include); i < table.Len() {
		if v := h.at(table, i); len(r.End) == 0 || v.Name.Compare(r.End) < 0 {
			return v
		}
	}
	return smi.Variable{Name: r.Start, Value: smi.EndOfMibView()}
}

// at returns the i-th variable of the table. Its name is valid until the next answer.
func (h *handler) at(table *smi.Table, i int) smi.Variable {
	start := len(h.names)
	names, value := table.AppendAt(h.names, i)
	h.names = names
	return smi.Variable{Name: names[start:len(names):len(names)], Value: value}
}

// cursor is the position in one repeated range of a GetBulk.
type cursor struct {
	next, end int // indices of the table
	last      smi.OID
}

// repeat implements RFC 2741 section 7.2.3.3 for the repeated ranges: a variable of each
// in turn, until all have ended or the response is full.
func (h *handler) repeat(table *smi.Table, ranges []pdu.SearchRange, repetitions int) {
	h.cursors = h.cursors[:0]
	for _, r := range ranges {
		c := cursor{next: table.Search(r.Start, r.Include), end: table.Len(), last: r.Start}
		if len(r.End) > 0 {
			c.end = table.Search(r.End, true)
		}
		h.cursors = append(h.cursors, c)
	}
	limit := maxAnswer // one of each must fit, or a walk would not advance
	for range repetitions {
		ended := true
		for i := range h.cursors {
			c := &h.cursors[i]
			v := smi.Variable{Name: c.last, Value: smi.EndOfMibView()}
			if c.next < c.end {
				v = h.at(table, c.next)
				c.next++
				c.last = v.Name
				ended = false
			}
			if !h.add(v, limit) {
				return
			}
		}
		if ended {
			return
		}
		limit = maxBulk
	}
}

// add appends v to the response, unless that would exceed limit.
func (h *handler) add(v smi.Variable, limit int) bool {
	size := pdu.VariableSize(v)
	if h.size+size > limit {
		return false
	}
	h.size += size
	h.response.Variables = append(h.response.Variables, v)
	return true
}

// fail makes the response an error about variable i of the request, from 0; -1 for an
// error about no variable.
func (h *handler) fail(e pdu.Error, i int) {
	h.response.Error = e
	h.response.Index = uint16(min(i+1, math.MaxUint16))
	h.response.Variables = h.response.Variables[:0]
}
