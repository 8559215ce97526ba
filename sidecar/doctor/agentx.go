// SPDX-License-Identifier: Apache-2.0

package doctor

import (
	"context"
	"fmt"
	"time"

	"github.com/pnagent/pnagent/agentx"
	"github.com/pnagent/pnagent/mib/smi"
)

// agentx reports whether subagents get a session with the master. The sidecar's own session is
// the best witness. Without one the doctor registers the subtree itself, with an empty table, and
// unregisters it at once.
func (d *doctor) agentx(ctx context.Context) []Finding {
	cfg := &d.Sidecar
	f := Finding{Check: "agentx", Looked: fmt.Sprintf("%s, as user %s", cfg.AgentX, d.self), Outcome: OK}
	var own string
	if d.view != nil && d.view.AgentX != nil {
		if d.view.AgentX.Connected {
			f.Looked, f.Cause = cfg.AgentX+", as the sidecar sees it", "the sidecar has a session since "+d.view.AgentX.Since.Time().UTC().Format(time.RFC3339)
			return []Finding{f}
		}
		own = d.view.AgentX.Reason
	}
	changed := make(chan struct{}, 1)
	s, err := agentx.New(agentx.Config{Addr: cfg.AgentX, Subtrees: []smi.OID{cfg.Root}, Tables: func() *smi.Table { return nil }, Priority: cfg.AgentXPriority,
		ID: cfg.Root, Description: "pnagent doctor", StateChanged: func() {
			select {
			case changed <- struct{}{}:
			default:
			}
		}})
	if err != nil {
		f.Outcome, f.Cause, f.Hints = Fails, err.Error(), []Hint{d.flag("agentx", "unix:/var/agentx/master")}
		return []Finding{f}
	}
	before := s.Stats().Reason
	ctx, end := context.WithCancel(ctx)
	ended := make(chan struct{})
	go func() { defer close(ended); _ = s.Run(ctx) }() // it returns nil
	for s.Stats().State != agentx.StateUp && s.Stats().Reason == before && ctx.Err() == nil {
		select {
		case <-changed:
		case <-ctx.Done():
		}
	}
	now := s.Stats()
	end()
	<-ended
	switch {
	case now.State == agentx.StateUp && own == "":
		f.Cause = "a session was opened and the subtree registered"
	case now.State == agentx.StateUp:
		f.Outcome, f.Cause = Fails, "user "+d.self+" gets a session, and the sidecar does not: "+own
		f.Hints = []Hint{{snmpd, "agentXPerms 0660 0550 root GROUP-OF-THE-SIDECAR"}, {"run", "usermod -aG GROUP-OF-THE-SOCKET USER-OF-THE-SIDECAR"}}
	case now.Reason == before:
		f.Outcome, f.Cause = Fails, "the master did not answer in time"
		f.Hints = []Hint{{"run", "systemctl restart snmpd"}}
	default:
		f.Outcome, f.Cause = Fails, now.Reason
		for _, line := range agentx.Lines(cfg.AgentX, now.Err) {
			f.Hints = append(f.Hints, Hint{snmpd, line})
		}
		if len(f.Hints) == 0 {
			f.Hints = []Hint{d.flag("agentx.priority", "127")}
		}
	}
	return []Finding{f}
}
