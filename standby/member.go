// SPDX-License-Identifier: Apache-2.0

package standby

import (
	"context"
	"crypto/rand"
	"crypto/sha256"
	"encoding/hex"
	"errors"
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
	// shareWithin is how long alarms may take to the server of NATS before the
	// notifications of them are sent nevertheless.
	shareWithin = 200 * time.Millisecond
	// letGoWithin is how long a sidecar that is to let the duty go waits for the end
	// of a Hold.
	letGoWithin = time.Second
	// answerEvery is how long after all alarms were sent they are sent again.
	answerEvery = time.Second
)

// Config is what a Member is made of.
type Config struct {
	Conn     *nats.Conn
	Subject  string        // of the group: telemetry.Subjects.Sidecars
	Name     string        // for people; what is over MaxName is cut off
	Priority uint8         // the lower number is on duty
	Settle   time.Duration // after a start, before it takes the duty from another; Settle at least
	Up       func() bool   // whether its faces are; nil is always
	Alarms   *Alarms       // what it shares with the others; nil is nothing
	Sources  *Sources      // what it has of silent sources; nil is nothing
	// Connected reports whether Conn is connected. It must not wait, as those of
	// the client do while a server does not answer. Nil is Conn.IsConnected.
	Connected func() bool
	Log       *slog.Logger // nil logs nothing
}

// Alarms are what a sidecar knows of alarms, in a form that this package does not
// look into. Its functions return at once.
type Alarms struct {
	Digest   func() string           // see Message
	Fold     func(page []byte) error // takes what another sidecar gave to Share; the error says why not
	ShareAll func(ask bool)          // has everything given to Share, with ask
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
	id     string
	roster *Roster
	state  atomic.Pointer[State]
	held   chan struct{} // is full during a Hold
	asked  time.Time     // when another sidecar asked last and was answered

	exchange exchange
	tasks    sync.WaitGroup

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
	self := Message{ID: newID(now), Name: name, Priority: cfg.Priority, Started: max(now.UnixMicro(), 0), Sources: cfg.Sources != nil}
	m := &Member{cfg: cfg, id: self.ID, roster: NewRoster(self, cfg.Settle, now), held: make(chan struct{}, 1),
		exchange: exchange{answering: make(chan struct{}, 1), taken: make(chan taken), ended: make(chan struct{})}, counters: Counters{Rejected: map[Reason]uint64{}}}
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

// OnDuty reports whether this sidecar sends notifications. One whose state is old,
// since the process was stopped, does not. It may be called by any goroutine.
func (m *Member) OnDuty() bool {
	s := m.State()
	return s.OnDuty && time.Since(s.At) < Silent
}

// Hold returns how things are, with the OnDuty of this moment. Until release is
// called, this sidecar does not say to others that it is not on duty any more. It
// may be called by any goroutine.
func (m *Member) Hold() (s State, release func()) {
	m.held <- struct{}{}
	s = *m.State()
	s.OnDuty = m.OnDuty()
	return s, func() { <-m.held }
}

// Share sends pages of alarms to the others and returns when they are on their way;
// without a connection it sends nothing. ask asks the others for all that they
// have. It may be called by any goroutine.
func (m *Member) Share(pages [][]byte, ask bool) {
	if !m.cfg.Connected() {
		return
	}
	var err error
	for i, alarms := range pages {
		page := Page{Version: Version, ID: m.id, Ask: ask && i == len(pages)-1, Alarms: alarms}
		err = errors.Join(err, m.cfg.Conn.Publish(m.pages(), page.Encode()))
	}
	if err == nil && m.State().Live > 0 {
		err = m.cfg.Conn.FlushTimeout(shareWithin)
	}
	if err != nil {
		m.cfg.Log.Warn("sharing alarms with the other sidecars", "error", err)
	}
}

// pages is the subject of alarms: a sibling of the group's, so that sidecars that
// do not know of them do not hear them.
func (m *Member) pages() string { return m.cfg.Subject + "-alarms" }

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
	// One channel for both subjects keeps the order in which another sidecar sent.
	heard := make(chan *nats.Msg, queueLength)
	var subs []*nats.Subscription
	defer func() {
		for _, sub := range subs {
			_ = sub.Unsubscribe() // fails only where the connection is closed
		}
	}()
	for _, subject := range m.subjects() {
		sub, err := m.cfg.Conn.ChanSubscribe(subject, heard)
		if err != nil {
			return fmt.Errorf("subscribe to the other sidecars at %s: %w", subject, err)
		}
		subs = append(subs, sub)
	}
	defer m.tasks.Wait()
	defer close(m.exchange.ended)
	tick := time.NewTicker(stepEvery)
	defer tick.Stop()
	m.step()
	for {
		select {
		case msg := <-heard:
			m.take(msg)
			m.step()
		case t := <-m.exchange.taken:
			m.took(t)
		case <-tick.C:
			m.overrun(subs)
			m.step()
		case <-ctx.Done():
			m.leave()
			return nil
		}
	}
}

