// SPDX-License-Identifier: Apache-2.0

package roster

import (
	"hash/fnv"
	"maps"
	"slices"
	"strings"
	"time"
)

const (
	// Interval is the time between two messages of a member.
	Interval = 500 * time.Millisecond
	// Silent is how long after its last message a member counts as gone, and how
	// long a member listens before it may take the duty.
	Silent = 3 * time.Second
	// Isolated is how long a member that does not receive its own messages waits
	// before it takes the duty.
	Isolated = 10 * time.Second
	// Margin is how much earlier than another member this one may see an alarm,
	// plus the time that the other member's notification may take.
	Margin = 2 * time.Second
	// Settle is the least time from the start of a member until it is ready while
	// another one is on duty. The member listens and raises the alarms it finds;
	// Margin does not reach back to that time.
	Settle = 2 * Silent
	// AskEvery is the time between two requests for the alarms of another member.
	AskEvery = 5 * time.Second
	// Patience is how long after Settle a member is ready although the member on
	// duty did not answer.
	Patience = 30 * time.Second
	// Remembered is how long a member that is gone stays in the roster.
	Remembered = 24 * time.Hour
)

// MaxPeers is the largest number of other members in a roster.
const MaxPeers = 64

// Roster is the state of a group as one member sees it. It is not safe for concurrent use.
type Roster struct {
	self   Message
	settle time.Duration
	peers  map[string]*peer // by id

	began   time.Time // the start of the process, or the end of its last pause
	since   time.Time // the start of listening
	resumed time.Time // the start of receiving without a break of two Intervals
	echo    time.Time // the last receipt of an own message
	unsync  time.Time // the start, the last loss of own messages, or of the member on duty; zero once the alarms of the member on duty are known
	stepped time.Time
	sent    time.Time // the last own message
	cover   time.Time // until when a member able to notify was on duty; zero if none was
	from    time.Time // State.From
	agreed  time.Time // the last time that the digests of this member and the one on duty were equal
	differs time.Time // since when the digests differ; zero while they are equal
	asked   time.Time // the last request for alarms
	noted   time.Time // the last time that all notes were sent
}

// peer is another member.
type peer struct {
	Message
	receivedAt time.Time // its last message
	steady     time.Time // the start of messages without a break; a member that was paused may not have seen changes yet

	asked   time.Time // the last request for its silent sources
	fetched time.Time // the request whose answer was taken
	differs time.Time // since when it has other notes; zero while it has the same
}

// New returns the roster of a member that starts now. It ignores the state
// fields of self. The member is ready after settle, or Settle if that is longer, while
// another one is on duty; otherwise once it is on duty itself.
func New(self Message, settle time.Duration, now time.Time) *Roster {
	self.Version = Version
	self.Up = false
	self.Ready = false
	self.OnDuty = false
	self.Bye = false
	return &Roster{self: self, settle: max(settle, Settle), peers: map[string]*peer{}, began: now, since: now, resumed: now, echo: now, unsync: now, stepped: now}
}

// Receive takes a message that came now. It reports whether the message is the
// first of its sender; the caller then announces this member to it at once. The error is TooMany.
func (r *Roster) Receive(m Message, now time.Time) (isNew bool, err error) {
	r.detectPause(now)
	if m.ID == r.self.ID {
		if now.Sub(r.echo) >= Silent {
			r.listen(now)
		}
		if now.Sub(r.echo) >= 2*Interval {
			r.resumed = now
		}
		r.echo = now
		return false, nil
	}
	p := r.peers[m.ID]
	if isNew = p == nil; isNew {
		if m.Bye {
			return false, nil
		}
		r.forget(m.Name, now)
		if len(r.peers) >= MaxPeers && !r.evict(now) {
			return false, TooMany
		}
		p = &peer{}
		r.peers[m.ID] = p
	}
	if now.Sub(p.receivedAt) >= 2*Interval {
		p.steady = now
	}
	if m.OnDuty && m.Up && now.Sub(p.steady) >= Interval {
		r.cover = now
	}
	p.Message, p.receivedAt = m, now
	if m.Notes == "" || m.Notes == r.self.Notes {
		p.differs = time.Time{}
	} else if p.differs.IsZero() {
		p.differs = now
	}
	r.compare(&m, now)
	return isNew, nil
}

