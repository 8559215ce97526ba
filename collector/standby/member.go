// SPDX-License-Identifier: Apache-2.0

package standby

import (
	"cmp"
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

	"github.com/pnagent/pnagent/collector/standby/roster"
)

const (
	// Messages and their bytes that the NATS client may hold until they are verified:
	// more than arrive while the process waits for a processor.
	maxPending      = 1 << 19
	maxPendingBytes = 64 << 20
	// flushWithin is how long the last message may take.
	flushWithin = time.Second
	// shareWithin is how long alarms may take to the NATS server before their
	// notifications are sent anyway.
	shareWithin = 200 * time.Millisecond
	// releaseWithin is how long a member that is to release the duty waits for the
	// end of a Hold.
	releaseWithin = time.Second
	// answerEvery is the least time between two answers with all alarms.
	answerEvery = time.Second
)

// Config configures a Member.
type Config struct {
	Conn     *nats.Conn
	Subject  string        // of the group at first: telemetry.Subjects.Sidecars
	Name     string        // for people; cut off at MaxName bytes
	Priority uint8         // the lower number is on duty
	Settle   time.Duration // after a start, before it takes the duty from another; Settle at least
	Up       func() bool   // reports whether it is able to notify; nil is always
	// Changed receives after Up has changed. Without it a change is published with the next
	// message, an Interval later at most.
	Changed <-chan struct{}
	Alarms  *Shared  // nil shares no alarms
	Notes   *Shared  // nil shares no notes
	Sent    *Shared  // what ShareSent of others published: Fold alone; nil shares none
	Sources *Sources // nil exchanges no silent sources
	Keys    Keys     // sign the messages, and verify those of the others; nil takes every message
	// Connected reports whether Conn is connected. It must not block, as
	// Conn.IsConnected may while a server does not answer. Nil is Conn.IsConnected.
	Connected func() bool
	Log       *slog.Logger // nil logs nothing
}

// Shared gives access to a sidecar's alarms or its notes about them, which this package does not
// decode. Its functions return at once. Merging notes has one result in any order, so a member
// sends all of them where another one has others; alarms are asked for.
type Shared struct {
	Digest   func() string           // see Message
	Fold     func(page []byte) error // merges a page that another sidecar passed to Share or ShareNotes
	ShareAll func(ask bool)          // passes everything to Share, with ask, or to ShareNotes
}

// Counters count the work of a Member since New.
type Counters struct {
	Received  uint64                   // messages, including its own and rejected ones
	Rejected  map[roster.Reason]uint64 // has every reason
	TakeOvers uint64                   // times that it took the duty
}

// Member is this sidecar in its group.
type Member struct {
	cfg     Config
	id      string
	subject atomic.Pointer[string] // of the group
	roster  *roster.Roster
	sealer  *sealer
	mail    *mailbox
	state   atomic.Pointer[roster.State]
	turned  chan struct{} // has an element after the duty has changed
	held    chan struct{} // full during a Hold
	asked   time.Time     // the last request for all alarms that was answered

	exchange exchange
	tasks    sync.WaitGroup

	mu       sync.Mutex // guards counters
	counters Counters
}

// Group returns the name, of 16 hex digits, of the sidecars that have the same root, the
// same use of AgentX and the same trap sinks in any order. The address of the AgentX master
// is not part of it: sidecars may reach one master at two addresses, and masters of two hosts
// notify the same station.
func Group(root string, agentX bool, sinks []string) string {
	sorted := slices.Sorted(slices.Values(sinks))
	sum := sha256.Sum256(fmt.Appendf(nil, "%s\n%t\n%s", root, agentX, strings.Join(sorted, "\n")))
	return hex.EncodeToString(sum[:8])
}

// New returns a Member, which is not on duty before Run.
func New(cfg Config) *Member {
	cfg.Log = cmp.Or(cfg.Log, slog.New(slog.DiscardHandler))
	if cfg.Up == nil {
		cfg.Up = func() bool { return true }
	}
	if cfg.Connected == nil {
		cfg.Connected = cfg.Conn.IsConnected
	}
	name := strings.ToValidUTF8(cfg.Name, "")
	for len(name) > roster.MaxName {
		name = strings.ToValidUTF8(name[:roster.MaxName], "")
	}
	now := time.Now()
	self := roster.Message{ID: newID(now), Name: name, Priority: cfg.Priority, Started: max(now.UnixMicro(), 0), Sources: cfg.Sources != nil}
	m := &Member{cfg: cfg, id: self.ID, roster: roster.New(self, cfg.Settle, now), sealer: newSealer(cfg.Keys, self.ID), mail: newMailbox(self.ID), held: make(chan struct{}, 1), turned: make(chan struct{}, 1),
		exchange: exchange{answering: make(chan struct{}, 1), taken: make(chan taken), ended: make(chan struct{})}, counters: Counters{Rejected: map[roster.Reason]uint64{}}}
	for _, reason := range roster.Reasons() {
		m.counters.Rejected[reason] = 0
	}
	m.Move(cfg.Subject)
	m.show()
	return m
}

