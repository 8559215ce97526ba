// SPDX-License-Identifier: Apache-2.0

package lines

import (
	"log/slog"
	"sync/atomic"
)

// meant is the name by which events mean the only net, if it is none of the net's own
// names. The first event that fits the net decides. From an event with one of the net's
// own names on, only these mean it. It is safe for concurrent use.
type meant struct {
	name atomic.Pointer[string] // nil before such an event; "" if only the net's own names mean it
	net  string
	log  *slog.Logger
}

// own notes an event with a name of the net's own.
func (m *meant) own() {
	if before := m.name.Load(); before != nil && *before == "" {
		return
	}
	none := ""
	if before := m.name.Swap(&none); before != nil && *before != "" {
		m.log.Warn("events name several nets, of which the only net is one; those with another name are dropped from now on", "net", m.net, "dropped", *before)
	}
}

// by reports whether another name means the net. fits is whether the net has the
// transition or the place of the event.
func (m *meant) by(name []byte, fits bool) bool {
	before := m.name.Load()
	if before == nil && fits && validName(name) && len(name) > 0 {
		first := string(name)
		if m.name.CompareAndSwap(nil, &first) {
			m.log.Info("events name the only net differently; other names than this one and the net's own are dropped", "net", m.net, "called", first)
			return true
		}
		before = m.name.Load() // of another input
	}
	return before != nil && *before != "" && *before == string(name)
}