// compare compares the digests of this member and the member on duty. While none is
// on duty it compares those of all members, so that the next one on duty has the same alarms.
func (r *Roster) compare(m *Message, now time.Time) {
	switch {
	case m.Bye || m.Digest == "" || r.self.Digest == "":
	case m.Digest == r.self.Digest && (m.OnDuty || r.self.OnDuty):
		r.agreed, r.differs = now, time.Time{}
	case r.self.OnDuty || !m.OnDuty && r.peerOnDuty(now):
	case m.Digest == r.self.Digest:
		r.differs = time.Time{}
	case r.differs.IsZero():
		r.differs = now
	}
}

func (r *Roster) peerOnDuty(now time.Time) bool {
	for _, p := range r.peers {
		if p.OnDuty && r.lives(p, now) {
			return true
		}
	}
	return false
}

// SetDigest sets the digest of this member's alarms, see Message.
func (r *Roster) SetDigest(digest string) { r.self.Digest = digest }

// SetNotes sets the digest of this member's notes, see Message.
func (r *Roster) SetNotes(digest string) { r.self.Notes = digest }

// NotesDiffer reports whether it is time to send all notes: once another member has had
// others for longer than a change takes. That member sends its own.
func (r *Roster) NotesDiffer(now time.Time) bool {
	if now.Sub(r.noted) < AskEvery {
		return false
	}
	for _, p := range r.peers {
		if !p.differs.IsZero() && now.Sub(p.differs) >= 3*Interval && r.lives(p, now) {
			r.noted = now
			return true
		}
	}
	return false
}

// Ask reports whether it is time to exchange all alarms with the other members: at
// the first message of a member on duty, and then once the digests have differed for
// longer than a change takes.
func (r *Roster) Ask(now time.Time) bool {
	if r.differs.IsZero() || r.self.OnDuty || now.Sub(r.asked) < AskEvery {
		return false
	}
	if r.asked.After(r.began) && now.Sub(r.differs) < 3*Interval {
		return false
	}
	r.asked = now
	return true
}

// informed reports whether this member has the alarms and the silent sources of the
// member on duty, as far as that one shares them.
func (r *Roster) informed(now time.Time) bool {
	late := now.Sub(r.began) >= r.settle+Patience
	for _, p := range r.peers {
		switch {
		case !p.OnDuty || late || !r.lives(p, now):
		case p.Digest != "" && r.self.Digest != "" && !r.agreed.After(r.began):
			return false
		case r.self.Sources && p.Sources && p.fetched.Before(r.listened()):
			return false
		}
	}
	return true
}

// listened is the time at which this member had listened for Silent.
func (r *Roster) listened() time.Time { return r.resumed.Add(Silent) }

// Fetch returns the id of a member to ask now for its silent sources, or "". A member
// is asked at its first message after a start or a break, so that its sources are
// shown, and again after Silent, for sources that ended meanwhile. Without an answer
// it is asked again until Patience is over.
func (r *Roster) Fetch(now time.Time) string {
	if !r.self.Sources || now.Sub(r.resumed) >= r.settle+Patience {
		return ""
	}
	due := r.resumed
	if !now.Before(r.listened()) {
		due = r.listened()
	}
	for id, p := range r.peers {
		if p.Sources && r.lives(p, now) && p.fetched.Before(due) && (p.asked.Before(due) || now.Sub(p.asked) >= AskEvery) {
			p.asked = now
			return id
		}
	}
	return ""
}

// Awaits reports whether a request for the silent sources of a member is unanswered.
func (r *Roster) Awaits(id string) bool {
	p := r.peers[id]
	return p != nil && p.fetched.Before(p.asked)
}

