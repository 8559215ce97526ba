// SPDX-License-Identifier: Apache-2.0

package agentx

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"sync"
	"time"

	"github.com/pnagent/pnagent/agentx/pdu"
	"github.com/pnagent/pnagent/smi"
)

// maxContext is the longest name of a context in bytes: a vacmContextName (RFC
// 3415) is an SnmpAdminString of at most 32.
const maxContext = 32

// checkContexts tells what is wrong with a set of named contexts.
func checkContexts(contexts map[string]func() *smi.Table) error {
	for name, tables := range contexts {
		switch {
		case name == "" || len(name) > maxContext:
			return fmt.Errorf("a context named %q, want 1 to %d bytes", name, maxContext)
		case tables == nil:
			return fmt.Errorf("no tables for context %q", name)
		}
	}
	return nil
}

// SetContexts has these named contexts served, and no others but the default
// one, from now on: what a session that is up lacks is registered, and what it
// has too much is taken back. The error is ErrConfig, and nothing is changed
// then. What a master refuses is logged and tried again with the session.
func (s *Subagent) SetContexts(contexts map[string]func() *smi.Table) error {
	if err := checkContexts(contexts); err != nil {
		return fmt.Errorf("%w: %w", ErrConfig, err)
	}
	wanted := maps.Clone(contexts)
	s.wanted.Store(&wanted)
	select {
	case s.changed <- struct{}{}:
	default: // a change is under way already, and will see this one
	}
	return nil
}

// contexts are the walks of one session by the name of their context.
type contexts struct {
	hold  time.Duration
	plain *walks // of the default context

	mu    sync.RWMutex
	named map[string]*walks
}

func newContexts(tables func() *smi.Table, hold time.Duration) *contexts {
	return &contexts{hold: hold, plain: newWalks(tables, hold), named: make(map[string]*walks)}
}

// walks are those of a context; nil where it is not served.
func (c *contexts) walks(name string) *walks {
	if name == "" {
		return c.plain
	}
	c.mu.RLock()
	defer c.mu.RUnlock()
	return c.named[name]
}

func (c *contexts) add(name string, tables func() *smi.Table) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.named[name] = newWalks(tables, c.hold)
}

func (c *contexts) remove(name string) {
	c.mu.Lock()
	defer c.mu.Unlock()
	delete(c.named, name)
}

// names are those of the named contexts, in order.
func (c *contexts) names() []string {
	c.mu.RLock()
	defer c.mu.RUnlock()
	return slices.Sorted(maps.Keys(c.named))
}

// expire lets go of tables that no walk can ask for any more.
func (c *contexts) expire(now time.Time) {
	c.plain.expire(now)
	c.mu.RLock()
	defer c.mu.RUnlock()
	for _, w := range c.named {
		w.expire(now)
	}
}

// expected is that of the walks of any context.
func (c *contexts) expected(now time.Time) bool {
	if c.plain.expected(now) {
		return true
	}
	c.mu.RLock()
	defer c.mu.RUnlock()
	for _, w := range c.named {
		if w.expected(now) {
			return true
		}
	}
	return false
}

// settle registers the contexts that are wanted and not there, and takes back
// those that are there and not wanted. A table can be asked for before its
// registration is answered, and must be there by then.
func (s *Subagent) settle(ctx context.Context, session *session, served *contexts) error {
	wanted := *s.wanted.Load()
	for _, name := range served.names() {
		if _, ok := wanted[name]; ok {
			continue
		}
		for _, subtree := range s.config.Subtrees {
			err := s.requestIn(ctx, session, name, &pdu.Unregister{Priority: s.config.Priority, Subtree: subtree})
			var refused pdu.Error
			if err != nil && !errors.As(err, &refused) { // what is not registered need not be taken back
				return fmt.Errorf("unregister %v in context %q: %w", subtree, name, err)
			}
		}
		served.remove(name)
		session.registered = slices.DeleteFunc(session.registered, func(r registration) bool { return r.context == name })
	}
	for _, name := range slices.Sorted(maps.Keys(wanted)) {
		if served.walks(name) != nil {
			continue
		}
		served.add(name, s.tablesOf(name))
		if err := s.register(ctx, session, name); err != nil {
			return err
		}
	}
	return nil
}

// tablesOf gives the newest table of a context by the function that SetContexts
// was told last.
func (s *Subagent) tablesOf(name string) func() *smi.Table {
	return func() *smi.Table {
		if tables := (*s.wanted.Load())[name]; tables != nil {
			return tables()
		}
		return nil // it is being taken back
	}
}

// register offers to answer for every subtree in a context.
func (s *Subagent) register(ctx context.Context, session *session, name string) error {
	for _, subtree := range s.config.Subtrees {
		if err := s.requestIn(ctx, session, name, &pdu.Register{
			Timeout: s.config.timeoutSeconds(), Priority: s.config.Priority, Subtree: subtree,
		}); err != nil {
			return fmt.Errorf("register %v in context %q: %w", subtree, name, err)
		}
		session.registered = append(session.registered, registration{name, subtree})
	}
	return nil
}
