// SPDX-License-Identifier: Apache-2.0

package collector

import (
	"bytes"
	"errors"
	"fmt"

	"github.com/pnagent/pnagent/petri/pnml"
	"github.com/pnagent/pnagent/stats"
	"github.com/pnagent/pnagent/telemetry"
)

// ErrOtherSize tells that a net has not as many rows as are asked for.
var ErrOtherSize = errors.New("the net has another number of places or transitions")

// FillRows fills in the sums of a net, so that a telemetry.Publisher can speak
// for all sources of a View as one source of a collector above. Times are by
// this collector's clock. A count of more than telemetry.MaxCount, which a message
// may not hold, is filled in as that. The rows share memory with the View: they
// must not be changed.
//
// The error is ErrOtherSize if the net's definition grew, or is not there: a
// collector above must not read rows with a definition that is not theirs.
func (v *View) FillRows(net string, into *stats.Rows) error {
	n := v.Net(net)
	if n == nil || len(n.Rows.Places) != len(into.Places) || len(n.Rows.Transitions) != len(into.Transitions) {
		return fmt.Errorf("rows of net %q for %d places and %d transitions: %w",
			net, len(into.Places), len(into.Transitions), ErrOtherSize)
	}
	copy(into.Places, n.Rows.Places)
	copy(into.Transitions, n.Rows.Transitions)
	into.Net, into.Blocks, into.Columns = n.Rows.Net, n.Rows.Blocks, n.Rows.Columns
	into.Queues, into.Waiting = n.Rows.Queues, n.Rows.Waiting
	boundRows(into)
	return nil
}

// Net returns the net of a name, or nil.
func (v *View) Net(name string) *Net {
	for _, n := range v.Nets {
		if n.Name == name {
			return n
		}
	}
	return nil
}

// Published returns the net as a telemetry.Publisher wants it, with its
// definition as PNML. The error is that of pnml.Write: a union of definitions
// in which one id is a place here and a transition there is no net.
func (n *Net) Published() (telemetry.Net, error) {
	var def bytes.Buffer
	if err := pnml.Write(&def, n.Def); err != nil {
		return telemetry.Net{}, err
	}
	return telemetry.Net{ID: n.Name, PNML: def.Bytes(), Places: len(n.Def.Places), Transitions: len(n.Def.Transitions)}, nil
}
