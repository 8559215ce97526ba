// SPDX-License-Identifier: Apache-2.0

package web

import (
	"fmt"
	"hash/crc32"
	"net/http"
	"time"
)

// viewer is one stream of events.
type viewer struct {
	w      http.ResponseWriter
	rc     *http.ResponseController
	s      *Server
	net    string // "" for overviews only
	packed bool
	sum    uint32 // of what was sent, if it is packed; and its length
	length uint64
	serial uint64 // of the board that it was sent last; 0 for none
	framed bool   // and whether a frame was of it
}

// serveLive streams overviews, and frames of a net, until the reader leaves,
// takes nothing for too long, or the server stops. A Last-Event-ID is not
// looked at: whoever comes, or comes back, starts with a whole frame. A net that
// is not known has no frames until it is: after a restart of the sidecar the
// viewers may be back before the engines are heard.
func (s *Server) serveLive(w http.ResponseWriter, r *http.Request) {
	name := r.URL.Query().Get("net")
	if !s.enter(name) {
		w.Header().Set("Retry-After", "10")
		refuse(w, http.StatusServiceUnavailable, fmt.Sprintf("%d viewers are here; no more are taken", s.cfg.Viewers))
		return
	}
	defer s.leave(name)
	v := &viewer{w: w, rc: http.NewResponseController(w), s: s, net: name, packed: takesGzip(r)}
	h := w.Header()
	h.Set("Content-Type", "text/event-stream")
	h.Set("Cache-Control", "no-store")
	h.Set("Vary", "Accept-Encoding")
	h.Set("X-Accel-Buffering", "no") // a proxy that waits for more shows nothing
	if v.packed {
		h.Set("Content-Encoding", "gzip")
	}
	if r.Method == http.MethodHead {
		return
	}
	// The time to read a request is over before a stream is. A ResponseWriter of
	// a test has no deadlines.
	_ = v.rc.SetReadDeadline(time.Time{})
	if err := v.stream(r); err != nil {
		s.counters.dropped.Add(1)
		s.cfg.Log.Debug("viewer dropped", "net", name, "remote", r.RemoteAddr, "error", err)
	}
}

// enter counts a viewer in, if there is room.
func (s *Server) enter(net string) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.viewers >= s.cfg.Viewers {
		s.counters.refused.Add(1)
		return false
	}
	s.viewers++
	s.looking[net]++
	return true
}

func (s *Server) leave(net string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.viewers--
	if s.looking[net]--; s.looking[net] == 0 {
		delete(s.looking, net)
	}
}

// stream sends what is new until something ends it. The error is that of a
// write.
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
		if err := v.flush(); err != nil {
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

// show sends what a board has that the viewer was not sent: the difference, if
// it has the frame of the board before, and else a whole frame.
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

// send sends an event, which all viewers share, as the viewer takes it.
func (v *viewer) send(e *event) error {
	if !v.packed {
		return v.write(e.text)
	}
	v.sum, v.length = crc32.Update(v.sum, crc32.IEEETable, e.text), v.length+uint64(len(e.text))
	return v.write(e.packed())
}

// end makes the stream complete, so that its reader sees no fault in it.
func (v *viewer) end() error {
	if !v.packed {
		return nil
	}
	return v.write(gzipEnd(v.sum, v.length))
}

// write gives a reader that takes nothing up after a while.
func (v *viewer) write(text []byte) error {
	_ = v.rc.SetWriteDeadline(time.Now().Add(v.s.cfg.WriteTimeout)) // see serveLive
	n, err := v.w.Write(text)
	v.s.counters.bytes.Add(uint64(n))
	return err
}

func (v *viewer) flush() error { return v.rc.Flush() }
