// SPDX-License-Identifier: Apache-2.0

package natslink_test

import (
	"bufio"
	"bytes"
	"fmt"
	"net"
	"strings"
	"testing"
	"time"

	"github.com/nats-io/nats-server/v2/server"
	"github.com/nats-io/nats.go"
)

// lying is a NATS server that announces a message and sends only its beginning.
func lying(t *testing.T, announcement string) (url string) {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	ended := make(chan struct{})
	t.Cleanup(func() { _ = l.Close(); <-ended })
	go func() {
		defer close(ended)
		for {
			c, err := l.Accept()
			if err != nil {
				return
			}
			lie(c, announcement)
		}
	}()
	return "nats://" + l.Addr().String()
}

// lie serves one connection until the client ends it.
func lie(c net.Conn, announcement string) {
	defer c.Close()
	fmt.Fprintf(c, "INFO {\"server_id\":\"x\",\"version\":\"2.10.0\",\"max_payload\":2147483647,\"headers\":true}\r\n")
	for lines := bufio.NewScanner(c); lines.Scan(); {
		switch word, _, _ := strings.Cut(lines.Text(), " "); word {
		case "PING":
			fmt.Fprint(c, "PONG\r\n")
		case "SUB":
			fmt.Fprintf(c, "MSG a 1 2\r\nok\r\n%s\r\nbeginning", announcement)
		}
	}
}

// A message of 2 GB is not made room for: the connection ends with the reason, and is made again.
func TestAMessageOfAnySizeIsNotMadeRoomFor(t *testing.T) {
	for _, announcement := range []string{"MSG a 1 2147483647", "HMSG a 1 12 2147483647", "MSG a 1 answer 67108865"} {
		l, said := open(t, lying(t, announcement))
		got := make(chan string, 8)
		if _, err := l.Conn.Subscribe("a", func(m *nats.Msg) { got <- string(m.Data) }); err != nil {
			t.Fatal(err)
		}
		deadline := time.After(patience)
		for connections := 0; connections < 2; {
			select {
			case <-deadline:
				t.Fatalf("%s: the connection was not made again\n%s", announcement, said.String())
			case <-time.After(10 * time.Millisecond):
				connections = said.count("announces a message that is too large", "expected at most 67108864")
			}
		}
		l.Close()
		if s := l.State(); s.Disconnects < 2 {
			t.Errorf("%s: %d connections ended", announcement, s.Disconnects)
		}
	}
}

// Messages of all sizes arrive, in pieces as TCP has them, with headers and without, as the
// bytes of a payload may look like a control line.
func TestMessagesOfEachSizeThatAServerAllowsArrive(t *testing.T) {
	s := serve(t, server.Options{MaxPayload: 8 << 20, MaxPending: 64 << 20})
	l, said := open(t, s.ClientURL())
	sub, err := l.Conn.SubscribeSync("a")
	if err != nil {
		t.Fatal(err)
	}
	for _, size := range []int{0, 1, 2, 100, 4096, 1 << 20, 8<<20 - 64} {
		payload := bytes.Repeat([]byte("\r\nMSG a 1 2147483647\r\n"), size/22+1)[:size]
		m := &nats.Msg{Subject: "a", Data: payload}
		if size%2 == 0 {
			m.Header = nats.Header{"K": {"v"}}
		}
		if err := l.Conn.PublishMsg(m); err != nil {
			t.Fatal(err)
		}
		got, err := sub.NextMsg(patience)
		if err != nil || !bytes.Equal(got.Data, payload) {
			t.Fatalf("%d bytes: %v, %d bytes arrived\n%s", size, err, len(got.Data), said.String())
		}
	}
}
