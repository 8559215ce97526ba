// SPDX-License-Identifier: Apache-2.0

package web

import (
	"fmt"
	"hash/crc32"
	"net/http"
	"net/netip"
	"time"

	"github.com/pnagent/pnagent/internal/accept"
	"github.com/pnagent/pnagent/internal/httpserver"
)

// viewer is one stream of events.
type viewer struct {
	w      http.ResponseWriter
	rc     *http.ResponseController
	s      *Server
	net    string // "" for overviews only
	packed bool
	sum    uint32 // checksum of what was sent, if it is compressed; and its length
	length uint64
	serial uint64 // of the last board that was sent; 0 for none
	framed bool   // whether a frame of that board was sent
}

// serveLive streams overviews, and frames of a net, until the viewer leaves, reads
// nothing for too long, or the server stops. It ignores a Last-Event-ID: each
// stream starts with a whole frame. A net that is not known has no frames until it
// is: after a restart of the sidecar, viewers may return before the first messages
// of engines.
func (s *Server) serveLive(w http.ResponseWriter, r *http.Request) {
	name := r.URL.Query().Get("net")
	peer := httpserver.Peer(r.RemoteAddr)
	if status, why := s.enter(name, peer); why != "" {
		w.Header().Set("Retry-After", "10")
		refuse(w, status, why)
		return
	}
	defer s.leave(name, peer)
	v := &viewer{w: w, rc: http.NewResponseController(w), s: s, net: name, packed: accept.Gzip(r.Header)}
	h := w.Header()
	h.Set("Content-Type", "text/event-stream")
	h.Set("Cache-Control", "no-store")
	h.Set("Vary", "Accept-Encoding")
	h.Set("X-Accel-Buffering", "no") // a proxy must not buffer events
	if v.packed {
		h.Set("Content-Encoding", "gzip")
	}
	if r.Method == http.MethodHead {
		return
	}
	// A stream lasts longer than the time limit for reading a request. A
	// ResponseWriter of a test may have no deadlines.
	_ = v.rc.SetReadDeadline(time.Time{})
	if err := v.stream(r); err != nil {
		s.counters.dropped.Add(1)
		s.cfg.Log.Debug("viewer dropped", "net", name, "addr", r.RemoteAddr, "err", err)
	}
}

// enter adds a viewer, if there is room. Otherwise it returns the status of the
// answer and the reason.
func (s *Server) enter(net string, peer netip.Prefix) (status int, why string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	switch {
	case s.viewers >= s.cfg.Viewers:
		s.counters.viewers.Add(1)
		return http.StatusServiceUnavailable, fmt.Sprintf("%d viewers are connected; no more are taken", s.cfg.Viewers)
	case s.peers[peer] >= s.cfg.ViewersPerAddress:
		s.counters.address.Add(1)
		return http.StatusTooManyRequests, fmt.Sprintf("%d viewers are connected from your address; no more are taken (--web.viewers-per-address)", s.cfg.ViewersPerAddress)
	}
	s.viewers++
	s.peers[peer]++
	s.looking[net]++
	return http.StatusOK, ""
}

func (s *Server) leave(net string, peer netip.Prefix) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.viewers--
	if s.peers[peer]--; s.peers[peer] == 0 {
		delete(s.peers, peer)
	}
	if s.looking[net]--; s.looking[net] == 0 {
		delete(s.looking, net)
	}
}

// stream sends new boards until the viewer or the server ends. It returns the
// error of a write.
func (v *viewer) stream(r *http.Request) error {
	beat := time.NewTicker(v.s.cfg.Heartbeat)
	defer beat.Stop()
	if v.packed {
		if err := v.write([]byte(gzipHeader)); err != nil {
			return err
		}
	}
	for {
		b := v.s.board.Load()
		if err := v.show(b); err != nil {
			return err
		}
		if err := v.rc.Flush(); err != nil {
			return err
		}
		select {
		case <-b.next:
		case <-beat.C:
			if err := v.send(v.s.alive); err != nil {
				return err
			}
		case <-v.s.done:
			return v.end()
		case <-r.Context().Done():
			return nil
		}
	}
}

// show sends the part of a board that the viewer lacks: the difference if it has
// the previous frame, and else a whole frame.
func (v *viewer) show(b *board) error {
	if b.serial == v.serial {
		return nil
	}
	next := v.framed && v.serial+1 == b.serial
	n := b.nets[v.net]
	v.serial, v.framed = b.serial, n != nil
	if err := v.send(b.overview()); err != nil || n == nil {
		return err
	}
	if next && n.diff != nil {
		v.s.counters.diffs.Add(1)
		return v.send(n.diff)
	}
	v.s.counters.wholes.Add(1)
	return v.send(n.whole())
}

// send sends a shared event, compressed if the viewer accepts that.
func (v *viewer) send(e *event) error {
	if !v.packed {
		return v.write(e.text)
	}
	v.sum, v.length = crc32.Update(v.sum, crc32.IEEETable, e.text), v.length+uint64(len(e.text))
	return v.write(e.packed())
}

// end completes the stream, so that its reader detects no error.
func (v *viewer) end() error {
	if !v.packed {
		return nil
	}
	return v.write(gzipEnd(v.sum, v.length))
}

// write writes text, with a deadline for viewers that read nothing.
func (v *viewer) write(text []byte) error {
	_ = v.rc.SetWriteDeadline(time.Now().Add(v.s.cfg.WriteTimeout)) // see serveLive
	n, err := v.w.Write(text)
	v.s.counters.bytes.Add(uint64(n))
	return err
}
