// SPDX-License-Identifier: Apache-2.0

package snmp

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"math/rand/v2"
	"net"
	"slices"
	"strconv"
	"sync"
	"time"

	"github.com/pnagent/pnagent/mib/smi"
)

// DefaultTimeout is how long an inform waits for its response.
const DefaultTimeout = 2 * time.Second

// Bounds of a Sender.
const (
	// MaxNotification is the size of the largest notification, in octets. One
	// of more than DefaultMessage may travel in fragments.
	MaxNotification = 4096
	// MaxQueue is how many notifications may wait for one sink.
	MaxQueue   = 1000
	maxSinks   = 32
	maxTimeout = time.Minute
	maxRetries = 20
)

// What Deliver refuses, or could not give to a sink.
var (
	// Errors of a Delivery.
	ErrNotification = errors.New("not a notification")
	ErrTooLarge     = errors.New("a notification larger than MaxNotification")
	ErrQueueFull    = errors.New("too many notifications wait for a sink")
	ErrStopped      = errors.New("the sender has been stopped")
)

// SenderConfig configures a Sender.
type SenderConfig struct {
	// Sinks are the receivers of notifications, each "host:port", 1 to 32 of
	// them. Every notification is sent to all.
	Sinks     []string
	Community string // 1 to 255 octets, as in Config; unused with a User
	// User sends the notifications with SNMPv3 instead of SNMPv2c, with the
	// user's level of security. Traps are those of Engine.
	User   *User
	Engine *Engine // with a User
	// Inform makes sinks acknowledge every notification, and the sender repeat
	// those without an acknowledgement. Otherwise a notification is sent once
	// and may be lost.
	Inform  bool
	Timeout time.Duration // of an inform, up to a minute; 0 is DefaultTimeout
	Repeats int           // largest number of repetitions of an inform, 0 to 20, unless Keep is longer
	// Keep is how long an inform without an acknowledgement is repeated, less often
	// after Repeats. The next one for the sink waits meanwhile, so that they stay in
	// order.
	Keep time.Duration
	// UpTime returns sysUpTime.0 for notifications, in hundredths of a second;
	// nil counts from NewSender.
	UpTime func() uint32
	Log    *slog.Logger // nil logs nothing
}

// Sender sends notifications to all its sinks. Its methods may be called from
// any goroutine; Run once.
type Sender struct {
	cfg   SenderConfig
	tag   byte // of the PDU
	sinks []*sink

	mu      sync.Mutex // gives all sinks the notifications in the same order
	message message
}

// NewSender returns a Sender. It looks up no name and opens no socket; Run
// does. The error wraps ErrConfig.
func NewSender(cfg SenderConfig) (*Sender, error) {
	if err := cfg.proves(cfg.Community, cfg.User); err != nil {
		return nil, err
	}
	if err := checkSinks(cfg.Sinks); err != nil {
		return nil, err
	}
	cfg.Timeout = cmp.Or(cfg.Timeout, DefaultTimeout)
	cfg.Log = cmp.Or(cfg.Log, slog.New(slog.DiscardHandler))
	if cfg.Timeout < 0 || cfg.Timeout > maxTimeout {
		return nil, fmt.Errorf("%w: an inform's time-out of %v; expected more than 0 and at most %v", ErrConfig, cfg.Timeout, maxTimeout)
	}
	if cfg.Repeats < 0 || cfg.Repeats > maxRetries {
		return nil, fmt.Errorf("%w: an inform is sent again %d times; expected 0 to %d", ErrConfig, cfg.Repeats, maxRetries)
	}
	if cfg.UpTime == nil {
		began := time.Now()
		cfg.UpTime = func() uint32 { return hundredths(time.Since(began)) }
	}
	s := &Sender{cfg: cfg, tag: tagTrap, message: message{limit: MaxNotification}}
	if cfg.Inform {
		s.tag = tagInform
	}
	for _, address := range cfg.Sinks {
		s.sinks = append(s.sinks, newSink(address, &s.cfg, (&net.Dialer{Timeout: cfg.Timeout}).DialContext))
	}
	return s, nil
}

// proves returns an error if notifications cannot be sent with these credentials.
func (c *SenderConfig) proves(community string, user *User) error {
	switch {
	case user == nil:
		return checkCommunity(community)
	case c.Engine == nil:
		return fmt.Errorf("%w: a user for notifications without an engine", ErrConfig)
	}
	return nil
}

// SetCredentials replaces the community, or the user that sends with SNMPv3, also for notifications that
// wait. An error wraps ErrConfig, and changes nothing.
func (s *Sender) SetCredentials(community string, user *User) error {
	if err := s.cfg.proves(community, user); err != nil {
		return err
	}
	for _, k := range s.sinks {
		k.other.Store(&proof{[]byte(community), newSecureSink(user, s.cfg.Engine)})
	}
	return nil
}

