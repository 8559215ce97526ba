// SPDX-License-Identifier: Apache-2.0

package agentx

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"net"
	"sync/atomic"
	"time"

	"github.com/pnagent/pnagent/agentx/pdu"
	"github.com/pnagent/pnagent/mib/smi"
)

const (
	// dialWithin is how long the master may take to accept a connection. With the
	// backoff there is an attempt every 3 s, and because TCP repeats a SYN after 1 s,
	// a SYN every 2 s.
	dialWithin = 1500 * time.Millisecond
	// answerWithin is how long the master may take to answer a PDU of ours.
	answerWithin = 5 * time.Second
	// pingEvery is the time between two Pings.
	pingEvery = 15 * time.Second
	// closeWithin is how long the orderly end of a session may take.
	closeWithin = time.Second
)

// errTimeout is the cause of a context that answerWithin ended.
var errTimeout = errors.New("the master did not answer in time")

// Subagent keeps one session with a master alive. Its methods are safe for concurrent
// use; Run may run only once at a time.
type Subagent struct {
	config   Config
	address  address
	dial     func(context.Context) (net.Conn, error)
	flags    pdu.Flags // the byte order of PDUs that are no answers
	rng      *rand.Rand
	counters counters
	live     atomic.Pointer[session]                      // registered; nil without one
	up       atomic.Pointer[chan struct{}]                // see Connected; replaced before live is nil
	wanted   atomic.Pointer[map[string]func() *smi.Table] // the named contexts
	changed  chan struct{}                                // holds one: wanted has changed
}

// Run connects, serves, and connects again, until ctx is done. It then closes the
// session with the reason shutdown and returns nil. It logs and counts faults of the
// master, and tries again.
func (s *Subagent) Run(ctx context.Context) error {
	for failures := 0; ctx.Err() == nil; {
		failures = s.attempt(ctx, failures)
	}
	return nil
}

// attempt makes one connection, and waits after its end by the number of failures before
// it. It returns the new number.
func (s *Subagent) attempt(ctx context.Context, failures int) int {
	up, err := s.connect(ctx)
	if ctx.Err() != nil {
		s.enter(StateDown, nil)
		return 0
	}
	s.enter(StateDown, err)
	if up {
		failures = 0
	}
	wait := backoff(failures, s.rng)
	log := s.config.Logger.Debug
	if failures == 0 {
		log = s.config.Logger.Warn // further failures have the same cause
	}
	log("no session with the agentx master: SNMP shows nothing, and notifications wait", "addr", s.address.String(), "retry_in", wait, "err", err, "cure", Cure(s.address.String(), err))
	if await(ctx, s.address, wait) {
		return 0
	}
	return failures + 1
}

// enter changes the state. err is why there is no session, or nil for the same reason as
// before.
func (s *Subagent) enter(state SessionState, err error) {
	now, reason := time.Now(), s.reason(err)
	var changed bool
	s.counters.count(func(s *Stats) {
		changed = s.State != state || reason != "" && reason != s.Reason
		if (s.State == StateUp) != (state == StateUp) {
			s.Changed = now
		}
		if s.State == StateUp && state != StateUp {
			s.Losses++
		}
		if state == StateUp || reason != "" {
			s.Reason, s.Err = reason, err
		}
		s.State = state
	})
	if changed {
		s.config.StateChanged()
	}
}

// Stats returns the statistics.
func (s *Subagent) Stats() Stats { return s.counters.read() }

// Connected returns a channel that is closed if there is a session, or once there is one. If it
// was returned before a call of Notify that returned ErrNotConnected, a call after it is closed
// may succeed.
func (s *Subagent) Connected() <-chan struct{} { return *s.up.Load() }

// Notify makes the master send a notification. The first variable must be snmpTrapOID.0,
// or sysUpTime.0 and then snmpTrapOID.0 (RFC 2741 section 6.2.10); without sysUpTime.0
// the master adds its own. nil means that the master accepted it, not that a station
// received it. The error is ErrNotConnected, ErrLost, ErrBusy, the pdu.Error of the
// master, or that of ctx, which should have a deadline.
func (s *Subagent) Notify(ctx context.Context, variables []smi.Variable) error {
	if err := checkNotification(variables); err != nil {
		return err
	}
	session := s.live.Load()
	if session == nil {
		return ErrNotConnected
	}
	if _, err := s.ask(ctx, session, "", &pdu.Notify{Variables: variables}); err != nil {
		return err
	}
	s.counters.count(func(s *Stats) { s.Notifications++ })
	return nil
}

// ErrNotification is wrapped by the error for a notification that does not begin with
// snmpTrapOID.0, or sysUpTime.0 and snmpTrapOID.0, or whose context has too long a name.
var ErrNotification = errors.New("invalid agentx notification")

func checkNotification(variables []smi.Variable) error {
	sysUpTime := smi.OID{1, 3, 6, 1, 2, 1, 1, 3, 0}
	snmpTrapOID := smi.OID{1, 3, 6, 1, 6, 3, 1, 1, 4, 1, 0}
	if len(variables) > 0 && variables[0].Name.Compare(sysUpTime) == 0 {
		variables = variables[1:]
	}
	if len(variables) == 0 || variables[0].Name.Compare(snmpTrapOID) != 0 ||
		variables[0].Value.Type != smi.TypeObjectIdentifier {
		return ErrNotification
	}
	return nil
}