// newID returns an id that begins with the time, so that ids sort by the start.
func newID(now time.Time) string {
	random := make([]byte, 8)
	_, _ = rand.Read(random) // never fails
	return fmt.Sprintf("%016x-%x", max(now.UnixMicro(), 0), random)
}

// group returns the subject of the group.
func (m *Member) group() string { return *m.subject.Load() }

// Move makes the sidecar a member of another group, of the same subject space. The members of the old one see
// it as gone, and it sees them as gone. It is safe for concurrent use.
func (m *Member) Move(subject string) { m.subject.Store(&subject) }

// SetKeys replaces the keys. It is safe for concurrent use.
func (m *Member) SetKeys(keys Keys) { m.sealer.keys.Store(&keys) }

// State returns the current state; never nil. It is safe for concurrent use.
func (m *Member) State() *roster.State { return m.state.Load() }

// Turned returns a channel that receives after the duty has changed, or what Hold returns
// with it. It is for one reader.
func (m *Member) Turned() <-chan struct{} { return m.turned }

// OnDuty reports whether this sidecar sends notifications. After a pause of the process
// its state is old, and it does not. OnDuty is safe for concurrent use.
func (m *Member) OnDuty() bool {
	s := m.State()
	return s.OnDuty && time.Since(s.At) < roster.Silent
}

// Hold returns the current state. Until the caller calls release, this sidecar does not
// announce that it released the duty. Hold is safe for concurrent use.
func (m *Member) Hold() (s roster.State, release func()) {
	m.held <- struct{}{}
	s = *m.State()
	s.OnDuty = m.OnDuty()
	return s, func() { <-m.held }
}

// Share publishes pages of alarms; without a connection it does nothing. If other members
// are live it returns once the NATS server has the pages. With ask it requests all
// alarms of the others. Share is safe for concurrent use.
func (m *Member) Share(pages [][]byte, ask bool) {
	m.publish(m.group()+pagesSuffix, pages, ask)
}

// ShareNotes publishes pages of notes, in the same way. It is safe for concurrent use.
func (m *Member) ShareNotes(pages [][]byte) {
	m.publish(m.group()+notesSuffix, pages, false)
}

// ShareSent publishes a page of what was sent, in the same way. It is safe for concurrent use.
func (m *Member) ShareSent(page []byte) {
	m.publish(m.group()+sentSuffix, [][]byte{page}, false)
}

// publish publishes pages. Their subjects are siblings of the group's, so that earlier
// versions do not receive them.
func (m *Member) publish(subject string, pages [][]byte, ask bool) {
	if !m.cfg.Connected() {
		return
	}
	var err error
	for i, content := range pages {
		page := Page{Version: roster.Version, ID: m.id, Ask: ask && i == len(pages)-1, Content: content}
		err = errors.Join(err, m.sealer.publish(m.cfg.Conn, subject, page.Encode()))
	}
	if err == nil && m.State().Live > 0 {
		err = m.cfg.Conn.FlushTimeout(shareWithin)
	}
	if err != nil {
		m.cfg.Log.Warn("cannot share alarms with the other sidecars", "err", err)
	}
}

// Counters returns a copy of the counters. It is safe for concurrent use.
func (m *Member) Counters() Counters {
	m.mu.Lock()
	defer m.mu.Unlock()
	c := m.counters
	c.Rejected = maps.Clone(c.Rejected)
	return c
}

