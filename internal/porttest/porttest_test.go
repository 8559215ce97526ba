// SPDX-License-Identifier: Apache-2.0

package porttest

import (
	"net"
	"os"
	"os/exec"
	"strings"
	"testing"
)

// Two processes that ask at the same time, each for more than a block has, get ports
// that differ, and can listen at each.
func TestEachPortIsGivenOnce(t *testing.T) {
	const each = 3 * block / 2
	if os.Getenv("PORTTEST_PRINTS") != "" {
		for range each {
			println(Port(t))
		}
		return
	}
	other := exec.Command(os.Args[0], "-test.run", "^TestEachPortIsGivenOnce$")
	other.Env = append(os.Environ(), "PORTTEST_PRINTS=1")
	var printed strings.Builder
	other.Stderr = &printed
	if err := other.Start(); err != nil {
		t.Fatal(err)
	}
	seen := map[string]bool{}
	for range each {
		addr := Addr(t)
		_, port, _ := net.SplitHostPort(addr)
		if seen[port] {
			t.Errorf("port %s was given before", port)
		}
		seen[port] = true
		l, err := net.Listen("tcp", addr)
		if err != nil {
			t.Fatal(err)
		}
		defer l.Close()
		p, err := net.ListenPacket("udp", addr)
		if err != nil {
			t.Fatal(err)
		}
		defer p.Close()
	}
	if err := other.Wait(); err != nil {
		t.Fatal(err)
	}
	theirs := strings.Fields(printed.String())
	if len(theirs) != each {
		t.Fatalf("the other process printed %d ports; want %d", len(theirs), each)
	}
	for _, port := range theirs {
		if seen[port] {
			t.Errorf("port %s was given to both", port)
		}
		seen[port] = true
	}
}

func TestAPortInUseIsNotGiven(t *testing.T) {
	Port(t) // so that there is a block
	mu.Lock()
	if next == end {
		reserve(t)
	}
	following := next
	mu.Unlock()
	l := listen(t, following)
	if l == nil {
		t.Skip("another process listens there")
	}
	defer l.Close()
	if _, port, _ := net.SplitHostPort(l.Addr().String()); Port(t) == port {
		t.Errorf("port %s is in use and was given", port)
	}
}