// Fetched records that the silent sources of a member were taken.
func (r *Roster) Fetched(id string) {
	if p := r.peers[id]; p != nil {
		p.fetched = p.asked
	}
}

// forget removes earlier processes of a member that restarted.
func (r *Roster) forget(name string, now time.Time) {
	for id, p := range r.peers {
		if p.Name == name && !r.lives(p, now) {
			delete(r.peers, id)
		}
	}
}

// evict removes the member that is gone for longest, and reports whether there was one.
func (r *Roster) evict(now time.Time) bool {
	var oldest *peer
	for _, p := range r.peers {
		if !r.lives(p, now) && (oldest == nil || p.receivedAt.Before(oldest.receivedAt)) {
			oldest = p
		}
	}
	if oldest == nil {
		return false
	}
	delete(r.peers, oldest.ID)
	return true
}

// Step updates the roster to now; up is whether this member is able to notify. It
// returns the message to send, or nil if none is due.
func (r *Roster) Step(up bool, now time.Time) *Message {
	r.detectPause(now)
	for id, p := range r.peers {
		if now.Sub(p.receivedAt) > Remembered {
			delete(r.peers, id)
		}
	}
	before := r.self
	if lost := r.echo.Add(2 * Interval); !now.Before(lost) {
		r.unsync = lost
	} else if r.agreed.After(r.unsync) {
		r.unsync = time.Time{}
	}
	connected := now.Sub(r.echo) < Silent
	settled := now.Sub(r.began) >= r.settle && r.cover.Sub(r.began) >= Silent && r.informed(now) // other members notified what it found
	r.self.Up, r.self.Ready = up, connected && (r.self.Ready || settled)
	r.self.OnDuty = r.first(now)
	listened := r.echo.Sub(r.since) >= Silent
	r.self.Ready = r.self.Ready || r.self.OnDuty && listened && connected // it notified what it found
	if r.self.OnDuty {
		if !before.OnDuty {
			r.from = r.uncovered()
			if r.unsync.IsZero() && r.vanished(now) {
				r.unsync = now
			}
		}
		r.cover = now
	}
	if r.self == before && now.Sub(r.sent) < Interval {
		return nil
	}
	return r.Announce(now)
}

// Next returns when the next Step is due if no message arrives until then. Whether this
// member is able to notify, and its digests, may change before.
func (r *Roster) Next() time.Time {
	next := r.sent.Add(Interval)
	at := func(since time.Time, passed ...time.Duration) {
		for _, d := range passed {
			if t := since.Add(d); !since.IsZero() && t.After(r.stepped) && t.Before(next) {
				next = t
			}
		}
	}
	at(r.echo, 2*Interval, Silent, Isolated)
	at(r.began, r.settle, r.settle+Patience)
	at(r.resumed, Silent, r.settle+Patience)
	at(r.differs, 3*Interval)
	at(r.asked, AskEvery)
	at(r.noted, AskEvery)
	for _, p := range r.peers {
		at(p.differs, 3*Interval)
		at(p.asked, AskEvery)
		at(p.receivedAt, Remembered+1)
	}
	return next
}

// uncovered returns the start of the period in which changes may not have been notified.
func (r *Roster) uncovered() time.Time {
	if r.cover.IsZero() {
		return r.cover
	}
	return r.cover.Add(-Margin)
}

// vanished reports whether a member was on duty and is gone without a word. It may have given indices of which
// nothing arrived.
func (r *Roster) vanished(now time.Time) bool {
	for _, p := range r.peers {
		if p.OnDuty && !p.Bye && !r.lives(p, now) {
			return true
		}
	}
	return false
}

// Announce returns the message to send now, whenever the last one was sent.
func (r *Roster) Announce(now time.Time) *Message {
	r.sent = now
	return new(r.self)
}

// Leave releases the duty and returns the last message.
func (r *Roster) Leave() *Message {
	m := r.self
	m.Bye, r.self.OnDuty = true, false
	return &m
}

