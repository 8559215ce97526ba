// SPDX-License-Identifier: Apache-2.0

package web

import (
	"bufio"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"os/exec"
	"runtime"
	"strconv"
	"strings"
	"syscall"
	"testing"

	"github.com/pnagent/pnagent/collector/history"
	"github.com/pnagent/pnagent/collector/merge"
)

// crowdEnv makes the test binary a server of its own, so that what it uses is
// not mixed with what its viewers use.
const crowdEnv = "PNAGENT_TEST_CROWD"

// usage is what the server has used so far.
type usage struct {
	Address string
	CPU     int64 // microseconds of processor, of user and system
	Heap    uint64
	Sent    uint64 // bytes to viewers
}

// serveCrowd serves a net of 1,000 nodes, all of which change with every line
// that it reads; it answers each with what it used.
func serveCrowd() {
	w := newWorld(4, 500, 500)
	var views []*merge.View
	for range 16 {
		views = append(views, w.tick(1))
	}
	s, err := New(Config{Views: make(chan *merge.View), History: history.New(history.Config{}), ViewersPerAddress: DefaultViewers})
	if err != nil {
		panic(err)
	}
	l, err := new(net.ListenConfig).Listen(context.Background(), "tcp", "127.0.0.1:0")
	if err != nil {
		panic(err)
	}
	server := &http.Server{Handler: s.Handler(), ReadHeaderTimeout: 1e10}
	go func() { _ = server.Serve(l) }()
	out, at := json.NewEncoder(os.Stdout), views[0].At
	lines := bufio.NewScanner(os.Stdin)
	for i := 0; lines.Scan(); i++ {
		next := *views[i%len(views)]
		at += second
		next.At, next.Generation = at, uint64(i+1)
		s.show(&next)
		var ru syscall.Rusage
		_ = syscall.Getrusage(syscall.RUSAGE_SELF, &ru)
		var m runtime.MemStats
		if lines.Text() == "memory" {
			runtime.GC()
			runtime.ReadMemStats(&m)
		}
		_ = out.Encode(usage{l.Addr().String(), (ru.Utime.Nano() + ru.Stime.Nano()) / 1000, m.HeapAlloc, s.Counters().Bytes})
	}
}

// crowd is a server in a process of its own with viewers.
type crowd struct {
	in   io.Writer
	out  *json.Decoder
	seen chan struct{} // one for each event of a net that a viewer got
}

// gather starts a server and n viewers; they and it end with the test.
func gather(b *testing.B, n int, packed bool) *crowd {
	b.Helper()
	cmd := exec.Command(os.Args[0])
	cmd.Env, cmd.Stderr = append(os.Environ(), crowdEnv+"=1"), os.Stderr
	in, err := cmd.StdinPipe()
	if err != nil {
		b.Fatal(err)
	}
	out, err := cmd.StdoutPipe()
	if err != nil {
		b.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		b.Fatal(err)
	}
	c := &crowd{in, json.NewDecoder(out), make(chan struct{}, n)}
	b.Cleanup(func() { _ = in.Close(); _ = cmd.Wait() })
	address := c.tick(b, "first").Address
	for range n {
		conn, err := net.Dial("tcp", address)
		if err != nil {
			b.Fatal(err)
		}
		b.Cleanup(func() { _ = conn.Close() })
		encoding := "identity"
		if packed {
			encoding = "gzip"
		}
		fmt.Fprintf(conn, "GET /api/v1/live?net=net HTTP/1.1\r\nHost: x\r\nAccept-Encoding: %s\r\n\r\n", encoding)
		r := bufio.NewReaderSize(conn, 64<<10)
		if status, err := r.ReadString('\n'); err != nil || !strings.Contains(status, " 200 ") {
			b.Fatalf("a viewer: %q, %v; expected 200", status, err)
		}
		go c.watch(r)
	}
	c.all(n)
	return c
}

// watch reads chunks of HTTP and reports each that is too large to be other than a
// frame or a diff. It does not read their contents: there are many viewers.
func (c *crowd) watch(r *bufio.Reader) {
	for {
		line, err := r.ReadString('\n')
		if err != nil {
			return
		}
		size, err := strconv.ParseInt(strings.TrimSpace(line), 16, 32)
		if err != nil {
			continue // of the header
		}
		if _, err := r.Discard(int(size) + 2); err != nil {
			return
		}
		if size > 4<<10 {
			c.seen <- struct{}{}
		}
	}
}

func (c *crowd) all(n int) {
	for range n {
		<-c.seen
	}
}

func (c *crowd) tick(b *testing.B, line string) usage {
	b.Helper()
	var u usage
	if _, err := fmt.Fprintln(c.in, line); err != nil {
		b.Fatal(err)
	}
	if err := c.out.Decode(&u); err != nil {
		b.Fatal(err)
	}
	return u
}

// BenchmarkCrowd is what viewers of a net of 1,000 nodes, all of which change
// with every View, cost the server: processor time a View, which is a share of a
// core at one View a second. The base is one viewer.
func BenchmarkCrowd(b *testing.B) {
	for _, k := range []struct {
		name   string
		n      int
		packed bool
	}{{"1 viewer", 1, false}, {"200 viewers", 200, false}, {"1 viewer packed", 1, true}, {"200 viewers packed", 200, true}} {
		b.Run(k.name, func(b *testing.B) {
			c := gather(b, k.n, k.packed)
			before := c.tick(b, "tick")
			c.all(k.n)
			b.ResetTimer()
			var last usage
			for range b.N {
				last = c.tick(b, "tick")
				c.all(k.n)
			}
			b.StopTimer()
			end := c.tick(b, "memory")
			c.all(k.n)
			cpu := float64(max(end.CPU, last.CPU)-before.CPU) / float64(b.N+1)
			b.ReportMetric(cpu/1e4, "%core")
			b.ReportMetric(float64(end.Heap)/(1<<20), "MiB")
			b.ReportMetric(float64(last.Sent-before.Sent)/float64(b.N*k.n), "B/viewer")
		})
	}
}
