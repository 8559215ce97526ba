// SPDX-License-Identifier: Apache-2.0

package standby

import "github.com/nats-io/nats.go"

// Sources are what a sidecar has of sources that are silent, in a form that this
// package does not look into. A sidecar that starts cannot hear those, so it asks the
// others. The functions are called by a goroutine of their own.
type Sources struct {
	Silent func() ([]byte, error)
	Take   func(silent []byte) error // takes what Silent of another sidecar returned
}

// flushEvery is how many parcels are sent at once.
const flushEvery = 16

// exchange is what a Member is doing about silent sources.
type exchange struct {
	assembly  assembly
	answering chan struct{} // is full while another sidecar is answered
	taken     chan taken
	ended     chan struct{} // is closed when Run ends
}

// taken says that what another sidecar has of silent sources was taken, or not.
type taken struct {
	from string
	err  error
}

// parcelSubject is the subject of silent sources: a sibling of the group's, so that
// sidecars that do not know of them do not hear them.
func (m *Member) parcelSubject() string { return m.cfg.Subject + "-sources" }

// fetch asks another sidecar for its silent sources when it is time to.
func (m *Member) fetch(from string) {
	if from == "" || !m.cfg.Connected() {
		return
	}
	ask := Parcel{Version: Version, ID: m.id, To: from, Ask: true}
	if err := m.cfg.Conn.Publish(m.parcelSubject(), ask.Encode()); err != nil {
		m.cfg.Log.Debug("asking another sidecar for its silent sources", "err", err)
	}
}

// receive takes a parcel of another sidecar. One that asks is answered once at a
// time: it asks again.
func (m *Member) receive(msg *nats.Msg) error {
	p, err := DecodeParcel(msg.Data)
	if err != nil || p.To != m.id {
		return err
	}
	if p.Ask {
		select {
		case m.exchange.answering <- struct{}{}:
			m.tasks.Go(func() { m.answer(p.ID) })
		default:
		}
		return nil
	}
	if !m.roster.Awaits(p.ID) {
		return nil
	}
	whole, err := m.exchange.assembly.add(&p)
	if !whole {
		return err
	}
	silent := m.exchange.assembly.data
	m.exchange.assembly = assembly{}
	m.tasks.Go(func() {
		t := taken{p.ID, m.cfg.Sources.Take(silent)}
		select {
		case m.exchange.taken <- t:
		case <-m.exchange.ended:
		}
	})
	return nil
}

// took notes that sources were taken, as far as they can be: the same would come if
// the other sidecar was asked again.
func (m *Member) took(t taken) {
	if t.err != nil {
		m.cfg.Log.Warn("silent sources of another sidecar were not taken", "err", t.err)
	}
	m.roster.Fetched(t.from)
}

// answer sends what this sidecar has of silent sources.
func (m *Member) answer(to string) {
	defer func() { <-m.exchange.answering }()
	silent, err := m.cfg.Sources.Silent()
	if err != nil {
		m.cfg.Log.Warn("silent sources for another sidecar", "err", err) // it is sent the others
	}
	for i, p := range parcels(m.id, to, silent) {
		if !m.cfg.Connected() {
			return
		}
		err := m.cfg.Conn.Publish(m.parcelSubject(), p.Encode())
		if err == nil && i%flushEvery == flushEvery-1 {
			err = m.cfg.Conn.FlushTimeout(flushWithin)
		}
		if err != nil {
			m.cfg.Log.Warn("sending silent sources to another sidecar", "err", err)
			return
		}
	}
}
