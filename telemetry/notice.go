// SPDX-License-Identifier: Apache-2.0

package telemetry

import (
	"encoding/json"
	"sync"
	"sync/atomic"
	"time"
)

// Conflict is the Reason of a Notice about a second process of a source.
const Conflict = "conflict"

// Notice reports that a collector rejects messages of a source. A collector
// publishes it as JSON on the source's Notice subject while it rejects
// messages, every ten seconds at most.
type Notice struct {
	Source string `json:"source"`
	Net    string `json:"net"`
	Epoch  int64  `json:"epoch,omitempty"` // of the rejected process; 0 if not known
	Reason string `json:"reason"`          // Conflict, or a label of pnagent_messages_rejected_total
	Text   string `json:"text"`            // for operators
}

// noticeLogged is the shortest time between two log lines about notices of one reason.
const noticeLogged = time.Minute

// notices are the notices that a Publisher received.
type notices struct {
	refused atomic.Uint64 // notices about this process
	last    atomic.Pointer[Notice]

	mu     sync.Mutex
	reason string // of the last one that was logged
	logged time.Time
}

// Notice returns the last Notice of a collector that rejects messages of this
// source, or nil. Both processes receive a Notice about a Conflict: the one
// with its Epoch is rejected.
func (p *Publisher) Notice() *Notice { return p.notices.last.Load() }

// noticed stores a notice and logs it, once a minute at most. Any client that
// may publish on the subject can send one, so it changes nothing else.
func (p *Publisher) noticed(payload []byte, now time.Time) {
	var n Notice
	if len(payload) > maxRequest || json.Unmarshal(payload, &n) != nil || n.Reason == "" || n.Source != p.cfg.Source {
		return
	}
	ours := n.Epoch == 0 || n.Epoch == p.epoch
	if ours {
		p.notices.refused.Add(1)
	}
	p.notices.last.Store(&n)
	p.notices.mu.Lock()
	defer p.notices.mu.Unlock()
	if n.Reason == p.notices.reason && now.Sub(p.notices.logged) < noticeLogged {
		return
	}
	p.notices.reason, p.notices.logged = n.Reason, now
	what := "collector rejects snapshots"
	if !ours {
		what = "another process publishes as this source"
	}
	p.log.Warn(what, "source", n.Source, "net", n.Net, "epoch", p.epoch, "reason", n.Text)
}
