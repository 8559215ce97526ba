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

// Notice says that a collector refuses messages of a source. It is published as
// JSON on the source's Notice subject while that lasts, every ten seconds at most.
type Notice struct {
	Source string `json:"source"`
	Net    string `json:"net"`
	Epoch  int64  `json:"epoch,omitempty"` // of the process that is refused; 0 if that is not known
	Reason string `json:"reason"`          // Conflict, or a label of pnagent_messages_rejected_total
	Text   string `json:"text"`            // for people
}

// noticeLogged is how often, at most, notices of one reason are logged.
const noticeLogged = time.Minute

// notices is what a Publisher was told.
type notices struct {
	refused atomic.Uint64 // notices about this process
	last    atomic.Pointer[Notice]

	mu     sync.Mutex
	reason string // of the last one that was logged
	logged time.Time
}

// Notice returns what a collector last said about why it refuses messages of this
// source; nil if none did. A Notice about a Conflict comes to both processes: the
// one with its Epoch is refused.
func (p *Publisher) Notice() *Notice { return p.notices.last.Load() }

// noticed takes a notice in, and logs it once a minute at most. Anyone who may
// publish on the subject can send one, so it changes nothing else.
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
	what := "collector refuses snapshots"
	if !ours {
		what = "another process publishes as this source"
	}
	p.log.Warn(what, "source", n.Source, "net", n.Net, "epoch", p.epoch, "reason", n.Text)
}
