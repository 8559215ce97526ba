// SPDX-License-Identifier: Apache-2.0

package agentx

import (
	"io"
	"math/rand/v2"
	"net"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"sync"
	"testing"
	"testing/iotest"
	"time"

	"github.com/pnagent/pnagent/agentx/pdu"
	"github.com/pnagent/pnagent/mib/smi"
)

// overSocket runs a subagent whose master is at the other end of a real socket,
// until close is called.
func overSocket(t *testing.T, network, address string, adjust func(*Config)) (f *fixture, closeAll func()) {
	t.Helper()
	listener, err := net.Listen(network, address)
	if err != nil {
		t.Fatal(err)
	}
	f = prepare(t, func(c *Config) {
		c.Addr = network + ":" + listener.Addr().String()
		if adjust != nil {
			adjust(c)
		}
	})
	dialling, err := New(f.config)
	if err != nil {
		t.Fatal(err)
	}
	f.dial = dialling.dial
	accepted := make(chan struct{})
	go func() {
		defer close(accepted)
		for {
			conn, err := listener.Accept()
			if err != nil {
				return
			}
			f.dials <- conn
		}
	}()
	f.run(t)
	return f, func() {
		f.stop()
		<-f.ended
		listener.Close()
		<-accepted
	}
}

// flood writes frames that the subagent answers, and reads nothing, until it
// takes no more or leaves.
func flood(m *master, body pdu.Body) {
	for range 2000 {
		raw := encode(m.tb, pdu.PDU{Header: m.header(), Body: body})
		if err := m.conn.SetWriteDeadline(time.Now().Add(time.Second)); err != nil {
			return
		}
		if _, err := m.conn.Write(raw); err != nil {
			return
		}
	}
}

// try writes what the subagent need not take to the end.
func try(m *master, raw []byte) { _, _ = m.conn.Write(raw) }

// hostile is what a master may do after a registration, over a socket.
func hostile() map[string]func(*master) {
	frame := func(m *master) []byte {
		return encode(m.tb, pdu.PDU{Header: m.header(), Body: &pdu.Get{Ranges: ranges(at(1, 0), at(3), at(9))}})
	}
	return map[string]func(*master){
		"ends in the middle of a frame":    func(m *master) { try(m, frame(m)[:30]) },
		"sends version 2":                  func(m *master) { try(m, append([]byte{2}, frame(m)[1:]...)) },
		"announces 4 GiB":                  func(m *master) { try(m, unhex(m.tb, "01051000 00000007 00000001 00000001 fffffffc")) },
		"announces 128 KiB and sends less": func(m *master) { try(m, unhex(m.tb, "01051000 00000007 00000001 00000001 00020000 0000")) },
		"sends noise": func(m *master) {
			noise := rand.NewChaCha8([32]byte{1})
			_, _ = io.CopyN(m.conn, noise, 1<<20)
		},
		"sends unknown types": func(m *master) {
			for typ := range 256 {
				raw := encode(m.tb, pdu.PDU{Header: m.header(), Body: &pdu.Ping{}})
				raw[1] = byte(typ)
				if pdu.Type(typ) == pdu.TypeClose {
					continue // ends the session
				}
				try(m, raw)
			}
		},
		"asks the same 10,000 times": func(m *master) {
			raw := frame(m)
			for range 10_000 {
				try(m, raw)
			}
		},
		"asks for 1,000 sessions": func(m *master) {
			go func() { _, _ = io.Copy(io.Discard, m.conn) }()
			for session := range uint32(1000) {
				m.session = session
				try(m, frame(m))
			}
		},
		"writes a byte at a time, in both byte orders": func(m *master) {
			for _, m.flags = range []pdu.Flags{0, network} {
				h := m.header()
				raw := pdu.PDU{Header: h, Body: &pdu.Get{Ranges: ranges(at(1, 0))}}
				_, _ = io.Copy(m.conn, iotest.OneByteReader(&bytesOf{encode(m.tb, raw)}))
				if r := m.response(h); len(r.Variables) != 1 {
					m.tb.Errorf("%+v", r)
				}
			}
		},
		"never reads small answers": func(m *master) { flood(m, &pdu.GetNext{Ranges: ranges(at())}) },
		"never reads large answers": func(m *master) { flood(m, &pdu.GetBulk{MaxRepetitions: 65535, Ranges: ranges(at())}) },
	}
}