// detectPause restarts the roster after a pause of this process: the other members
// were not silent in that time.
func (r *Roster) detectPause(now time.Time) {
	if now.Sub(r.stepped) >= Silent {
		r.listen(now)
		r.echo, r.self.OnDuty = now, false
	}
	r.stepped = now
}

// listen begins to listen as after a start: messages were missed, and alarms may have
// come and gone. A member on duty stays on duty until it receives a message of another
// one that comes first.
func (r *Roster) listen(now time.Time) {
	r.since = now
	r.began = now
	r.resumed = now
	r.unsync = now
	r.self.Ready = false
}

// first reports whether this member may be on duty: no live member comes first or
// still holds the duty, which is handed over so that two never hold it.
func (r *Roster) first(now time.Time) bool {
	if r.isolated(now) {
		return true
	}
	if r.echo.Sub(r.since) < Silent && !r.self.OnDuty { // listening
		return false
	}
	for _, p := range r.peers {
		if r.lives(p, now) && r.yields(p) {
			return false
		}
	}
	return true
}

// yields reports whether this member leaves the duty to another one. A member on duty
// that missed messages for a while yields only to another member on duty.
func (r *Roster) yields(p *peer) bool {
	switch {
	case !r.self.OnDuty:
		return p.OnDuty || p.before(&r.self)
	case !r.self.Ready:
		return p.OnDuty && p.before(&r.self)
	}
	return p.before(&r.self)
}

func (r *Roster) isolated(now time.Time) bool { return now.Sub(r.echo) >= Isolated }

// lives reports whether a member counts as live.
func (r *Roster) lives(p *peer, now time.Time) bool {
	return !p.Bye && !r.isolated(now) && r.echo.Sub(p.receivedAt) < Silent
}

// IDs returns the ids of the other members.
func (r *Roster) IDs() []string { return slices.Collect(maps.Keys(r.peers)) }

// State returns the state as of the last Step.
func (r *Roster) State() State {
	s := State{OnDuty: r.self.OnDuty, From: r.from, Known: len(r.peers), Shared: true, Skip: r.skip(), Unsync: r.unsync, At: r.stepped}
	var unable []string
	for _, p := range r.peers {
		if r.lives(p, r.stepped) {
			s.Live++
			s.Shared = s.Shared && (!p.OnDuty || p.Digest != "")
			if !p.Up {
				unable = append(unable, p.Name)
			}
		}
		s.StandsIn = s.StandsIn || p.Priority < r.self.Priority
	}
	slices.Sort(unable)
	s.Able, s.Unable = r.self.Up, strings.Join(unable, ", ")
	return s
}

// skip returns how many alarm indices this member leaves out while other members may
// have given them: a number that differs from that of every other priority, and
// usually from that of another member of the same priority.
func (r *Roster) skip() uint32 {
	if r.unsync.IsZero() {
		return 0
	}
	h := fnv.New32a()
	_, _ = h.Write([]byte(r.self.ID)) // never fails
	return 4*(1+uint32(r.self.Priority)) + h.Sum32()%4
}

// State is the state of a group at one moment.
type State struct {
	OnDuty   bool      // this member sends notifications
	Able     bool      // and can do so
	Unable   string    // names of the other live members that cannot send any; "" for none
	From     time.Time // if OnDuty: changes from here may not have been notified; zero for all changes
	Live     int       // other members that are live
	Known    int       // other members of the last 24 hours
	StandsIn bool      // one of those has a lower priority
	Shared   bool      // every other member on duty shares its alarms
	Unsync   time.Time // if Skip is not 0: since when the indices given by other members are unknown
	Skip     uint32    // alarm indices to leave out because other members may give them; else 0
	At       time.Time // by this member's clock
}

// Duty returns the part of the state that decides what is notified.
func (s *State) Duty() State {
	return State{OnDuty: s.OnDuty, From: s.From, Shared: s.Shared, Unsync: s.Unsync, Skip: s.Skip}
}
