// SPDX-License-Identifier: Apache-2.0

package agentx

import (
	"context"
	"fmt"

	"github.com/pnagent/pnagent/agentx/pdu"
	"github.com/pnagent/pnagent/mib/smi"
)

// Probe opens a session with the master at an address and closes it. It registers nothing, so
// nothing that the master serves changes.
func Probe(ctx context.Context, addr string) error {
	s, err := New(Config{Addr: addr, Subtrees: []smi.OID{{1, 3}}, Tables: func() *smi.Table { return nil }})
	if err != nil {
		return err
	}
	conn, err := s.dial(ctx)
	if err != nil {
		return fmt.Errorf("dial %v: %w", s.address, err)
	}
	session := newSession(conn, newContexts(s.config.Tables, s.config.Hold), &s.counters, s.flags)
	defer session.end()
	opened, err := s.ask(ctx, session, "", &pdu.Open{Timeout: s.config.timeoutSeconds(), Description: "pnagent check"})
	if err != nil {
		return fmt.Errorf("open a session: %w", err)
	}
	session.id.Store(int64(opened.session))
	s.close(ctx, session, nil)
	return nil
}
