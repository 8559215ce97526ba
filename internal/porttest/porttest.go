// SPDX-License-Identifier: Apache-2.0

// Package porttest has ports for programs that cannot choose one and report it, and for
// those that are started again at the port that they had.
package porttest

import (
	"errors"
	"math/rand/v2"
	"net"
	"strconv"
	"sync"
	"syscall"
	"testing"
)

// The ports are below those that systems assign, 32,768 and more on Linux, so that no
// client gets one of them. They are in blocks. A process has a block for itself as long
// as it listens at the first port of it.
const (
	lowest = 10_000
	block  = 100
	blocks = 200
)

var (
	mu        sync.Mutex
	held      []net.Listener // at the first ports of this process's blocks, for as long as it runs
	next, end int            // ports that were not given yet
)

// Port returns a port of 127.0.0.1, for TCP and UDP, where nothing listens. Each call
// returns another one, and no two processes get the same.
func Port(tb testing.TB) string {
	tb.Helper()
	mu.Lock()
	defer mu.Unlock()
	for {
		if next == end {
			reserve(tb)
		}
		next++
		if isFree(tb, next-1) {
			return strconv.Itoa(next - 1)
		}
	}
}

// Addr returns 127.0.0.1 and a Port.
func Addr(tb testing.TB) string {
	tb.Helper()
	return net.JoinHostPort("127.0.0.1", Port(tb))
}

// reserve takes one more block of ports.
func reserve(tb testing.TB) {
	tb.Helper()
	start := rand.IntN(blocks)
	for i := range blocks {
		port := lowest + (start+i)%blocks*block
		if l := listen(tb, port); l != nil {
			held, next, end = append(held, l), port+1, port+block
			return
		}
	}
	tb.Fatalf("each of the %d blocks of ports from %d on is in use", blocks, lowest)
}

func isFree(tb testing.TB, port int) bool {
	tb.Helper()
	l := listen(tb, port)
	if l == nil {
		return false
	}
	defer l.Close()
	udp, err := net.ListenUDP("udp", &net.UDPAddr{IP: net.IPv4(127, 0, 0, 1), Port: port})
	if err != nil {
		inUse(tb, err)
		return false
	}
	_ = udp.Close() // nothing was sent
	return true
}

// listen returns nil where something listens.
func listen(tb testing.TB, port int) net.Listener {
	tb.Helper()
	l, err := net.ListenTCP("tcp", &net.TCPAddr{IP: net.IPv4(127, 0, 0, 1), Port: port})
	if err != nil {
		inUse(tb, err)
		return nil
	}
	return l
}

func inUse(tb testing.TB, err error) {
	tb.Helper()
	if !errors.Is(err, syscall.EADDRINUSE) {
		tb.Fatal(err)
	}
}
