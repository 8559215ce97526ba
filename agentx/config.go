// SPDX-License-Identifier: Apache-2.0

package agentx

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"math"
	"math/rand/v2"
	"net"
	"time"

	"github.com/pnagent/pnagent/agentx/pdu"
	"github.com/pnagent/pnagent/mib/smi"
)

// ErrConfig is wrapped by every error of New.
var ErrConfig = errors.New("invalid agentx configuration")

const (
	defaultPriority = 127 // RFC 2741 section 6.2.3
	defaultHold     = 2 * time.Second
)

// Config configures a Subagent.
type Config struct {
	// Addr is the master's socket: unix:/path or tcp:host:port.
	Addr string
	// Subtrees are the subtrees to register, at least one.
	Subtrees []smi.OID
	// Tables returns the newest table; nil is an empty one. The goroutine that answers
	// calls it, so it must not block.
	Tables func() *smi.Table
	// ID and Description identify the subagent to the master; both may be empty.
	ID          smi.OID
	Description string
	// Caps become rows of the master's sysORTable.
	Caps []Caps
	// Priority of the registrations, 1 to 255; the lower number answers.
	// 0 is 127.
	Priority uint8
	// Timeout is how long the master waits for an answer, in whole seconds up to 255; 0
	// is the master's default.
	Timeout time.Duration
	// Hold is how long the newest table is used before Tables is called again; 0 is 2 s.
	Hold time.Duration
	// StateChanged is called after Stats.State has changed. It returns at once; nil
	// is for a state that is only read.
	StateChanged func()
	// Logger logs connections made and lost; nil logs nothing.
	Logger *slog.Logger
}

// Caps is an AGENT-CAPABILITIES statement.
type Caps struct {
	ID          smi.OID
	Description string
}

// New returns a Subagent. Every error wraps ErrConfig and names the field.
func New(config Config) (*Subagent, error) {
	address, err := parseAddr(config.Addr)
	if err != nil {
		return nil, fmt.Errorf("%w: Addr: %w", ErrConfig, err)
	}
	if err := config.check(); err != nil {
		return nil, fmt.Errorf("%w: %w", ErrConfig, err)
	}
	config.Priority = cmp.Or(config.Priority, defaultPriority)
	config.Hold = cmp.Or(config.Hold, defaultHold)
	if config.StateChanged == nil {
		config.StateChanged = func() {}
	}
	config.Logger = cmp.Or(config.Logger, slog.New(slog.DiscardHandler))
	s := &Subagent{
		config:  config,
		address: address,
		flags:   pdu.FlagNetworkByteOrder,
		rng:     rand.New(rand.NewPCG(rand.Uint64(), rand.Uint64())),
		changed: make(chan struct{}, 1),
	}
	s.counters.init()
	s.wanted.Store(&map[string]func() *smi.Table{})
	up := make(chan struct{})
	s.up.Store(&up)
	dialer := net.Dialer{Timeout: dialWithin}
	s.dial = func(ctx context.Context) (net.Conn, error) {
		return dialer.DialContext(ctx, address.network, address.address)
	}
	return s, nil
}

func (c *Config) check() error {
	switch {
	case len(c.Subtrees) == 0:
		return errors.New("no Subtrees")
	case c.Tables == nil:
		return errors.New("no Tables")
	case c.Timeout < 0 || c.Timeout > math.MaxUint8*time.Second:
		return fmt.Errorf("a Timeout of %v; expected 0 to 255s", c.Timeout)
	case c.Hold < 0:
		return fmt.Errorf("a Hold of %v; expected 0 or more", c.Hold)
	case len(c.Description) > math.MaxUint8:
		return fmt.Errorf("a Description of %d bytes; expected at most 255", len(c.Description))
	case len(c.ID) > smi.MaxSubIdentifiers:
		return fmt.Errorf("an ID of %d sub-identifiers; expected at most %d", len(c.ID), smi.MaxSubIdentifiers)
	}
	for _, subtree := range c.Subtrees {
		if len(subtree) == 0 || len(subtree) > smi.MaxSubIdentifiers {
			return fmt.Errorf("one of the Subtrees, %q, has %d sub-identifiers; expected 1 to %d", subtree, len(subtree), smi.MaxSubIdentifiers)
		}
	}
	for _, caps := range c.Caps {
		if len(caps.ID) > smi.MaxSubIdentifiers || len(caps.Description) > math.MaxUint8 {
			return fmt.Errorf("one of the Caps, %q, is too long", caps.ID)
		}
	}
	return nil
}

// timeoutSeconds rounds up, so that a time-out of 100 ms is not the master's default.
func (c *Config) timeoutSeconds() uint8 {
	return uint8((c.Timeout + time.Second - 1) / time.Second)
}
