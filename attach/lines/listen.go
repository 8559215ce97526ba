// SPDX-License-Identifier: Apache-2.0

package lines

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"

	"github.com/nats-io/nats.go"
)

// MaxBody bounds the body of a request, in bytes.
const MaxBody = 16 << 20

// maxRequests bounds the requests whose bodies are in memory at once.
const maxRequests = 4

// Handler takes the lines in the body of a POST. It answers, when they are taken, with a JSON
// object: how many lines there were, and by reason how many are no event.
func (a *Attachment) Handler() http.Handler {
	feeds := make(chan *Feed, maxRequests)
	for range maxRequests {
		feeds <- a.Feed()
	}
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		var f *Feed
		select {
		case f = <-feeds:
		case <-r.Context().Done():
			return
		}
		defer func() { feeds <- f }()
		body, err := io.ReadAll(http.MaxBytesReader(w, r.Body, MaxBody))
		if tooLarge := (*http.MaxBytesError)(nil); errors.As(err, &tooLarge) {
			http.Error(w, fmt.Sprintf("a body of more than %d bytes; expected several requests", MaxBody), http.StatusRequestEntityTooLarge)
			return
		}
		if err != nil {
			http.Error(w, "the body did not come whole; nothing of it is taken", http.StatusBadRequest)
			return
		}
		if err := f.Take(r.Context(), body, nil); err != nil {
			http.Error(w, "the request ended before its time had come", http.StatusServiceUnavailable)
			return
		}
		w.Header().Set("Content-Type", "application/json")
		_ = json.NewEncoder(w).Encode(f.taken.answer()) // who is gone does not get it
	})
}

// answer is what became of lines, for those who ask.
type answer struct {
	Lines   uint64            `json:"lines"`
	Dropped map[string]uint64 `json:"dropped,omitempty"` // by reason
}

func (c *Counters) answer() answer {
	out := answer{Lines: c.Lines, Dropped: map[string]uint64{}}
	for _, why := range Reasons() {
		if n := c.Dropped[why]; n > 0 {
			out.Dropped[why.String()] = n
		}
	}
	return out
}

// datagramSize is what a UDP datagram holds at most, in bytes.
const datagramSize = 64 << 10

// receiveBuffer is how much the system is asked to keep for us, in bytes.
const receiveBuffer = 4 << 20

// ListenUDP opens a socket for Datagrams.
func ListenUDP(address string) (*net.UDPConn, error) {
	at, err := net.ResolveUDPAddr("udp", address)
	if err != nil {
		return nil, fmt.Errorf("listening for datagrams: %w", err)
	}
	conn, err := net.ListenUDP("udp", at)
	if err != nil {
		return nil, fmt.Errorf("listening for datagrams: %w", err)
	}
	_ = conn.SetReadBuffer(receiveBuffer) // less room if the system does not like it
	return conn, nil
}

// Datagrams takes the lines of datagrams, each one or more whole lines, until ctx ends;
// then it closes the socket.
func (a *Attachment) Datagrams(ctx context.Context, conn *net.UDPConn) error {
	defer context.AfterFunc(ctx, func() { _ = conn.Close() })() // ends the read
	f, buf := a.Feed(), make([]byte, datagramSize)
	for {
		n, _, err := conn.ReadFromUDPAddrPort(buf)
		if ctx.Err() != nil {
			return ctx.Err()
		}
		if err != nil {
			return errors.Join(fmt.Errorf("receiving datagrams: %w", err), conn.Close())
		}
		if err := f.Take(ctx, buf[:n], nil); err != nil {
			return err
		}
	}
}

// Subject takes the lines of messages, each one or more whole lines, until ctx
// ends. NATS keeps nothing for who is not there; what the client had no room for is
// counted by lost, which may be called at any time.
func (a *Attachment) Subject(nc *nats.Conn, subject string) (run func(ctx context.Context) error, lost func() uint64, err error) {
	messages := make(chan *nats.Msg, maxPending)
	sub, err := nc.ChanSubscribe(subject, messages)
	if err != nil {
		return nil, nil, fmt.Errorf("listening to subject %q: %w", subject, err)
	}
	lost = func() uint64 {
		n, err := sub.Dropped()
		if err != nil { // unsubscribed
			return 0
		}
		return uint64(n)
	}
	return func(ctx context.Context) error {
		f := a.Feed()
		for {
			select {
			case <-ctx.Done():
				if err := sub.Unsubscribe(); err != nil && !errors.Is(err, nats.ErrConnectionClosed) {
					return fmt.Errorf("leaving subject %q: %w", subject, err)
				}
				return ctx.Err()
			case m := <-messages:
				if err := f.Take(ctx, m.Data, nil); err != nil {
					return err
				}
			}
		}
	}, lost, nil
}

// maxPending is how many messages wait for us at most.
const maxPending = 64 << 10
