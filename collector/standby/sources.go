// SPDX-License-Identifier: Apache-2.0

package standby

import "github.com/pnagent/pnagent/collector/standby/roster"

// Sources gives access to a sidecar's silent sources, which this package does not
// decode. A sidecar that starts fetches them from the others. A separate goroutine calls the functions.
type Sources struct {
	Silent func() ([]byte, error)
	Take   func(silent []byte) error // takes the result of another sidecar's Silent
}

// flushEvery is the number of parcels sent before a flush.
const flushEvery = 16

// exchange is the state of a Member's requests and answers for silent sources.
type exchange struct {
	assembly  assembly
	answering chan struct{} // full while an answer is sent
	taken     chan taken
	ended     chan struct{} // closed when Run ends
}

// taken is the result of taking another member's silent sources.
type taken struct {
	from string
	err  error
}

// parcelSubject is the subject of silent sources. It is a sibling of the group's, so that
// earlier versions do not receive them.
func (m *Member) parcelSubject() string { return m.group() + parcelsSuffix }

// fetch asks a member for its silent sources; "" asks none.
func (m *Member) fetch(from string) {
	if from == "" || !m.cfg.Connected() {
		return
	}
	ask := Page{Version: roster.Version, ID: m.id, To: from, Ask: true}
	if err := m.sealer.publish(m.cfg.Conn, m.parcelSubject(), ask.Encode()); err != nil {
		m.cfg.Log.Debug("cannot ask another sidecar for its silent sources", "err", err)
	}
}

// receiveParcel takes a parcel of another member. It drops a request while it answers
// another one; the sender asks again.
func (m *Member) receiveParcel(data []byte) error {
	p, err := DecodePage(data)
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

// took records an answer as taken, even with errors: another request would have the same answer.
func (m *Member) took(t taken) {
	if t.err != nil {
		m.cfg.Log.Warn("cannot take silent sources of another sidecar", "err", t.err)
	}
	m.roster.Fetched(t.from)
}

// answer sends this sidecar's silent sources.
func (m *Member) answer(to string) {
	defer func() { <-m.exchange.answering }()
	silent, err := m.cfg.Sources.Silent()
	if err != nil {
		m.cfg.Log.Warn("cannot read all silent sources for another sidecar", "err", err) // the rest is sent
	}
	for i, p := range parcels(m.id, to, silent) {
		if !m.cfg.Connected() {
			return
		}
		err := m.sealer.publish(m.cfg.Conn, m.parcelSubject(), p.Encode())
		if err == nil && i%flushEvery == flushEvery-1 {
			err = m.cfg.Conn.FlushTimeout(flushWithin)
		}
		if err != nil {
			m.cfg.Log.Warn("cannot send silent sources to another sidecar", "err", err)
			return
		}
	}
}
