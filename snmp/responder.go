// SPDX-License-Identifier: Apache-2.0

package snmp

import (
	"cmp"
	"context"
	"crypto/rand"
	"crypto/sha256"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"net/netip"
	"sync/atomic"
	"time"

	"github.com/pnagent/pnagent/mib/smi"
)

// Sizes of a message in octets (RFC 3417 section 3.2).
const (
	MinMessage     = 484   // accepted by every manager
	DefaultMessage = 1472  // an Ethernet frame without its headers: never fragmented
	maxDatagram    = 65507 // the largest of UDP over IPv4
	MaxMessage     = maxDatagram
)

// DefaultHold is how long a walk keeps its first table.
const DefaultHold = 5 * time.Second

// DefaultPacketRate is how many packets a second of one address are answered.
// The fastest manager sends some thousands.
const DefaultPacketRate = 10_000

// DefaultOctetRate is how many octets a second one address is sent. A walk of
// 10,000 sources has 5 million.
const DefaultOctetRate = 10_000_000

// maxPacketRate is a rate that no host can reach.
const maxPacketRate = 1_000_000_000

// ErrConfig is wrapped by the errors of New and NewSender.
var ErrConfig = errors.New("invalid SNMP configuration")

// Config configures a Responder.
type Config struct {
	// Community must be in every request of SNMPv2c, 1 to 255 octets. It is a
	// password in clear text; nothing here logs it. It may be empty if there are
	// Users: then SNMPv2c is not answered.
	Community string
	// Users may send requests of SNMPv3, and Engine is what they address. Both or
	// none are set.
	Users  []User
	Engine *Engine
	// Table returns the newest table, or nil. It is called once for each
	// request, and should only load a pointer.
	Table  func() *smi.Table
	System System
	// MaxMessage bounds a response, in octets, from MinMessage to MaxMessage. 0 is
	// DefaultMessage for GetBulk, whose manager requests the rest, and MaxMessage
	// for others. An SNMPv2c request has no field for it.
	MaxMessage int
	Hold       time.Duration // 0 is DefaultHold
	// PacketRate is how many packets a second of one address are answered, and
	// how many at once after a pause; 0 is DefaultPacketRate.
	PacketRate int
	// OctetRate is how many octets a second one address is sent, and how many at
	// once after a pause; 0 is DefaultOctetRate.
	OctetRate int
	// AllowFrom are the networks whose requests are answered; empty is all.
	AllowFrom []netip.Prefix
	Now       func() time.Time // nil is time.Now
	Log       *slog.Logger     // nil logs nothing
}

// Responder answers requests.
type Responder struct {
	cfg      Config
	takes    atomic.Pointer[credentials]
	system   *systemGroup
	bulk     int       // the largest response to GetBulk, in octets
	start    time.Time // of sysUpTime
	counters counters
}

// credentials are what requests must prove to have.
type credentials struct {
	community [sha256.Size]byte
	users     []User
}

// New returns a Responder, whose sysUpTime begins now. The error wraps ErrConfig.
func New(cfg Config) (*Responder, error) {
	if cfg.Table == nil {
		return nil, fmt.Errorf("%w: no table to answer from", ErrConfig)
	}
	bulk := cmp.Or(cfg.MaxMessage, DefaultMessage)
	cfg.MaxMessage = cmp.Or(cfg.MaxMessage, MaxMessage)
	cfg.Hold = cmp.Or(cfg.Hold, DefaultHold)
	cfg.PacketRate = cmp.Or(cfg.PacketRate, DefaultPacketRate)
	cfg.OctetRate = cmp.Or(cfg.OctetRate, DefaultOctetRate)
	cfg.Log = cmp.Or(cfg.Log, slog.New(slog.DiscardHandler))
	if cfg.MaxMessage < MinMessage || cfg.MaxMessage > MaxMessage {
		return nil, fmt.Errorf("%w: a message size of %d octets; expected %d to %d",
			ErrConfig, cfg.MaxMessage, MinMessage, MaxMessage)
	}
	if cfg.PacketRate < 1 || cfg.PacketRate > maxPacketRate {
		return nil, fmt.Errorf("%w: a rate of %d packets a second; expected 1 to %d", ErrConfig, cfg.PacketRate, maxPacketRate)
	}
	if cfg.OctetRate < MaxMessage || cfg.OctetRate > maxPacketRate {
		return nil, fmt.Errorf("%w: a rate of %d octets a second; expected %d to %d", ErrConfig, cfg.OctetRate, MaxMessage, maxPacketRate)
	}
	for i, network := range cfg.AllowFrom {
		if !network.IsValid() || network.Addr().Is4In6() {
			return nil, fmt.Errorf("%w: network %d is %v; expected an IPv4 or an IPv6 network", ErrConfig, i+1, network)
		}
	}
	if cfg.Now == nil {
		cfg.Now = time.Now
	}
	system, err := newSystemGroup(cfg.System)
	if err != nil {
		return nil, fmt.Errorf("%w: %w", ErrConfig, err)
	}
	r := &Responder{cfg: cfg, system: system, bulk: bulk, start: cfg.Now()}
	if err := r.SetCredentials(cfg.Community, cfg.Users); err != nil {
		return nil, err
	}
	return r, nil
}

// SetCredentials replaces the community and the users, for requests that come from now on. There are users if
// there is an engine, and else none. An error wraps ErrConfig, and changes nothing.
func (r *Responder) SetCredentials(community string, users []User) error {
	if (len(users) > 0) != (r.cfg.Engine != nil) {
		return fmt.Errorf("%w: %d users of SNMPv3, engine %v; expected both or none", ErrConfig, len(users), r.cfg.Engine != nil)
	}
	c := &credentials{sha256.Sum256([]byte(community)), users}
	if community == "" && len(users) > 0 {
		_, _ = rand.Read(c.community[:]) // never fails; no community has this hash
	} else if err := checkCommunity(community); err != nil {
		return err
	}
	r.takes.Store(c)
	return nil
}

func checkCommunity(community string) error {
	if n := len(community); n < 1 || n > 255 {
		return fmt.Errorf("%w: the community has %d octets; expected 1 to 255", ErrConfig, n)
	}
	return nil
}

// UpTime returns sysUpTime.0 at now, in hundredths of a second.
func (r *Responder) UpTime(now time.Time) uint32 { return hundredths(now.Sub(r.start)) }

// Serve answers the packets at conn until ctx ends, and closes conn. It returns
// nil when ctx ended, or the error that ended reading.
func (r *Responder) Serve(ctx context.Context, conn *net.UDPConn) error {
	unblock := context.AfterFunc(ctx, func() { _ = conn.Close() })
	defer func() {
		unblock()
		_ = conn.Close()
	}()
	x := r.newExchange()
	var logged [numReasons]bool
	packet := make([]byte, maxDatagram+1)
	for {
		n, from, err := conn.ReadFromUDPAddrPort(packet)
		if ctx.Err() != nil {
			return nil
		}
		if err != nil {
			return fmt.Errorf("read SNMP requests at %v: %w", conn.LocalAddr(), err)
		}
		out, why, err := x.answer(packet[:n], from, r.cfg.Now())
		if why == noReason {
			if _, err = conn.WriteToUDPAddrPort(out, from); err == nil {
				continue
			}
			why = sendFailed
		}
		r.counters.dropped[why].Add(1)
		if !logged[why] { // a flood of packets must not be a flood of lines
			logged[why] = true
			r.cfg.Log.Warn("SNMP packet without an answer; more for this reason are only counted",
				"reason", why.String(), "addr", from.String(), "err", err)
		}
	}
}
