// SPDX-License-Identifier: Apache-2.0

package agentx

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"net"
	"sync"
	"sync/atomic"
	"time"

	"github.com/pnagent/pnagent/agentx/pdu"
	"github.com/pnagent/pnagent/mib/smi"
)

// Errors of a session.
var (
	// ErrNotConnected is the error while there is no session with a master.
	ErrNotConnected = errors.New("not connected to an agentx master")
	// ErrLost is wrapped by the error of a session that ended before the answer came.
	ErrLost = errors.New("agentx session lost")
	// ErrBusy is the error while the write queue is full because the master does not read.
	ErrBusy = errors.New("agentx write queue is full")

	errClosed = errors.New("the master closed the session")
)

const (
	readBuffer = 16 << 10
	noSession  = -1
)

// response is a Response of the master and its session id.
type response struct {
	*pdu.Response
	session uint32
}

// registration is a subtree in a context.
type registration struct {
	context string
	subtree smi.OID
}

// session is one connection to the master: a reader that answers requests and
// dispatches responses, and a writer. Both end with the connection.
type session struct {
	counters *counters
	handler  handler
	repeats  repeats
	conn     net.Conn
	writer   *writer
	shutdown *shutdown
	flags    pdu.Flags    // the byte order of PDUs that are no answers
	id       atomic.Int64 // noSession until the master has given one

	// Accepted by the master; used only by the goroutine that opened the session.
	caps       []smi.OID
	registered []registration

	mu      sync.Mutex
	packet  uint32                   // the last packet id used
	waiting map[uint32]chan response // by packet id; each channel holds one

	done  chan struct{} // closed when the session has ended
	once  sync.Once
	cause error // valid after done
	tasks sync.WaitGroup
}

// newSession takes over conn and starts to read and write. The caller must call end.
func newSession(conn net.Conn, served *contexts, c *counters, flags pdu.Flags) *session {
	conn = newSocket(conn)
	s := &session{
		counters: c,
		handler:  handler{contexts: served},
		conn:     conn,
		writer:   newWriter(conn),
		shutdown: newShutdown(),
		flags:    flags,
		waiting:  make(map[uint32]chan response),
		done:     make(chan struct{}),
	}
	s.id.Store(noSession)
	s.tasks.Go(func() { s.fail(s.read()) })
	s.tasks.Go(func() {
		if err := s.writer.run(s.done); err != nil {
			s.fail(fmt.Errorf("write: %w", err))
		}
	})
	return s
}

// fail ends the session; the first cause is kept.
func (s *session) fail(cause error) {
	s.once.Do(func() {
		s.cause = cause
		close(s.done)
		_ = s.conn.Close() // the session ends in any case
	})
}

// end ends the session and waits for its goroutines.
func (s *session) end() {
	s.fail(ErrLost)
	s.tasks.Wait()
}

// read reads frames until the stream ends or has an invalid frame.
func (s *session) read() error {
	in := bufio.NewReaderSize(s.conn, readBuffer)
	var buf []byte
	for {
		h, payload, err := pdu.ReadFrame(in, buf)
		switch {
		case errors.Is(err, pdu.ErrVersion):
			s.counters.fault(FaultVersion)
			return err
		case errors.Is(err, pdu.ErrLength):
			s.counters.fault(FaultLength)
			return err
		case err != nil:
			return fmt.Errorf("read: %w", err)
		}
		if cap(payload) <= keepBuffer {
			buf = payload
		}
		if err := s.receive(h, payload); err != nil {
			return err
		}
	}
}

// receive handles one frame. An error ends the session.
func (s *session) receive(h pdu.Header, payload []byte) error {
	if h.Type == pdu.TypeResponse {
		s.dispatch(h, payload)
		return nil
	}
	if int64(h.Session) != s.id.Load() {
		s.counters.fault(FaultSession)
		s.refuse(h, pdu.NotOpen)
		return nil
	}
	if h.Type == pdu.TypeClose {
		return s.closed(h, payload)
	}
	if s.repeats.seen(h) {
		s.counters.fault(FaultRepeated)
		return nil
	}
	p, err := pdu.Decode(h, payload)
	if err != nil {
		s.counters.fault(FaultParse)
		if !s.refuse(h, pdu.ParseError) {
			s.repeats.forget()
		}
		return nil
	}
	s.serve(p)
	return nil
}

// closed handles the master's Close, which has no Response.
func (s *session) closed(h pdu.Header, payload []byte) error {
	p, err := pdu.Decode(h, payload)
	if err != nil {
		s.counters.fault(FaultParse)
		return fmt.Errorf("%w with an invalid reason: %w", errClosed, err)
	}
	return fmt.Errorf("%w: %v", errClosed, p.Body.(*pdu.Close).Reason)
}

