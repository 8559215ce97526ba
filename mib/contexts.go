// SPDX-License-Identifier: Apache-2.0

package mib

import (
	"errors"
	"fmt"
	"slices"
	"sync/atomic"

	"github.com/pnagent/pnagent/collector/alarm"
	"github.com/pnagent/pnagent/collector/merge"
	"github.com/pnagent/pnagent/mib/smi"
)

// maxContext is how long the name of a context may be, in bytes (RFC 3411).
const maxContext = 32

// Contexts lays out each net of a View alone, for an SNMP context named after
// it. All share the numbers of one lock, which must be a file.
type Contexts struct {
	root     smi.OID
	lockPath string
	agent    Agent
	nets     map[string]*context // by the net's id
	refused  map[string]bool     // nets that have no context
}

// context is the table of one net.
type context struct {
	builder *Builder
	table   atomic.Pointer[smi.Table]
}

// NewContexts returns Contexts without nets; see NewBuilder.
func NewContexts(root smi.OID, lockPath string, agent Agent) *Contexts {
	return &Contexts{root: root, lockPath: lockPath, agent: agent, nets: map[string]*context{}, refused: map[string]bool{}}
}

// Build makes the table of every net, as Builder.Build does, and reports whether
// there are nets that had none. A net that is gone from the View keeps its
// context, without rows. A net whose id cannot name a context is an error once.
func (c *Contexts) Build(view *merge.View, alarms *alarm.ActiveSet, now int64) (added bool, err error) {
	var errs []error
	view = view.Present()
	for _, n := range view.Nets {
		if c.nets[n.Name] != nil || c.refused[n.Name] {
			continue
		}
		one, err := c.open(n.Name)
		if err != nil {
			c.refused[n.Name] = true
			errs = append(errs, err)
			continue
		}
		c.nets[n.Name], added = one, true
	}
	for name, n := range c.nets {
		table, err := n.builder.Build(viewOfNet(view, name), alarmsOfNet(alarms, name), now)
		if table != nil {
			n.table.Store(table)
		}
		if err != nil {
			errs = append(errs, fmt.Errorf("context %q: %w", name, err))
		}
	}
	return added, errors.Join(errs...)
}

func (c *Contexts) open(net string) (*context, error) {
	if net == "" || len(net) > maxContext {
		return nil, fmt.Errorf("net %q has no context of its own: the id has %d bytes; expected 1 to %d", net, len(net), maxContext)
	}
	b, err := NewBuilder(c.root, c.lockPath, c.agent)
	if err != nil {
		return nil, fmt.Errorf("net %q has no context of its own: %w", net, err)
	}
	b.numbers.ahead = 0 // the Builder of all nets numbers a new one
	return &context{builder: b}, nil
}

// Tables returns, for each context, what returns its newest table.
func (c *Contexts) Tables() map[string]func() *smi.Table {
	tables := make(map[string]func() *smi.Table, len(c.nets))
	for name, n := range c.nets {
		tables[name] = n.table.Load
	}
	return tables
}

// viewOfNet returns the part of a View that is about one net.
func viewOfNet(v *merge.View, net string) *merge.View {
	one := *v
	one.Nets, one.Sources = nil, nil
	if n := v.Net(net); n != nil {
		one.Nets = []*merge.NetView{n}
	}
	for i := range v.Sources {
		if v.Sources[i].Net == net {
			one.Sources = append(one.Sources, v.Sources[i])
		}
	}
	one.States = merge.StatesOf(one.Sources)
	return &one
}

// alarmsOfNet returns the alarms of one net.
func alarmsOfNet(s *alarm.ActiveSet, net string) *alarm.ActiveSet {
	one := *s
	one.Active = slices.DeleteFunc(slices.Clone(s.Active), func(a alarm.Alarm) bool { return a.Net != net })
	one.Cleared = slices.DeleteFunc(slices.Clone(s.Cleared), func(a alarm.ClearedAlarm) bool { return a.Net != net })
	return &one
}