func (m *Member) subjects() []string {
	out := []string{m.cfg.Subject}
	if m.cfg.Alarms != nil {
		out = append(out, m.pages())
	}
	if m.cfg.Sources != nil {
		out = append(out, m.parcelSubject())
	}
	return out
}

// take takes a message, and counts it.
func (m *Member) take(msg *nats.Msg) {
	var err error
	switch msg.Subject {
	case m.cfg.Subject:
		err = m.hear(msg.Data)
	case m.pages():
		err = m.fold(msg.Data)
	default:
		err = m.receive(msg)
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	m.counters.Heard++
	if err != nil {
		m.counters.Rejected[reasonOf(err)]++
		m.cfg.Log.Debug("a message from another sidecar was not taken", "error", err)
	}
}

// hear takes what a sidecar says of itself, and answers one that is new.
func (m *Member) hear(text []byte) error {
	now := time.Now()
	said, err := Decode(text)
	if err != nil {
		return err
	}
	m.know()
	isNew, err := m.roster.Hear(said, now)
	if isNew && err == nil {
		m.cfg.Log.Info("another sidecar is there", "name", said.Name, "priority", said.Priority)
		m.say(m.roster.Speak(now))
	}
	return err
}

// fold takes alarms of another sidecar, and answers where that asks for all there
// are.
func (m *Member) fold(data []byte) error {
	page, err := DecodePage(data)
	if err != nil || page.ID == m.id {
		return err
	}
	if err := m.cfg.Alarms.Fold(page.Alarms); err != nil {
		return fmt.Errorf("page of a sidecar: %w: %w", BadPage, err)
	}
	if page.Ask && time.Since(m.asked) >= answerEvery {
		m.asked = time.Now()
		m.cfg.Alarms.ShareAll(false)
	}
	return nil
}

// know takes over what this sidecar knows of alarms.
func (m *Member) know() {
	if m.cfg.Alarms != nil {
		m.roster.Know(m.cfg.Alarms.Digest())
	}
}

// overrun counts what came while too much was waiting.
func (m *Member) overrun(subs []*nats.Subscription) {
	dropped := 0
	for _, sub := range subs {
		n, err := sub.Dropped()
		if err != nil {
			return // the connection is closed
		}
		dropped += max(n, 0)
	}
	m.mu.Lock()
	m.counters.Rejected[Overrun] = uint64(dropped)
	m.mu.Unlock()
}

// step looks how things are and says so.
func (m *Member) step() {
	m.know()
	now := time.Now()
	speak := m.roster.Step(m.cfg.Up(), now)
	before := m.State()
	m.show()
	if s := m.State(); s.OnDuty != before.OnDuty {
		if before.OnDuty {
			m.letGo()
		}
		m.log(s)
	}
	if speak != nil {
		m.say(speak)
	}
	if m.cfg.Alarms != nil && m.roster.Ask(now) {
		m.cfg.Alarms.ShareAll(true)
	}
	m.fetch(m.roster.Fetch(now))
}

// letGo waits for the end of a Hold that found this sidecar on duty.
func (m *Member) letGo() {
	patience := time.NewTimer(letGoWithin)
	defer patience.Stop()
	select {
	case m.held <- struct{}{}:
		<-m.held
	case <-patience.C:
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
	bye := m.roster.Bye()
	m.show()
	m.letGo()
	if !m.cfg.Connected() {
		return
	}
	m.say(bye)
	if err := m.cfg.Conn.FlushTimeout(flushWithin); err != nil {
		m.cfg.Log.Debug("saying goodbye to the other sidecars", "error", err)
	}
}