func checkSinks(sinks []string) error {
	if len(sinks) == 0 || len(sinks) > maxSinks {
		return fmt.Errorf("%w: %d sinks for notifications; expected 1 to %d", ErrConfig, len(sinks), maxSinks)
	}
	for i, address := range sinks {
		host, port, err := net.SplitHostPort(address)
		if err != nil {
			return fmt.Errorf("%w: sink %q: expected host:port: %w", ErrConfig, address, err)
		}
		if n, err := strconv.ParseUint(port, 10, 16); err != nil || n == 0 || host == "" {
			return fmt.Errorf("%w: sink %q: expected a host and a port from 1 to 65535", ErrConfig, address)
		}
		if slices.Contains(sinks[:i], address) {
			return fmt.Errorf("%w: sink %q is listed twice", ErrConfig, address)
		}
	}
	return nil
}

// Run sends notifications until ctx ends, and counts the rest of the queues as lost.
func (s *Sender) Run(ctx context.Context) {
	var running sync.WaitGroup
	for _, k := range s.sinks {
		running.Go(func() { k.run(ctx) })
	}
	running.Wait()
}

// Delivery is a notification with what becomes of it.
type Delivery struct {
	// Variables begin with snmpTrapOID.0, before which Deliver puts sysUpTime.0, or with
	// sysUpTime.0 and then snmpTrapOID.0 (RFC 3416 section 4.2.6).
	Variables []smi.Variable
	Alarm     uint32 // that it is about; 0 for none
	Clears    bool   // the alarm is over
	// Done is called once, from any goroutine: with nil if every sink got the
	// notification (a trap was sent, an inform acknowledged), with ErrNotification or
	// ErrTooLarge for one that cannot be sent, or with the error of the first sink that did
	// not get it, which has a Reason.
	Done func(error)
}

// Deliver queues a notification for every sink and returns at once. If the queue of a
// sink is full, a clear displaces a raise.
func (s *Sender) Deliver(d Delivery) {
	s.mu.Lock()
	defer s.mu.Unlock()
	n, err := s.encode(d.Variables)
	if err != nil {
		d.Done(err)
		return
	}
	n.alarm, n.clears, n.outcome = d.Alarm, d.Clears, &settlement{left: len(s.sinks), done: d.Done}
	for _, k := range s.sinks {
		k.offer(n)
	}
}

// settlement joins what becomes of a notification at each sink.
type settlement struct {
	mu   sync.Mutex
	left int
	err  error
	done func(error)
}

// at notes what became of the notification at one sink.
func (o *settlement) at(err error) {
	o.mu.Lock()
	o.err = cmp.Or(o.err, err)
	o.left--
	last, err := o.left == 0, o.err
	o.mu.Unlock()
	if last {
		o.done(err)
	}
}

// Stats returns the counts of each sink, in the order of the configuration.
func (s *Sender) Stats() []SinkStats {
	stats := make([]SinkStats, 0, len(s.sinks))
	for _, k := range s.sinks {
		stats = append(stats, k.counters.read())
	}
	return stats
}

// notification is a message for all sinks. A repeated inform has the same
// message and request id, by which a sink recognises it.
type notification struct {
	id      int32
	pdu     []byte // to which each sink adds what proves the sender
	alarm   uint32
	clears  bool
	queued  time.Time
	outcome *settlement
}

// encode encodes a notification. The request id is random, so that only a host
// that can read the network can forge an acknowledgement.
func (s *Sender) encode(variables []smi.Variable) (notification, error) {
	sysUpTime := smi.OID{1, 3, 6, 1, 2, 1, 1, 3, 0}
	snmpTrapOID := smi.OID{1, 3, 6, 1, 6, 3, 1, 1, 4, 1, 0}
	n := notification{id: rand.Int32()}
	m := &s.message
	m.open(nil, s.tag, n.id, noError, 0)
	rest := variables
	if is(rest, sysUpTime, smi.TypeTimeTicks) {
		rest = rest[1:]
	} else {
		m.add(sysUpTime, smi.TimeTicks(s.cfg.UpTime())) // always fits
	}
	if !is(rest, snmpTrapOID, smi.TypeObjectIdentifier) {
		return n, fmt.Errorf("%w: it must begin with snmpTrapOID.0, or sysUpTime.0 and snmpTrapOID.0", ErrNotification)
	}
	for _, v := range variables {
		if v.Value.IsException() {
			return n, fmt.Errorf("%w: %v", ErrNotification, v)
		}
		switch m.add(v.Name, v.Value) {
		case full:
			return n, fmt.Errorf("%w: no room for %v", ErrTooLarge, v.Name)
		case unencodable:
			return n, fmt.Errorf("%w: SNMP has no encoding for %v of type %d", ErrNotification, v.Name, v.Value.Type)
		}
	}
	n.pdu = bytes.Clone(m.finish())
	return n, nil
}

// is reports whether the first variable has the name and the type.
func is(variables []smi.Variable, name smi.OID, t smi.Type) bool {
	return len(variables) > 0 && variables[0].Name.Compare(name) == 0 && variables[0].Value.Type == t
}
