// SPDX-License-Identifier: Apache-2.0

package main

import (
	"slices"
	"sync/atomic"
	"time"

	"github.com/pnagent/pnagent/alarm"
	"github.com/pnagent/pnagent/collector"
	"github.com/pnagent/pnagent/mib"
	"github.com/pnagent/pnagent/smi"
)

// maxContext is how long the name of a context may be, in bytes (RFC 3411).
const maxContext = 32

// contexts serve each net alone, in an AgentX context named after it, beside the
// default context, which has all of them.
type contexts struct {
	side *sidecar
	nets map[string]*netContext // by the net's id
	told map[string]bool        // nets whose ids are no name of a context
}

// netContext is one net's own table.
type netContext struct {
	builder *mib.Builder
	table   atomic.Pointer[smi.Table]
}

// build makes the table of every net of a View. A net that is gone from the View
// keeps its context until the sidecar ends, without rows.
func (c *contexts) build(view *collector.View, alarms *alarm.State) {
	added := false
	for _, n := range view.Nets {
		if _, known := c.nets[n.Name]; !known && c.admit(n.Name) {
			added = true
		}
	}
	for name, n := range c.nets {
		table, err := n.builder.Build(viewOf(view, name), stateOf(alarms, name), time.Now().UnixMicro())
		if table != nil {
			n.table.Store(table)
		}
		if err != nil {
			c.side.cfg.log.Error("laying out the SNMP table of a context", "context", name, "error", err)
		}
	}
	if added {
		c.serve()
	}
}

// admit makes the context of a net, unless its id is no name of one.
func (c *contexts) admit(net string) bool {
	if net == "" || len(net) > maxContext {
		if !c.told[net] {
			c.told[net] = true
			c.side.cfg.log.Warn("a net has no AgentX context of its own: its id is no name of a context", "net", net, "longest", maxContext)
		}
		return false
	}
	b, err := mib.NewBuilder(c.side.cfg.root, c.side.cfg.lockPath, c.side.agent)
	if err != nil {
		c.side.cfg.log.Error("making the AgentX context of a net", "net", net, "error", err)
		return false
	}
	c.nets[net] = &netContext{builder: b}
	return true
}

func (c *contexts) serve() {
	tables := make(map[string]func() *smi.Table, len(c.nets))
	for name, n := range c.nets {
		tables[name] = n.table.Load
	}
	if err := c.side.subagent.SetContexts(tables); err != nil {
		c.side.cfg.log.Error("serving AgentX contexts", "error", err)
	}
}

// viewOf returns what a View says of one net.
func viewOf(v *collector.View, net string) *collector.View {
	one := *v
	one.Nets, one.Sources = nil, nil
	if n := v.Net(net); n != nil {
		one.Nets = []*collector.Net{n}
	}
	for i := range v.Sources {
		if v.Sources[i].Net == net {
			one.Sources = append(one.Sources, v.Sources[i])
		}
	}
	return &one
}

// stateOf returns the alarms of one net.
func stateOf(s *alarm.State, net string) *alarm.State {
	one := *s
	one.Active = slices.DeleteFunc(slices.Clone(s.Active), func(a alarm.Alarm) bool { return a.Net != net })
	return &one
}
