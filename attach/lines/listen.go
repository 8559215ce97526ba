// SPDX-License-Identifier: Apache-2.0

package lines

import (
	"context"
	"errors"
	"fmt"
	"net"
	"net/http"

	"github.com/nats-io/nats.go"
)

// MaxBody bounds the body of a request, in bytes.
const MaxBody = 16 << 20

// maxRequests bounds the requests whose bodies are in memory at once.
const maxRequests = 4

// Handler returns a handler that reads the lines in the body of a POST. It
// answers with a JSON object: the number of lines, and by reason those that are
// not events.
func (a *Attachment) Handler() http.Handler {
	return a.posts(maxRequests, http.StatusServiceUnavailable, func(f *Feed, body []byte, r *http.Request) error {
		if f.Take(r.Context(), body, nil) != nil {
			return errors.New("the request ended before the times of its events")
		}
		return nil
	})
}

// posts returns a handler of POSTs, of which at most some are in memory at once. take reads the lines of
// a body; status is that of an answer with its error.
func (a *Attachment) posts(most, status int, take func(f *Feed, body []byte, r *http.Request) error) http.Handler {
	feeds := make(chan *Feed, most)
	for range most {
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
		body, ok := bodyOf(w, r)
		if !ok {
			return
		}
		if err := take(f, body, r); err != nil {
			http.Error(w, err.Error(), status)
			return
		}
		a.answer(w, f)
	})
}

// answer is the result of reading lines.
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

// datagramSize is the largest UDP datagram, in bytes.
const datagramSize = 64 << 10

// receiveBuffer is the requested size of the system's buffer, in bytes.
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
	_ = conn.SetReadBuffer(receiveBuffer) // a smaller buffer if the system refuses
	return conn, nil
}

// Datagrams reads datagrams, each of one or more whole lines, until ctx ends;
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

// Subject subscribes to messages, each of one or more whole lines. run reads
// them until ctx ends. NATS does not store messages for an absent subscriber;
// lost returns how many the client dropped, and may be called at any time.
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

// maxPending bounds the messages in the client's buffer.
const maxPending = 64 << 10
