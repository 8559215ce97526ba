// SPDX-License-Identifier: Apache-2.0

package merge

import (
	"bytes"
	"errors"
	"fmt"

	"github.com/pnagent/pnagent/petri/pnml"
	"github.com/pnagent/pnagent/stats"
	"github.com/pnagent/pnagent/telemetry"
)

// ErrOtherSize means that a net does not have the expected number of rows.
var ErrOtherSize = errors.New("the net has another number of places or transitions")

// FillRows writes the sums of a net to into, so that a telemetry.Publisher can
// publish all sources of a View as one source of a collector above. Times are by
// this collector's clock. A count above telemetry.MaxCount, which a message may
// not hold, is written as MaxCount. The rows share memory with the View and must
// not be changed.
//
// FillRows returns ErrOtherSize if the net has no definition or its definition
// grew: the rows would not match the definition that the collector above reads
// them with.
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

// Net returns the net with a name, or nil.
func (v *View) Net(name string) *NetView {
	for _, n := range v.Nets {
		if n.Name == name {
			return n
		}
	}
	return nil
}

// Published returns the net for a telemetry.Publisher, with its definition as
// PNML. It returns an error if the definition is not a valid net: a union of
// definitions may use one id for a place and for a transition.
func (n *NetView) Published() (telemetry.SourceNet, error) {
	var def bytes.Buffer
	if err := pnml.Write(&def, n.Def); err != nil {
		return telemetry.SourceNet{}, err
	}
	return telemetry.SourceNet{ID: n.Name, PNML: def.Bytes(), Places: len(n.Def.Places), Transitions: len(n.Def.Transitions)}, nil
}