// Run takes part in the group until ctx ends, and then leaves it.
func (m *Member) Run(ctx context.Context) error {
	sub, err := m.subscribe()
	if err != nil {
		return err
	}
	defer func() { _ = sub.Unsubscribe() }() // fails only where the connection is closed
	defer m.tasks.Wait()
	defer close(m.exchange.ended)
	next := time.NewTimer(0)
	defer next.Stop()
	m.step()
	for {
		next.Reset(time.Until(m.roster.Next()))
		select {
		case <-m.mail.filled:
			for _, l := range m.mail.take() {
				m.take(l)
			}
			m.step()
		case t := <-m.exchange.taken:
			m.took(t)
			m.step()
		case <-m.cfg.Changed:
			m.step()
		case <-next.C:
			m.overrun(sub)
			m.mail.know(m.id, m.roster.IDs())
			m.step()
		case <-ctx.Done():
			m.leave()
			return nil
		}
	}
}

// subscribe receives the messages of all members. One subscription for all subjects
// keeps the order of each sender's messages; it also has those of other groups.
func (m *Member) subscribe() (*nats.Subscription, error) {
	subject := m.cfg.Subject[:strings.LastIndexByte(m.cfg.Subject, '.')+1] + "*" // of each group
	sub, err := m.cfg.Conn.Subscribe(subject, m.arrive)
	if err == nil {
		err = sub.SetPendingLimits(maxPending, maxPendingBytes)
	}
	if err != nil {
		return nil, fmt.Errorf("subscribe to the other sidecars at %s: %w", subject, err)
	}
	return sub, nil
}

// arrive verifies a message before it waits, so that messages of clients without the key
// take the place of none. The NATS client calls it for one message at a time.
func (m *Member) arrive(msg *nats.Msg) {
	kind, ok := strings.CutPrefix(msg.Subject, m.group())
	if !ok || !m.takes(kind) {
		return
	}
	l, err := m.verify(msg, kind)
	m.mu.Lock()
	m.counters.Received++
	m.mu.Unlock()
	switch {
	case err != nil:
		m.reject(err)
	case m.shared(kind) != nil && l.from == m.id: // its own
	case kind == parcelsSuffix && !slices.Contains([]string{"", m.id}, idIn(msg.Data, "to")): // of others
	default:
		m.mail.put(l)
	}
}

// takes reports whether this sidecar takes messages of a kind, the end of their subject.
func (m *Member) takes(kind string) bool {
	return kind == "" || m.shared(kind) != nil || kind == parcelsSuffix && m.cfg.Sources != nil
}

// shared returns what the pages of a kind carry; nil for other messages, and if it is not shared.
func (m *Member) shared(kind string) *Shared {
	switch kind {
	case pagesSuffix:
		return m.cfg.Alarms
	case notesSuffix:
		return m.cfg.Notes
	case sentSuffix:
		return m.cfg.Sent
	}
	return nil
}

// verify checks the size and the seal of a message, and finds its sender.
func (m *Member) verify(msg *nats.Msg, kind string) (letter, error) {
	l := letter{kind: kind, data: msg.Data}
	most := roster.MaxMessage
	if kind != "" {
		most, l.bulk = maxBulk, len(msg.Data)
	}
	if len(msg.Data) > most {
		return l, fmt.Errorf("message of a sidecar: %w: %d bytes", roster.TooLarge, len(msg.Data))
	}
	if err := m.sealer.open(msg, time.Now()); err != nil {
		return l, err
	}
	if l.from = idIn(msg.Data, "id"); l.from != "" {
		return l, nil
	}
	if kind == "" { // in another form, or no sidecar's
		text, err := roster.Decode(msg.Data)
		l.from = text.ID
		return l, err
	}
	p, err := DecodePage(msg.Data)
	l.from = p.ID
	return l, err
}

// take dispatches a message of a member.
func (m *Member) take(l letter) {
	var err error
	switch l.kind {
	case pagesSuffix, notesSuffix, sentSuffix:
		err = m.receivePage(l.data, m.shared(l.kind))
	case parcelsSuffix:
		err = m.receiveParcel(l.data)
	default:
		err = m.receiveMessage(l.data)
	}
	if err != nil {
		m.reject(err)
	}
}

// reject counts a message that was rejected, and logs the first one that is forged.
func (m *Member) reject(err error) {
	reason := roster.ReasonOf(err)
	m.mu.Lock()
	m.counters.Rejected[reason]++
	n := m.counters.Rejected[reason]
	m.mu.Unlock()
	if (reason == roster.Unsigned || reason == roster.BadSeal) && n == 1 {
		m.cfg.Log.Warn("rejected a message that claims to be of a sidecar; further ones are only counted", "reason", reason)
		return
	}
	m.cfg.Log.Debug("rejected a message from another sidecar", "err", err)
}

