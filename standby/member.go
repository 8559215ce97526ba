// SPDX-License-Identifier: Apache-2.0

package standby

import (
	"context"
	"crypto/rand"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"log/slog"
	"maps"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/nats-io/nats.go"
)

const (
	// stepEvery is how often a Member looks whether something has changed.
	stepEvery = 100 * time.Millisecond
	// queueLength is how many messages wait to be read: some seconds of MaxPeers.
	queueLength = 1024
	// flushWithin is how long the last message may take.
	flushWithin = time.Second
)

// Config is what a Member is made of.
type Config struct {
	Conn     *nats.Conn
	Subject  string        // of the group: telemetry.Subjects.Sidecars
	Name     string        // for people; what is over MaxName is cut off
	Priority uint8         // the lower number is on duty
	Settle   time.Duration // after a start, before it takes the duty from another; Settle at least
	Up       func() bool   // whether its faces are; nil is always
	// Connected reports whether Conn is connected. It must not wait, as those of
	// the client do while a server does not answer. Nil is Conn.IsConnected.
	Connected func() bool
	Log       *slog.Logger // nil logs nothing
}

// Counters are what a Member did since it was made.
type Counters struct {
	Heard     uint64            // messages, its own and those that were rejected included
	Rejected  map[Reason]uint64 // every reason, also those that are 0
	TakeOvers uint64            // times that it went on duty
}

// Member is this sidecar among the others of its group.
type Member struct {
	cfg    Config
	roster *Roster
	state  atomic.Pointer[State]

	mu       sync.Mutex // guards counters
	counters Counters
}

// Group names those who notify the same: that have the same root, use AgentX or
// do not, and have the same trap sinks, in any order. It is 16 hex digits. The
// address of the AgentX master is not of it: sidecars for one master may reach it
// at two addresses, and masters of two hosts notify the same station.
func Group(root string, agentX bool, sinks []string) string {
	sorted := slices.Sorted(slices.Values(sinks))
	sum := sha256.Sum256(fmt.Appendf(nil, "%s\n%t\n%s", root, agentX, strings.Join(sorted, "\n")))
	return hex.EncodeToString(sum[:8])
}

// New makes a Member, which is not on duty before Run.
func New(cfg Config) *Member {
	if cfg.Log == nil {
		cfg.Log = slog.New(slog.DiscardHandler)
	}
	if cfg.Up == nil {
		cfg.Up = func() bool { return true }
	}
	if cfg.Connected == nil {
		cfg.Connected = cfg.Conn.IsConnected
	}
	name := strings.ToValidUTF8(cfg.Name, "")
	for len(name) > MaxName {
		name = strings.ToValidUTF8(name[:MaxName], "")
	}
	now := time.Now()
	self := Message{ID: newID(now), Name: name, Priority: cfg.Priority, Started: max(now.UnixMicro(), 0)}
	m := &Member{cfg: cfg, roster: NewRoster(self, cfg.Settle, now), counters: Counters{Rejected: map[Reason]uint64{}}}
	for _, reason := range Reasons() {
		m.counters.Rejected[reason] = 0
	}
	m.show()
	return m
}

// newID begins with the time, so that it is larger for one that starts later.
func newID(now time.Time) string {
	random := make([]byte, 8)
	_, _ = rand.Read(random) // never fails
	return fmt.Sprintf("%016x-%x", max(now.UnixMicro(), 0), random)
}

// State returns how things are; never nil. It may be called by any goroutine.
func (m *Member) State() *State { return m.state.Load() }

// OnDuty tells whether this sidecar sends notifications, and then from when on
// changes may not have been told, in microseconds since the Unix epoch; 0 for
// all of them. One whose state is old, since the process was stopped, is not. It
// may be called by any goroutine.
func (m *Member) OnDuty() (from int64, on bool) {
	s := m.State()
	if !s.OnDuty || time.Since(s.At) >= Silent {
		return 0, false
	}
	if s.From.IsZero() {
		return 0, true
	}
	return s.From.UnixMicro(), true
}

// Counters returns what was done so far. It may be called by any goroutine.
func (m *Member) Counters() Counters {
	m.mu.Lock()
	defer m.mu.Unlock()
	c := m.counters
	c.Rejected = maps.Clone(c.Rejected)
	return c
}

// Run hears the others and speaks to them until ctx ends; then it says goodbye.
func (m *Member) Run(ctx context.Context) error {
	heard := make(chan *nats.Msg, queueLength)
	sub, err := m.cfg.Conn.ChanSubscribe(m.cfg.Subject, heard)
	if err != nil {
		return fmt.Errorf("subscribe to the other sidecars at %s: %w", m.cfg.Subject, err)
	}
	defer func() { _ = sub.Unsubscribe() }() // fails only where the connection is closed
	tick := time.NewTicker(stepEvery)
	defer tick.Stop()
	m.step()
	for {
		select {
		case msg := <-heard:
			m.hear(msg)
			m.step()
		case <-tick.C:
			m.overrun(sub)
			m.step()
		case <-ctx.Done():
			m.leave()
			return nil
		}
	}
}

// hear takes a message, and answers one from somebody new.
func (m *Member) hear(msg *nats.Msg) {
	now := time.Now()
	said, err := Decode(msg.Data)
	var isNew bool
	if err == nil {
		isNew, err = m.roster.Hear(said, now)
	}
	m.mu.Lock()
	m.counters.Heard++
	if err != nil {
		m.counters.Rejected[reasonOf(err)]++
	}
	m.mu.Unlock()
	switch {
	case err != nil:
		m.cfg.Log.Debug("a message from another sidecar was not taken", "error", err)
	case isNew:
		m.cfg.Log.Info("another sidecar is there", "name", said.Name, "priority", said.Priority)
		m.say(m.roster.Speak(now))
	}
}

// overrun counts what came while too much was waiting.
func (m *Member) overrun(sub *nats.Subscription) {
	if n, err := sub.Dropped(); err == nil {
		m.mu.Lock()
		m.counters.Rejected[Overrun] = uint64(max(n, 0))
		m.mu.Unlock()
	}
}

// step looks how things are and says so.
func (m *Member) step() {
	speak := m.roster.Step(m.cfg.Up(), time.Now())
	before := m.State()
	m.show()
	if s := m.State(); s.OnDuty != before.OnDuty {
		m.log(s)
	}
	if speak != nil {
		m.say(speak)
	}
}

func (m *Member) log(s *State) {
	if !s.OnDuty {
		m.cfg.Log.Info("stands by: another sidecar sends notifications, or may")
		return
	}
	m.mu.Lock()
	m.counters.TakeOvers++
	m.mu.Unlock()
	m.cfg.Log.Info("on duty: this sidecar sends notifications", "others", s.Live)
}

func (m *Member) show() {
	s := m.roster.State()
	m.state.Store(&s)
}

// say sends a message. While there is no connection nothing is kept to be sent
// later, when it is not so any more.
func (m *Member) say(msg *Message) {
	if !m.cfg.Connected() {
		return
	}
	text, err := msg.Encode()
	if err == nil {
		err = m.cfg.Conn.Publish(m.cfg.Subject, text)
	}
	if err != nil {
		m.cfg.Log.Debug("speaking to the other sidecars", "error", err)
	}
}

// leave hands over to the next one.
func (m *Member) leave() {
	if !m.cfg.Connected() {
		return
	}
	m.say(m.roster.Bye())
	if err := m.cfg.Conn.FlushTimeout(flushWithin); err != nil {
		m.cfg.Log.Debug("saying goodbye to the other sidecars", "error", err)
	}
}
