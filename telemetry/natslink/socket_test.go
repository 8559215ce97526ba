// SPDX-License-Identifier: Apache-2.0

package natslink

import (
	"bytes"
	"errors"
	"io"
	"math/rand/v2"
	"net"
	"os"
	"strings"
	"testing"

	"github.com/nats-io/nats.go"

	"github.com/pnagent/pnagent/internal/wakeup"
)

// pair returns both ends of a connection, the first one as a Link dials it.
func pair(t *testing.T) (*recordingConn, *net.TCPConn) {
	t.Helper()
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer listener.Close()
	l := &Link{pings: wakeup.New()}
	dialed, err := dialer{l}.Dial("tcp", listener.Addr().String())
	if err != nil {
		t.Fatal(err)
	}
	accepted, err := listener.Accept()
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = dialed.Close(); _ = accepted.Close() })
	if l.last.Load() != dialed {
		t.Fatal("the Link does not have the connection that it dialled")
	}
	return dialed.(*recordingConn), accepted.(*net.TCPConn)
}

// What exceeds the buffers of the system is written in pieces and arrives whole, both ways.
func TestASocketPassesOnWhatItIsGiven(t *testing.T) {
	t.Parallel()
	c, peer := pair(t)
	sent := make([]byte, 16<<20)
	for i := range sent {
		sent[i] = byte(rand.Uint32())
	}
	for way, ends := range map[string][2]net.Conn{"written": {c, peer}, "read": {peer, c}} {
		wrote := make(chan error, 1)
		go func() {
			n, err := ends[0].Write(sent)
			if n != len(sent) {
				err = errors.Join(err, io.ErrShortWrite)
			}
			wrote <- err
		}()
		got := make([]byte, len(sent))
		_, err := io.ReadFull(ends[1], got)
		if err := errors.Join(err, <-wrote); err != nil || !bytes.Equal(got, sent) {
			t.Errorf("%s: %v, the same bytes: %v", way, err, bytes.Equal(got, sent))
		}
	}
	if n, err := c.Write(nil); n != 0 || err != nil {
		t.Errorf("nothing written: %d, %v", n, err)
	}
	if n, err := c.Read(nil); n != 0 || err != nil {
		t.Errorf("nothing read: %d, %v", n, err)
	}
}

func TestAWriteThatNobodyReadsEndsInTime(t *testing.T) {
	t.Parallel()
	c, _ := pair(t)
	n, err := c.Write(make([]byte, 64<<20))
	if !errors.Is(err, os.ErrDeadlineExceeded) || n == 0 || n == 64<<20 {
		t.Errorf("%d bytes, %v; want a part of them, and that time is over", n, err)
	}
}

// The client reports what fails first, and that can be a write.
func TestAWriteAfterTheLinkEndedTheConnectionHasTheReason(t *testing.T) {
	t.Parallel()
	c, _ := pair(t)
	c.end(nats.ErrStaleConnection)
	if n, err := c.Write([]byte("x")); n != 0 || !errors.Is(err, nats.ErrStaleConnection) {
		t.Errorf("%d bytes, %v; want none, and %v", n, err, nats.ErrStaleConnection)
	}
}

func TestTheEndOfASocketIsReportedAsThatOfAConnection(t *testing.T) {
	t.Parallel()
	for want, end := range map[string]func(c *recordingConn, peer *net.TCPConn){
		"EOF":                            func(_ *recordingConn, peer *net.TCPConn) { _ = peer.CloseWrite() },
		"read: connection reset by peer": func(_ *recordingConn, peer *net.TCPConn) { _ = peer.SetLinger(0); _ = peer.Close() },
		"use of closed network connection": func(c *recordingConn, _ *net.TCPConn) {
			_ = c.Close()
		},
		nats.ErrStaleConnection.Error(): func(c *recordingConn, _ *net.TCPConn) { c.end(nats.ErrStaleConnection) },
	} {
		t.Run(want, func(t *testing.T) {
			t.Parallel()
			c, peer := pair(t)
			got := make(chan error, 1)
			go func() {
				_, err := c.Read(make([]byte, 1))
				got <- err
			}()
			end(c, peer)
			if err := <-got; err == nil || !strings.HasSuffix(err.Error(), want) {
				t.Errorf("%v; want %s", err, want)
			}
		})
	}
}