// serve answers a request.
func (s *session) serve(p pdu.PDU) {
	now := time.Now()
	answer := s.handler.answer(now, p)
	switch {
	case answer == nil:
	case answer.Error == pdu.UnsupportedContext:
		s.counters.fault(FaultContext)
	case answer.Error == pdu.ProcessingError:
		s.counters.fault(FaultUnserved)
	case answer.Error == pdu.GenErr:
		s.counters.fault(FaultTooBig)
	}
	if answer == nil || answer.Error != pdu.ProcessingError {
		s.counters.count(func(s *Stats) {
			s.Requests[p.Header.Type]++
			if s.Since.IsZero() {
				s.Since = now
			}
		})
	}
	if answer == nil {
		return
	}
	if s.respond(p.Header, answer, s.handler.last) {
		s.counters.count(func(s *Stats) { s.Variables += uint64(len(answer.Variables)) })
	} else {
		s.repeats.forget()
	}
}

// refuse answers a request with an error. A Close and a CleanupSet have no Response. It
// reports false if the answer was dropped.
func (s *session) refuse(h pdu.Header, e pdu.Error) bool {
	if h.Type == pdu.TypeClose || h.Type == pdu.TypeCleanupSet {
		return true
	}
	return s.respond(h, &pdu.Response{Error: e}, false)
}

// respond sends the answer to the request with header h, in its byte order. last is
// whether it is the last one of its transaction. It reports false if the answer was dropped.
func (s *session) respond(h pdu.Header, answer *pdu.Response, last bool) bool {
	h.Flags &= pdu.FlagNetworkByteOrder
	frame, err := pdu.Append(s.writer.buffer(), pdu.PDU{Header: h, Body: answer})
	if err != nil {
		// The table has a value that the format cannot hold, such as a name of 129.
		s.counters.fault(FaultTooBig)
		frame, _ = pdu.Append(frame, pdu.PDU{Header: h, Body: &pdu.Response{Error: pdu.GenErr}})
		answer.Variables = nil
	}
	if s.shutdown.hold(frame, last) {
		s.handler.walks.heldBack(h.Transaction)
		s.writer.recycle(frame)
		return true
	}
	if !s.writer.send(frame) {
		s.counters.fault(FaultDropped)
		return false
	}
	return true
}

// wireID returns the session id for a PDU of ours: 0 in an Open.
func (s *session) wireID() uint32 { return uint32(max(s.id.Load(), 0)) }

// dispatch passes a Response to the goroutine that waits for it.
func (s *session) dispatch(h pdu.Header, payload []byte) {
	if id := s.id.Load(); id != noSession && int64(h.Session) != id {
		s.counters.fault(FaultSession)
		return
	}
	p, err := pdu.Decode(h, payload)
	if err != nil {
		s.counters.fault(FaultParse)
		return
	}
	s.mu.Lock()
	waiter, ok := s.waiting[h.Packet]
	delete(s.waiting, h.Packet)
	s.mu.Unlock()
	if !ok {
		s.counters.fault(FaultUnasked)
		return
	}
	waiter <- response{p.Body.(*pdu.Response), h.Session} // has room for one
}

// pendingRequest is a PDU of ours whose Response is awaited.
type pendingRequest struct {
	packet uint32
	waiter chan response // holds one
}

// pose appends a PDU of ours to frame, in the context name. Without an error the caller
// must call await or forget.
func (s *session) pose(frame []byte, name string, body pdu.Body) ([]byte, pendingRequest, error) {
	s.mu.Lock()
	s.packet++
	q := pendingRequest{packet: s.packet, waiter: make(chan response, 1)}
	s.waiting[q.packet] = q.waiter
	s.mu.Unlock()
	flags := s.flags
	if name != "" {
		flags |= pdu.FlagNonDefaultContext
	}
	whole, err := pdu.Append(frame, pdu.PDU{
		Header: pdu.Header{Flags: flags, Session: s.wireID(), Packet: q.packet}, Context: name, Body: body,
	})
	if err != nil {
		s.forget(q)
		return frame, q, err
	}
	return whole, q, nil
}

// forget drops a pending request.
func (s *session) forget(q pendingRequest) {
	s.mu.Lock()
	defer s.mu.Unlock()
	delete(s.waiting, q.packet)
}

// ask sends a PDU of ours and waits for its Response, which may hold an error.
func (s *session) ask(ctx context.Context, name string, body pdu.Body) (response, error) {
	frame, q, err := s.pose(s.writer.buffer(), name, body)
	if err != nil {
		return response{}, err
	}
	if !s.writer.send(frame) {
		s.forget(q)
		s.counters.fault(FaultDropped)
		return response{}, ErrBusy
	}
	return s.await(ctx, q)
}

// await waits for the Response to a PDU that was sent.
func (s *session) await(ctx context.Context, q pendingRequest) (response, error) {
	defer s.forget(q)
	select {
	case got := <-q.waiter:
		return got, nil
	case <-s.done:
		select {
		case got := <-q.waiter: // it came first
			return got, nil
		default:
			return response{}, fmt.Errorf("%w: %w", ErrLost, s.cause)
		}
	case <-ctx.Done():
		return response{}, context.Cause(ctx)
	}
}
