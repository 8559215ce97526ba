// SPDX-License-Identifier: Apache-2.0

package standby

import (
	"hash/fnv"
	"time"
)

// How long what takes.
const (
	// Interval is between two messages of a sidecar.
	Interval = 500 * time.Millisecond
	// Silent is how long after its last message a sidecar is taken to be gone,
	// and how long one listens before it is on duty.
	Silent = 3 * time.Second
	// Isolated is how long a sidecar that does not even hear itself waits until
	// it is on duty.
	Isolated = 10 * time.Second
	// Margin is how much earlier than the other one this sidecar may see an
	// alarm, and how long the other's notification may take.
	Margin = 2 * time.Second
	// Settle is how long after its start a sidecar is ready at the earliest where
	// another one is on duty: it listens, raises what it finds, and Margin does not
	// reach back to that.
	Settle = 2 * Silent
	// AskEvery is how long after it asked for the alarms of the others a sidecar
	// that does not know the same asks again, and Patience how long after Settle it
	// takes the duty nevertheless.
	AskEvery = 5 * time.Second
	Patience = 30 * time.Second
	// Remembered is how long a sidecar that is gone is known.
	Remembered = 24 * time.Hour
)

// MaxPeers is how many other sidecars are known at most.
const MaxPeers = 64

// Roster knows the sidecars of a group. It is not safe for concurrent use.
type Roster struct {
	self   Message
	settle time.Duration
	peers  map[string]*peer // by id

	began   time.Time // its start, or when it went on after it was stopped
	since   time.Time // from when on the others could be heard
	resumed time.Time // since when it hears the others without a break that is longer than two Intervals
	echo    time.Time // when a message of its own came back
	deaf    time.Time // since when it did not hear itself, or its start; zero when it has heard what others know
	stepped time.Time
	told    time.Time // when it last spoke
	cover   time.Time // until when somebody told of alarms; zero where nobody did
	from    time.Time // of the duty it has
	agreed  time.Time // when it last knew the same alarms as the sidecar on duty
	differs time.Time // since when it does not; zero while it does
	asked   time.Time // when it last asked for the alarms of the others
}

// peer is another sidecar.
type peer struct {
	Message
	heard time.Time
	// Since when it was heard without a break. One that was stopped for a moment
	// may not have looked yet at what changed, though it says that it is on duty.
	steady time.Time
	// When it was asked last for its silent sources, and when so that these were
	// taken. See Fetch.
	asked, fetched time.Time
}

// NewRoster returns the roster of a sidecar that starts now. Of self, the fields
// that tell how it is do not matter. It is ready when settle, or Settle where that
// is longer, is over and another one was on duty, and else when it is on duty itself.
func NewRoster(self Message, settle time.Duration, now time.Time) *Roster {
	self.Version, self.Up, self.Ready, self.OnDuty, self.Bye = Version, false, false, false, false
	return &Roster{self: self, settle: max(settle, Settle), peers: map[string]*peer{}, began: now, since: now, resumed: now, echo: now, deaf: now, stepped: now}
}

