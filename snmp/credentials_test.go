// SPDX-License-Identifier: Apache-2.0

package snmp

import (
	"context"
	"errors"
	"net"
	"testing"
	"time"

	"github.com/gosnmp/gosnmp"
)

func TestAResponderTakesOtherCredentials(t *testing.T) {
	r := newResponder(t, counts(t, 10, 1), nil)
	x := r.trusted()
	taken := func(community string) bool {
		out, why, _ := x.answer(ask(t, gosnmp.GetNextRequest, func(p *gosnmp.SnmpPacket) { p.Community = community }, "3"), requester, start)
		return why == noReason && out != nil
	}
	if !taken("public") || taken("other") {
		t.Fatal("the first community is not the one that is taken")
	}
	if err := r.SetCredentials("other", nil); err != nil {
		t.Fatal(err)
	}
	if taken("public") || !taken("other") {
		t.Error("the second community is not the one that is taken")
	}
	for _, err := range []error{r.SetCredentials("", nil), r.SetCredentials("third", []User{{Name: "eve"}})} {
		if !errors.Is(err, ErrConfig) {
			t.Errorf("got %v; want that it is refused", err)
		}
	}
	if !taken("other") {
		t.Error("what is refused changes the community")
	}

	secure := newResponder(t, counts(t, 10, 1), secured(t))
	x = secure.trusted()
	c := combination{"SHA-256", "AES-128"}
	request := func() []byte { return ask3(t, secure, c, start, nil) }
	before := problems(secure)["unknownUserNames"]
	if _, why, err := x.answer(request(), requester, start); why != noReason || problems(secure)["unknownUserNames"] != before {
		t.Fatalf("a user is not taken: %v, %v", why, err)
	}
	others := secure.cfg.Users[:0:0]
	for _, u := range secure.cfg.Users {
		if u.Name != c.name() {
			others = append(others, u)
		}
	}
	if err := secure.SetCredentials("", others); err != nil {
		t.Fatal(err)
	}
	_, _, _ = x.answer(request(), requester, start)
	if got := problems(secure)["unknownUserNames"]; got != before+1 {
		t.Errorf("a user that was removed is unknown %d times; want once more than %d", got, before)
	}
}

// TestASinkGetsOtherCredentials has an inform that waits for a receiver which takes the second community alone.
func TestASinkGetsOtherCredentials(t *testing.T) {
	receiver, err := net.ListenPacket("udp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer receiver.Close()
	s := newSender(t, func(c *SenderConfig) {
		c.Sinks, c.Timeout, c.Repeats = []string{receiver.LocalAddr().String()}, 50*time.Millisecond, 20
	})
	ctx, cancel := context.WithCancel(t.Context())
	ended := make(chan struct{})
	go func() { s.Run(ctx); close(ended) }()
	defer func() { cancel(); <-ended }()
	done := make(chan error, 1)
	s.Deliver(Delivery{Variables: stuck("x"), Done: func(err error) { done <- err }})
	packet := make([]byte, maxDatagram)
	if err := receiver.SetReadDeadline(time.Now().Add(time.Minute)); err != nil {
		t.Fatal(err)
	}
	seen := map[string]bool{}
	for !seen["second"] {
		n, from, err := receiver.ReadFrom(packet)
		if err != nil {
			t.Fatal(err)
		}
		got := decoded(t, packet[:n])
		if !seen[got.Community] && got.Community == "public" {
			if err := s.SetCredentials("second", nil); err != nil {
				t.Fatal(err)
			}
		}
		seen[got.Community] = true
		if got.Community == "second" {
			got.PDUType = gosnmp.GetResponse
			answer, err := got.MarshalMsg()
			if err != nil {
				t.Fatal(err)
			}
			_, _ = receiver.WriteTo(answer, from)
		}
	}
	if err := <-done; err != nil || !seen["public"] {
		t.Errorf("got %v after %v; want an acknowledgement after both", err, seen)
	}
	if err := s.SetCredentials("", nil); !errors.Is(err, ErrConfig) {
		t.Errorf("got %v; want that no community is refused", err)
	}
}
