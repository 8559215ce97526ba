// SPDX-License-Identifier: Apache-2.0

package sidecar

import (
	"context"
	"slices"
	"sync"
	"time"

	"github.com/pnagent/pnagent/collector/alarm"
	"github.com/pnagent/pnagent/collector/merge"
	"github.com/pnagent/pnagent/mib"
	"github.com/pnagent/pnagent/mib/smi"
)

// layout makes the SNMP tables. While sources report nothing new it makes them when they are
// asked for, because only ages differ.
type layout struct {
	mu     sync.Mutex // guards the fields below and the builders
	view   *merge.View
	alarms *alarm.ActiveSet
	built  *merge.View // of the tables
	at     time.Time   // when they were made
	said   string      // the error then, or ""
}

// tableAge is the age from which a table is made again for a reader. While sources report,
// there is a newer one each second.
const tableAge = 1200 * time.Millisecond

// recalled reports whether a View has values that sources sent to the previous process.
func recalled(v *merge.View) bool {
	return slices.ContainsFunc(v.Nets, func(n *merge.NetView) bool { return n.Recalled > 0 })
}

// layOut makes the SNMP tables of each View that reports something new, and after an alarm
// was raised or cleared.
func (s *Sidecar) layOut(ctx context.Context) error {
	views, states := s.collector.Subscribe(), s.watcher.Subscribe()
	view, alarms := <-views, <-states
	waiting, changed := true, true
	for {
		s.show(alarms, changed)
		if waiting && !recalled(view) {
			waiting = false
			close(s.current)
		}
		select {
		case view = <-views:
			changed = false
		case state := <-states:
			changed = state.Differs(alarms)
			alarms = state
		case <-ctx.Done():
			return nil
		}
	}
}

// show makes the tables of the newest View, unless they would differ in ages alone.
func (s *Sidecar) show(alarms *alarm.ActiveSet, changed bool) {
	l := &s.layout
	l.mu.Lock()
	defer l.mu.Unlock()
	l.alarms = alarms
	s.catchUp(changed || l.said != "")
}

// showRows makes the tables of the newest View before a notification names a row of them.
func (s *Sidecar) showRows() {
	s.layout.mu.Lock()
	defer s.layout.mu.Unlock()
	s.catchUp(false)
}

// catchUp makes the tables if they must be made, or if the newest View reports something new.
// The caller holds the mutex of the layout.
func (s *Sidecar) catchUp(must bool) {
	l := &s.layout
	l.view = s.collector.View()
	if must || !merge.SameReport(l.built, l.view) {
		s.build()
	}
}

// freshTable returns the table for a reader.
func (s *Sidecar) freshTable() *smi.Table {
	if l := &s.layout; l.mu.TryLock() { // else one is being made
		if !l.at.IsZero() && time.Since(l.at) > tableAge {
			s.build()
		}
		l.mu.Unlock()
	}
	return s.table.Load()
}

// build makes the tables and logs what is wrong with them, unless that was said just before.
// The caller holds the mutex of the layout.
func (s *Sidecar) build() {
	s.recordOthers()
	l := &s.layout
	l.built, l.at = l.view, time.Now()
	table, err := s.builder.Build(l.view, l.alarms, l.at.UnixMicro())
	if table != nil {
		s.table.Store(table)
	}
	s.logWaiting(l.view, s.builder.Waiting())
	if s.contexts != nil && l.view != nil {
		s.buildContexts(l.view, l.alarms)
	}
	said := l.said
	l.said = ""
	if err != nil {
		l.said = err.Error()
	}
	if err != nil && l.said != said {
		s.cfg.Log.Error("laying out the SNMP table", "err", err)
	}
}

// logWaiting logs which nets of a View SNMP does not show yet, once, and when it shows them.
func (s *Sidecar) logWaiting(view *merge.View, nets []mib.Waiting) {
	for _, was := range s.waiting {
		waits := slices.ContainsFunc(nets, func(n mib.Waiting) bool { return n.Net == was.Net })
		if !waits && view != nil && view.Net(was.Net) != nil {
			s.cfg.Log.Info("SNMP shows the net now", "net", was.Net)
		}
	}
	for _, n := range nets {
		if !slices.ContainsFunc(s.waiting, func(was mib.Waiting) bool { return n.Net == was.Net }) {
			s.cfg.Log.Warn("SNMP does not show the net until a source has reported it for a minute: it has too many names to number them before", "net", n.Net, "names", n.Names)
		}
	}
	s.waiting = nets
}

// buildContexts makes the tables of the contexts, and serves those of new nets.
func (s *Sidecar) buildContexts(view *merge.View, alarms *alarm.ActiveSet) {
	added, err := s.contexts.Build(view, alarms, time.Now().UnixMicro())
	if err != nil {
		s.cfg.Log.Error("laying out the SNMP tables of contexts", "err", err)
	}
	if !added {
		return
	}
	tables := s.contexts.Tables()
	for name, newest := range tables {
		tables[name] = func() *smi.Table {
			s.freshTable()
			return newest()
		}
	}
	if err := s.subagent.SetContexts(tables); err != nil {
		s.cfg.Log.Error("serving AgentX contexts", "err", err)
	}
}