// Hear takes a message that came now. It tells whether it is the first of its
// sender, who should then be told at once who else there is. The error is
// TooMany.
func (r *Roster) Hear(m Message, now time.Time) (isNew bool, err error) {
	r.wake(now)
	if m.ID == r.self.ID {
		if now.Sub(r.echo) >= Silent {
			r.wakeUp(now)
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
		r.succeed(m.Name, now)
		if len(r.peers) >= MaxPeers && !r.evict(now) {
			return false, TooMany
		}
		p = &peer{}
		r.peers[m.ID] = p
	}
	if now.Sub(p.heard) >= 2*Interval {
		p.steady = now
	}
	if m.OnDuty && m.Up && now.Sub(p.steady) >= Interval {
		r.cover = now
	}
	p.Message, p.heard = m, now
	r.compare(&m, now)
	return isNew, nil
}

// compare looks whether the sidecar on duty knows the same alarms. While none is on
// duty all are to know the same, so that the one that will be does.
func (r *Roster) compare(m *Message, now time.Time) {
	switch {
	case m.Bye || m.Digest == "" || r.self.Digest == "":
	case m.Digest == r.self.Digest && (m.OnDuty || r.self.OnDuty):
		r.agreed, r.differs = now, time.Time{}
	case r.self.OnDuty || !m.OnDuty && r.dutyHeard(now):
	case m.Digest == r.self.Digest:
		r.differs = time.Time{}
	case r.differs.IsZero():
		r.differs = now
	}
}

// dutyHeard reports whether another sidecar is on duty.
func (r *Roster) dutyHeard(now time.Time) bool {
	for _, p := range r.peers {
		if p.OnDuty && r.lives(p, now) {
			return true
		}
	}
	return false
}

// Know says what this sidecar knows of alarms, see Message.
func (r *Roster) Know(digest string) { r.self.Digest = digest }

// Ask reports whether it is time to ask the others for their alarms, and to send
// them one's own: at once when the first sidecar on duty was heard, and then where
// the two have not known the same for longer than a change is under way.
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

// informed reports whether this sidecar has the alarms and the silent sources of the
// one on duty, or that one does not share them.
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

// listened is when this sidecar had listened for Silent.
func (r *Roster) listened() time.Time { return r.resumed.Add(Silent) }

// Fetch returns the id of another sidecar that is to be asked now for its silent
// sources, or "". It is asked when it is first heard after a start or a break, so
// that those are shown, and once more after Silent: by then it has what ended in the
// meantime. Where it does not answer it is asked again, until Patience is over.
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

// Awaits reports whether a sidecar was asked for its silent sources and these were
// not taken yet.
func (r *Roster) Awaits(id string) bool {
	p := r.peers[id]
	return p != nil && p.fetched.Before(p.asked)
}

// Fetched says that the silent sources of a sidecar were taken.
func (r *Roster) Fetched(id string) {
	if p := r.peers[id]; p != nil {
		p.fetched = p.asked
	}
}

// succeed forgets the earlier lives of a sidecar that is back.
func (r *Roster) succeed(name string, now time.Time) {
	for id, p := range r.peers {
		if p.Name == name && !r.lives(p, now) {
			delete(r.peers, id)
		}
	}
}

// evict forgets the one that is gone for longest, and reports whether there is
// one.
func (r *Roster) evict(now time.Time) bool {
	var oldest *peer
	for _, p := range r.peers {
		if !r.lives(p, now) && (oldest == nil || p.heard.Before(oldest.heard)) {
			oldest = p
		}
	}
	if oldest == nil {
		return false
	}
	delete(r.peers, oldest.ID)
	return true
}

// Step says how it is now: up, that the faces of this sidecar are. It returns
// the message to send, if it is time for one.
func (r *Roster) Step(up bool, now time.Time) (speak *Message) {
	r.wake(now)
	for id, p := range r.peers {
		if now.Sub(p.heard) > Remembered {
			delete(r.peers, id)
		}
	}
	before := r.self
	if lost := r.echo.Add(2 * Interval); !now.Before(lost) {
		r.deaf = lost
	} else if r.agreed.After(r.deaf) {
		r.deaf = time.Time{}
	}
	deaf := now.Sub(r.echo) >= Silent
	settled := now.Sub(r.began) >= r.settle && r.cover.Sub(r.began) >= Silent && r.informed(now) // others have told what it found
	r.self.Up, r.self.Ready = up, !deaf && (r.self.Ready || settled)
	r.self.OnDuty = r.first(now)
	listened := r.echo.Sub(r.since) >= Silent
	r.self.Ready = r.self.Ready || r.self.OnDuty && listened && !deaf // what it finds it has told
	if r.self.OnDuty {
		if !before.OnDuty {
			r.from = r.uncovered()
		}
		r.cover = now
	}
	if r.self == before && now.Sub(r.told) < Interval {
		return nil
	}
	return r.Speak(now)
}

// uncovered is from when on changes may not have been told.
func (r *Roster) uncovered() time.Time {
	if r.cover.IsZero() {
		return r.cover
	}
	return r.cover.Add(-Margin)
}

// Speak returns the message to send now, whenever the last one was.
func (r *Roster) Speak(now time.Time) *Message {
	r.told = now
	m := r.self
	return &m
}

// Bye returns the last message. The sidecar is not on duty any more.
func (r *Roster) Bye() *Message {
	m := r.self
	m.Bye, r.self.OnDuty = true, false
	return &m
}

// wake notices that the process was stopped and goes on: its own pause is not
// the silence of the others.
func (r *Roster) wake(now time.Time) {
	if now.Sub(r.stepped) >= Silent {
		r.wakeUp(now)
		r.echo, r.self.OnDuty = now, false
	}
	r.stepped = now
}

// wakeUp begins to listen as after a start: those that spoke meanwhile were not
// heard, and alarms may have come and gone. One that is on duty remains so until it
// hears of one that is to be.
func (r *Roster) wakeUp(now time.Time) {
	r.since, r.began, r.resumed, r.deaf, r.self.Ready = now, now, now, now, false
}

// first reports whether no other sidecar comes before this one, nor is on duty
// still: the duty is handed over, so that there are never two.
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

// yields reports whether this sidecar is not on duty because of another one. One
// on duty that did not hear the others for a while yields only to one that is on
// duty too.
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

// lives tells whether a sidecar is taken to be there.
func (r *Roster) lives(p *peer, now time.Time) bool {
	return !p.Bye && !r.isolated(now) && r.echo.Sub(p.heard) < Silent
}

// State returns how it is, as of the last Step.
func (r *Roster) State() State {
	s := State{OnDuty: r.self.OnDuty, From: r.from, Known: len(r.peers), Shared: true, Skip: r.skip(), Deaf: r.deaf, At: r.stepped}
	for _, p := range r.peers {
		if r.lives(p, r.stepped) {
			s.Live++
			s.Shared = s.Shared && (!p.OnDuty || p.Digest != "")
		}
		s.StandsIn = s.StandsIn || p.Priority < r.self.Priority
	}
	return s
}

// skip is how many indices of alarms this sidecar leaves out after its start and while
// it cannot know what others give, until it has heard them: a number that is not that of another priority, nor, mostly,
// that of another sidecar of the same priority.
func (r *Roster) skip() uint32 {
	if r.deaf.IsZero() {
		return 0
	}
	h := fnv.New32a()
	_, _ = h.Write([]byte(r.self.ID)) // never fails
	return 4*(1+uint32(r.self.Priority)) + h.Sum32()%4
}

// State is how things are at one moment.
type State struct {
	OnDuty   bool      // this sidecar sends notifications
	From     time.Time // if OnDuty: from when on changes may not have been told; zero for all of them
	Live     int       // other sidecars that are there
	Known    int       // and those that were, in the last 24 hours
	StandsIn bool      // of those known, one has a lower priority
	Shared   bool      // no other sidecar is on duty that does not share its alarms
	Deaf     time.Time // if Skip is not 0: since when it does not know what others give
	Skip     uint32    // indices of alarms to leave out, as others may give the next ones; else 0
	At       time.Time // by this sidecar's clock
}