// bytesOf is a reader that io.Copy cannot ask to write itself.
type bytesOf struct{ left []byte }

func (b *bytesOf) Read(p []byte) (int, error) {
	if len(b.left) == 0 {
		return 0, io.EOF
	}
	n := copy(p, b.left)
	b.left = b.left[n:]
	return n, nil
}

// Whatever a master does, the next one is served, and what the last one took
// is given back: goroutines, files, and all memory but a little.
func TestAHostileMasterLeavesNoResourceBehind(t *testing.T) {
	large := rows(t, 20_000)
	for _, network := range []string{"unix", "tcp"} {
		t.Run(network, func(t *testing.T) {
			dir, err := os.MkdirTemp("", "agentx") // the test's own has too long a name for a socket
			if err != nil {
				t.Fatal(err)
			}
			t.Cleanup(func() { os.RemoveAll(dir) })
			before := held(t)
			var all sync.WaitGroup
			for name, act := range hostile() {
				address := "127.0.0.1:0"
				if network == "unix" {
					address = filepath.Join(dir, strings.ReplaceAll(name, " ", "-"))
				}
				all.Go(func() {
					t.Logf("a master that %s", name)
					survives(t, network, address, large, act)
				})
			}
			all.Wait()
			eventually(t, "nothing is held", func() bool {
				now := held(t)
				return now.files <= before.files && now.goroutines <= before.goroutines && now.heap < before.heap+16<<20
			})
		})
	}
}

// survives has a master do what it does to a subagent, and the next one served.
func survives(t *testing.T, network, address string, table *smi.Table, act func(*master)) {
	f, closeAll := overSocket(t, network, address, func(c *Config) { c.Tables = func() *smi.Table { return table } })
	m := f.acceptUp(t)
	act(m)
	m.conn.Close()
	m = f.acceptUp(t)
	if r := m.ask(&pdu.GetNext{Ranges: ranges(at())}); r.Error != pdu.NoError || len(r.Variables) != 1 {
		t.Errorf("not served after it: %+v", r)
	}
	m.conn.Close()
	closeAll()
}

// held is what a process can lose by and by.
type holding struct {
	files, goroutines int
	heap              uint64
}

func held(t *testing.T) holding {
	t.Helper()
	runtime.GC()
	var memory runtime.MemStats
	runtime.ReadMemStats(&memory)
	h := holding{goroutines: runtime.NumGoroutine(), heap: memory.HeapAlloc}
	if files, err := os.ReadDir("/proc/self/fd"); err == nil {
		h.files = len(files)
	}
	return h
}

// A queue that is full of the largest answers is all that a master which never
// reads can have a subagent hold.
//
//promise:bounds pause
func TestAFullQueueIsBoundedMemory(t *testing.T) {
	table := rows(t, 20_000)
	f, closeAll := overSocket(t, "tcp", "127.0.0.1:0", func(c *Config) { c.Tables = func() *smi.Table { return table } })
	m := f.acceptUp(t)
	before := held(t)
	for f.Stats().Faults[FaultDropped] < 100 {
		flood(m, &pdu.GetBulk{MaxRepetitions: 65535, Ranges: ranges(at())})
	}
	const most = (maxQueue+2)*2*maxBulk + 1<<20 // a buffer may be twice what is in it
	// What it has read already it continues to answer for a moment.
	eventually(t, "a full queue is all that is held", func() bool { return held(t).heap <= before.heap+most })
	m.conn.Close()
	closeAll()
}

func eventually(t *testing.T, what string, condition func() bool) {
	t.Helper()
	deadline := time.After(time.Minute)
	tick := time.NewTicker(10 * time.Millisecond)
	defer tick.Stop()
	for !condition() {
		select {
		case <-deadline:
			t.Fatalf("%s: not in a minute", what)
		case <-tick.C:
		}
	}
}