// receiveMessage takes the state of a member, and announces this one to a new member.
func (m *Member) receiveMessage(text []byte) error {
	now := time.Now()
	msg, err := roster.Decode(text)
	if err != nil {
		return err
	}
	m.updateDigest()
	isNew, err := m.roster.Receive(msg, now)
	if isNew && err == nil {
		m.cfg.Log.Info("found another sidecar", "instance", msg.Name, "priority", msg.Priority)
		m.mail.know(m.id, m.roster.IDs())
		m.send(m.roster.Announce(now))
	}
	return err
}

// receivePage takes alarms or notes of another member, and answers a request for all.
func (m *Member) receivePage(data []byte, into *Shared) error {
	page, err := DecodePage(data)
	if err != nil || page.ID == m.id {
		return err
	}
	if err := into.Fold(page.Content); err != nil {
		return fmt.Errorf("page of a sidecar: %w: %w", roster.BadPage, err)
	}
	if page.Ask && into.ShareAll != nil && time.Since(m.asked) >= answerEvery {
		m.asked = time.Now()
		into.ShareAll(false)
	}
	return nil
}

func (m *Member) updateDigest() {
	if m.cfg.Alarms != nil {
		m.roster.SetDigest(m.cfg.Alarms.Digest())
	}
	if m.cfg.Notes != nil {
		m.roster.SetNotes(m.cfg.Notes.Digest())
	}
}

// step updates the roster and the state, and sends what is due.
func (m *Member) step() {
	m.updateDigest()
	now := time.Now()
	msg := m.roster.Step(m.cfg.Up(), now)
	before := m.State()
	m.show()
	if s := m.State(); s.OnDuty != before.OnDuty || s.OnDuty && s.Able != before.Able {
		if before.OnDuty && !s.OnDuty {
			m.awaitHold()
		}
		m.log(s, before.OnDuty)
	}
	if msg != nil {
		m.send(msg)
	}
	if m.cfg.Alarms != nil && m.roster.Ask(now) {
		m.cfg.Alarms.ShareAll(true)
	}
	if m.cfg.Notes != nil && m.roster.NotesDiffer(now) {
		m.cfg.Notes.ShareAll(false)
	}
	m.fetch(m.roster.Fetch(now))
}

// awaitHold waits for the end of a Hold that found this sidecar on duty.
func (m *Member) awaitHold() {
	select {
	case m.held <- struct{}{}:
		<-m.held
	case <-time.After(releaseWithin):
	}
}

func (m *Member) log(s *roster.State, wasOnDuty bool) {
	if !s.OnDuty {
		m.cfg.Log.Info("standing by: another sidecar sends notifications, or may")
		return
	}
	if !wasOnDuty {
		m.mu.Lock()
		m.counters.TakeOvers++
		m.mu.Unlock()
	}
	if !s.Able {
		m.cfg.Log.Warn("on duty, but this sidecar has no session with its agentx master: notifications through it wait", "others", s.Live)
		return
	}
	m.cfg.Log.Info("on duty: this sidecar sends notifications", "others", s.Live)
}

// show publishes the state, and notes whether the duty has changed. After a pause of the
// process its readers took an old state for that of a member that is not on duty.
func (m *Member) show() {
	s := m.roster.State()
	before := m.state.Swap(&s)
	if before != nil && s.At.Sub(before.At) < roster.Silent && s.Duty() == before.Duty() {
		return
	}
	select {
	case m.turned <- struct{}{}:
	default:
	}
}

// send publishes a message. Without a connection it drops the message, which would be
// outdated later.
func (m *Member) send(msg *roster.Message) {
	if !m.cfg.Connected() {
		return
	}
	text, err := msg.Encode()
	if err == nil {
		err = m.sealer.publish(m.cfg.Conn, m.group(), text)
	}
	if err != nil {
		m.cfg.Log.Debug("cannot publish the state to the other sidecars", "err", err)
	}
}

// leave hands the duty over to the next member.
func (m *Member) leave() {
	last := m.roster.Leave()
	m.show()
	m.awaitHold()
	if !m.cfg.Connected() {
		return
	}
	m.send(last)
	if err := m.cfg.Conn.FlushTimeout(flushWithin); err != nil {
		m.cfg.Log.Debug("cannot send the last state to the other sidecars", "err", err)
	}
}