// connect makes one connection and serves it to its end. It reports whether the session
// was registered.
func (s *Subagent) connect(ctx context.Context) (up bool, err error) {
	s.enter(StateConnecting, nil)
	conn, err := s.dial(ctx)
	if err != nil {
		if ctx.Err() == nil {
			s.counters.fault(FaultDial)
		}
		return false, fmt.Errorf("dial %v: %w", s.address, err)
	}
	s.counters.count(func(s *Stats) { s.Since = time.Time{} })
	served := newContexts(s.config.Tables, s.config.Hold)
	session := newSession(conn, served, &s.counters, s.flags)
	defer session.end()
	if err := s.open(ctx, session, served); err != nil {
		s.close(ctx, session, err)
		return false, err
	}
	s.counters.count(func(s *Stats) { s.Sessions++ })
	s.enter(StateUp, nil)
	s.live.Store(session)
	close(*s.up.Load())
	defer func() {
		next := make(chan struct{})
		s.up.Store(&next)
		s.live.Store(nil)
	}()
	s.config.Logger.Info("serving an agentx master", "addr", s.address.String(), "session", session.wireID())
	err = s.keep(ctx, session, served)
	s.close(ctx, session, err)
	return true, err
}

// open opens the session and registers everything.
func (s *Subagent) open(ctx context.Context, session *session, served *contexts) error {
	opened, err := s.ask(ctx, session, "", &pdu.Open{
		Timeout: s.config.timeoutSeconds(), ID: s.config.ID, Description: s.config.Description,
	})
	if err != nil {
		return fmt.Errorf("open: %w", err)
	}
	session.id.Store(int64(opened.session))
	for _, caps := range s.config.Caps {
		_, err := s.ask(ctx, session, "", &pdu.AddAgentCaps{ID: caps.ID, Description: caps.Description})
		var refused pdu.Error
		if errors.As(err, &refused) {
			// A row of sysORTable is missing; the session can be served.
			s.config.Logger.Warn("the agentx master refused agent capabilities", "id", caps.ID.String(), "err", err)
		} else if err != nil {
			return fmt.Errorf("add agent caps %v: %w", caps.ID, err)
		} else {
			session.caps = append(session.caps, caps.ID)
		}
	}
	if err := s.register(ctx, session, ""); err != nil {
		return err
	}
	return s.settle(ctx, session, served)
}

// keep sends Pings and applies SetContexts, until the session ends or ctx is done.
func (s *Subagent) keep(ctx context.Context, session *session, served *contexts) error {
	ticker := time.NewTicker(pingEvery)
	defer ticker.Stop()
	for {
		select {
		case <-ctx.Done():
			return ctx.Err()
		case <-session.done:
			return session.cause
		case <-s.changed:
			if err := s.settle(ctx, session, served); err != nil {
				return err
			}
		case now := <-ticker.C:
			served.expire(now)
			if _, err := s.ask(ctx, session, "", &pdu.Ping{}); err != nil {
				return fmt.Errorf("ping: %w", err)
			}
		}
	}
}

// close closes a session that is still open with a reason, and counts the cause of its
// end unless that is ctx.
func (s *Subagent) close(ctx context.Context, session *session, err error) {
	select {
	case <-session.done:
		switch {
		case ctx.Err() != nil:
		case errors.Is(err, errClosed):
			s.counters.fault(FaultClosed)
		case !errors.Is(err, pdu.ErrVersion) && !errors.Is(err, pdu.ErrLength): // counted by the reader
			s.counters.fault(FaultLost)
		}
		return
	default:
	}
	if session.id.Load() == noSession {
		return // there is nothing to close
	}
	reason := pdu.ReasonOther
	switch {
	case ctx.Err() != nil:
		reason = pdu.ReasonShutdown
	case errors.Is(err, errTimeout):
		reason = pdu.ReasonTimeouts
	}
	// ctx may be done already: closing has its own deadline.
	leaving, cancel := context.WithTimeout(context.WithoutCancel(ctx), closeWithin)
	defer cancel()
	if reason == pdu.ReasonShutdown {
		s.unregister(leaving, session)
	}
	_, _ = session.ask(leaving, "", &pdu.Close{Reason: reason}) // the connection ends in any case
}

// ask sends body in the context name and waits for the Response, at most answerWithin. It
// returns an error in the Response as a pdu.Error.
func (s *Subagent) ask(ctx context.Context, session *session, name string, body pdu.Body) (response, error) {
	ctx, cancel := context.WithTimeoutCause(ctx, answerWithin, errTimeout)
	defer cancel()
	got, err := session.ask(ctx, name, body)
	switch {
	case errors.Is(err, errTimeout):
		s.counters.fault(FaultTimeout)
		return got, err
	case err != nil:
		return got, err
	case got.Error != pdu.NoError:
		s.counters.fault(FaultRefused)
		return got, got.Error
	}
	return got, nil
}
