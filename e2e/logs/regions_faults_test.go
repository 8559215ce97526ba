// SPDX-License-Identifier: Apache-2.0

package logs

import (
	"fmt"
	"io"
	"net"
	"net/url"
	"strings"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/nats-io/nats-server/v2/server"
	"github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"

	"github.com/pnagent/pnagent/e2e/kit"
)

// lossy is the way to a NATS server on which answers can be lost.
type lossy struct {
	url  string
	lose atomic.Bool

	listener net.Listener
	mu       sync.Mutex
	conns    []net.Conn
	tasks    sync.WaitGroup
}

func startLossy(t *testing.T, natsURL string) *lossy {
	t.Helper()
	to, err := url.Parse(natsURL)
	if err != nil {
		t.Fatal(err)
	}
	l := &lossy{}
	l.listener, err = net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	l.url = "nats://" + l.listener.Addr().String()
	l.tasks.Go(func() {
		for {
			client, err := l.listener.Accept()
			if err != nil {
				return
			}
			l.join(client, to.Host)
		}
	})
	t.Cleanup(func() {
		_ = l.listener.Close()
		l.cut()
		l.tasks.Wait()
	})
	return l
}

func (l *lossy) join(client net.Conn, to string) {
	upstream, err := net.Dial("tcp", to)
	if err != nil {
		_ = client.Close()
		return
	}
	l.mu.Lock()
	l.conns = append(l.conns, client, upstream)
	l.mu.Unlock()
	l.tasks.Go(func() {
		_, _ = io.Copy(upstream, client)
		_ = upstream.Close()
	})
	l.tasks.Go(func() {
		_, _ = io.Copy(answers{client, l}, upstream)
		_ = client.Close()
	})
}

// answers passes on what the server says, or loses it.
type answers struct {
	net.Conn
	way *lossy
}

func (a answers) Write(p []byte) (int, error) {
	if a.way.lose.Load() {
		return len(p), nil
	}
	return a.Conn.Write(p)
}

// cut ends all connections.
func (l *lossy) cut() {
	l.mu.Lock()
	defer l.mu.Unlock()
	for _, c := range l.conns {
		_ = c.Close()
	}
	l.conns = nil
}

// The owner's commits are stored, but it receives no acknowledgement: it must not repeat
// them and must not continue.
//
//promise:owner cut
func TestAnOwnerWithoutAnswersIsReplacedAndRepeatsNothing(t *testing.T) {
	t.Parallel()
	js := startJetStream(t, nil)
	f := newFleet(t, func() string { return js.url }, circle(), 5, 0)
	way := startLossy(t, js.url)
	rest := f.start("rest", "two", "three")
	first := f.startAt(way.url, "first", "one")
	f.plays("one", "first")
	second := f.start("second", "one")
	f.agrees("one")
	way.lose.Store(true)
	f.plays("one", "second")
	way.lose.Store(false)
	way.cut() // what was lost left a hole in the protocol
	f.agrees("one")
	f.conserves(rest, first, second)
}

func TestRegionsContinueAfterARestartOfNATS(t *testing.T) {
	t.Parallel()
	js := startJetStream(t, nil)
	f := newFleet(t, func() string { return js.url }, circle(), 5, 0)
	a, b := f.start("a"), f.start("b")
	w := f.witnessed()
	for range 3 {
		f.follows()
		js.stop()
		js.start()
		f.goesOn()
	}
	f.conserves(a, b)
	w.judge(t, f)
}

// The disk of the server is full: no region can commit, nothing is lost, and all
// continues without intervention once there is space.
//
//promise:durable disk
func TestRegionsWaitForRoomOnAFullDisk(t *testing.T) {
	t.Parallel()
	js := startJetStream(t, func(o *server.Options) { o.JetStreamMaxStore, o.JetStreamMaxMemory = 256<<10, 1<<20 })
	f := newFleet(t, func() string { return js.url }, circle(), 5, 0)
	a, b := f.start("a"), f.start("b")
	kit.Until(t, "the disk is full", func() error {
		if text := a.Err.String() + b.Err.String(); !strings.Contains(text, "journal stopped") && !strings.Contains(text, "insufficient") {
			return fmt.Errorf("got statuses %+v", f.statuses())
		}
		return nil
	})
	js.stop()
	js.opts.JetStreamMaxStore = 1 << 30
	js.start()
	f.goesOn()
	f.conserves(a, b)
}

// cluster is three servers that keep each log three times.
type cluster struct {
	t       *testing.T
	servers []*jetStream
}

func startCluster(t *testing.T) *cluster {
	t.Helper()
	c := &cluster{t: t}
	var routes []*url.URL
	var ports []int
	for i := range 3 {
		ports = append(ports, port(t))
		routes = append(routes, &url.URL{Scheme: "nats", Host: fmt.Sprint("127.0.0.1:", ports[i])})
	}
	for i := range 3 {
		j := &jetStream{t: t, opts: server.Options{ServerName: fmt.Sprintf("n%d", i), Host: "127.0.0.1", Port: port(t), JetStream: true, StoreDir: t.TempDir(),
			NoLog: true, NoSigs: true, Routes: routes, Cluster: server.ClusterOpts{Name: "c", Host: "127.0.0.1", Port: ports[i]}}}
		j.start()
		t.Cleanup(j.stop)
		c.servers = append(c.servers, j)
	}
	kit.Until(t, "the servers have a leader", func() error {
		for _, s := range c.servers {
			if s.s.JetStreamIsLeader() {
				return nil
			}
		}
		return fmt.Errorf("none of %d leads", len(c.servers))
	})
	return c
}

func (c *cluster) url() string {
	var all []string
	for _, s := range c.servers {
		all = append(all, s.url)
	}
	return strings.Join(all, ",")
}

// leader returns the index of the server that leads the stream of a log.
func (c *cluster) leader(nc *nats.Conn, part string) (int, error) {
	js, err := jetstream.New(nc)
	if err != nil {
		return 0, err
	}
	for info := range js.ListStreams(c.t.Context()).Info() {
		if strings.HasSuffix(info.Config.Name, part) && info.Cluster != nil {
			for i, s := range c.servers {
				if s.opts.ServerName == info.Cluster.Leader {
					return i, nil
				}
			}
		}
	}
	return 0, fmt.Errorf("no leader of the log of %q", part)
}

//promise:durable dark
func TestALogsLeaderIsLostInAClusterOfThree(t *testing.T) {
	t.Parallel()
	c := startCluster(t)
	f := newFleet(t, c.url, circle(), 5, 0)
	f.args = append(f.args, "--journal.replicas", "3")
	w := f.witnessed()
	a, b := f.start("a"), f.start("b")
	f.follows()
	var lost int
	kit.Until(t, "the log has a leader", func() (err error) {
		lost, err = c.leader(f.conn, "one")
		return err
	})
	c.servers[lost].stop()
	f.goesOn()
	c.servers[lost].start()
	f.follows()
	f.goesOn()
	f.conserves(a, b)
	w.judge(t, f)
}
