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
	"github.com/pnagent/pnagent/mib/smi"
)

// maxContext is the longest name of a context in bytes: a vacmContextName (RFC
// 3415) is an SnmpAdminString of at most 32.
const maxContext = 32

// SetContexts replaces the named contexts, at first none: the tables of each, by its name of 1
// to 32 bytes. The session registers new ones and unregisters the others. The error wraps
// ErrConfig, and then nothing changes. If the master refuses a registration, the session is
// opened again.
func (s *Subagent) SetContexts(contexts map[string]func() *smi.Table) error {
	for name, tables := range contexts {
		switch {
		case name == "" || len(name) > maxContext:
			return fmt.Errorf("%w: a context named %q; expected 1 to %d bytes", ErrConfig, name, maxContext)
		case tables == nil:
			return fmt.Errorf("%w: no tables for context %q", ErrConfig, name)
		}
	}
	wanted := maps.Clone(contexts)
	s.wanted.Store(&wanted)
	select {
	case s.changed <- struct{}{}:
	default: // an earlier change is not applied yet, and will include this one
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

// walks returns the walks of a context; nil if it is not served.
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

// names returns the names of the named contexts, in order.
func (c *contexts) names() []string {
	c.mu.RLock()
	defer c.mu.RUnlock()
	return slices.Sorted(maps.Keys(c.named))
}

// all returns the walks of all contexts.
func (c *contexts) all() []*walks {
	c.mu.RLock()
	defer c.mu.RUnlock()
	return slices.AppendSeq([]*walks{c.plain}, maps.Values(c.named))
}

// expire drops tables that no walk can need any more.
func (c *contexts) expire(now time.Time) {
	for _, w := range c.all() {
		w.expire(now)
	}
}

// expected reports whether a request of a walk is expected in any context.
func (c *contexts) expected(now time.Time) bool {
	return slices.ContainsFunc(c.all(), func(w *walks) bool { return w.expected(now) })
}

// settle registers the wanted contexts that are not served, and unregisters the others. A
// request may come before the answer to its registration, so the walks are added first.
func (s *Subagent) settle(ctx context.Context, session *session, served *contexts) error {
	wanted := *s.wanted.Load()
	for _, name := range served.names() {
		if _, ok := wanted[name]; ok {
			continue
		}
		for _, subtree := range s.config.Subtrees {
			_, err := s.ask(ctx, session, name, &pdu.Unregister{Priority: s.config.Priority, Subtree: subtree})
			var refused pdu.Error
			if err != nil && !errors.As(err, &refused) { // a refused one was not registered
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

// tablesOf returns the newest table of a context, by the function last passed to SetContexts.
func (s *Subagent) tablesOf(name string) func() *smi.Table {
	return func() *smi.Table {
		if tables := (*s.wanted.Load())[name]; tables != nil {
			return tables()
		}
		return nil // it is being unregistered
	}
}

// register registers every subtree in a context.
func (s *Subagent) register(ctx context.Context, session *session, name string) error {
	for _, subtree := range s.config.Subtrees {
		if _, err := s.ask(ctx, session, name, &pdu.Register{
			Timeout: s.config.timeoutSeconds(), Priority: s.config.Priority, Subtree: subtree,
		}); err != nil {
			return fmt.Errorf("register %v in context %q: %w", subtree, name, err)
		}
		session.registered = append(session.registered, registration{name, subtree})
	}
	return nil
}
