// SPDX-License-Identifier: Apache-2.0

package stream

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"net"
	"net/url"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/nats-io/nats-server/v2/server"
	"github.com/nats-io/nats.go/jetstream"

	"github.com/pnagent/pnagent/engine/journal"
	"github.com/pnagent/pnagent/internal/natstest"
	"github.com/pnagent/pnagent/internal/porttest"
)

// persist appends commits, each with its number as text, until all up to upTo
// are confirmed. Whenever the log stops, persist reads the end of the stream
// and continues. It calls at with each number that it sends.
func persist(ctx context.Context, l *Log, upTo uint64, at func(uint64)) (stops int, err error) {
	for {
		sure := l.Durable()
		err = l.Refresh(ctx)
		if err == nil && l.Last() < sure {
			err = fmt.Errorf("the last is %d, %d was confirmed", l.Last(), sure)
		}
		if err != nil {
			return stops, err
		}
		last := l.Last()
		for err == nil && last < upTo {
			at(last)
			last, err = l.Append(ctx, last, fmt.Append(nil, last+1))
		}
		if err == nil {
			err = l.Confirm(ctx, last)
		}
		if err == nil || !errors.Is(err, journal.ErrStopped) {
			return stops, err
		}
		stops++
	}
}

// wantAll checks that the log holds the commits of persist, each once, and that
// a follower has received the same.
func wantAll(t *testing.T, l *Log, upTo uint64, received chain) {
	t.Helper()
	var want, got chain
	for n := uint64(1); n <= upTo; n++ {
		if err := want.add(n, fmt.Append(nil, n)); err != nil {
			t.Fatal(err)
		}
	}
	for c, err := range l.Read(soon(t), 1) {
		if err == nil {
			err = got.add(c.Sequence, c.Payload)
		}
		if err != nil {
			t.Fatal(err)
		}
	}
	if got != want || received != want {
		t.Errorf("%d commits with digest %x, followed %d with %x, want %d with %x", got.last, got.sum[:4], received.last, received.sum[:4], want.last, want.sum[:4])
	}
}

// follower follows the log up to a commit while the test runs.
func follower(t *testing.T, l *Log, upTo uint64) (received func() chain) {
	var c chain
	var err error
	done := make(chan struct{})
	ctx := soon(t)
	go func() {
		defer close(done)
		c, err = followTo(ctx, l, upTo)
	}()
	return func() chain {
		<-done
		if err != nil {
			t.Error(err)
		}
		return c
	}
}

func TestAFollowerReceivesWhatTheWriterWrote(t *testing.T) {
	s, l := oneServer(t)
	const upTo = 6000
	received := follower(t, openLog(t, Config{Conn: natstest.Connect(t, s), Name: "a log"}), upTo)
	if stops, err := persist(soon(t), l, upTo, func(uint64) {}); err != nil || stops != 0 {
		t.Fatal(stops, err)
	}
	wantAll(t, l, upTo, received())
}

// A follower receives everything although its connection is cut again and
// again.
func TestAFollowerWhoseConnectionIsCut(t *testing.T) {
	natstest.Bubble(t, func(t *testing.T) {
		s, l := oneServer(t)
		way := natstest.NewWay(t, s)
		const upTo = 5000
		received := follower(t, openLog(t, Config{Conn: natstest.Connect(t, way), Name: "a log"}), upTo)
		stops, err := persist(soon(t), l, upTo, func(n uint64) {
			if n%1000 == 999 {
				way.Cut()
			}
		})
		if err != nil || stops != 0 {
			t.Fatal(stops, err)
		}
		wantAll(t, l, upTo, received())
	})
}

// A follower that reads slowly gets all commits, and the server never sends it
// more than it can hold.
func TestASlowFollowerOfLargeCommits(t *testing.T) {
	_, l := oneServer(t)
	const commits = 400 // more than a server sends ahead
	var want, got chain
	written := make(chan struct{})
	received := make(chan error)
	go func() {
		received <- l.Follow(soon(t), 1, func(c journal.Commit) error {
			<-written
			if c.Sequence == commits {
				return errors.Join(got.add(c.Sequence, c.Payload), errEnough)
			}
			return got.add(c.Sequence, c.Payload)
		})
	}()
	last := uint64(0)
	for last < commits {
		payload := bytes.Repeat(fmt.Append(nil, last), 100_000/len(fmt.Append(nil, last)))
		var err error
		if last, err = l.Append(soon(t), last, payload); err != nil {
			t.Fatal(err)
		}
		if err := want.add(last, payload); err != nil {
			t.Fatal(err)
		}
	}
	close(written)
	if err := <-received; !errors.Is(err, errEnough) || got != want {
		t.Errorf("%d with digest %x, want %d with %x: %v", got.last, got.sum[:4], want.last, want.sum[:4], err)
	}
}

// Several readers that are far behind share one slow connection. The server
// never sends so much that it closes the connection as too slow.
func TestReadersFarBehindOnASlowConnection(t *testing.T) {
	t.Parallel()
	o := options(t.TempDir())
	o.MaxPending = 24 << 20
	s := natstest.Start(t, o)
	way := newProxy(t, s.ClientURL())
	writer, reader := connect(t, s.ClientURL()), connect(t, way.url)
	const logs, commits = 4, far + 200
	var want [logs]chain
	var readers []*Log
	for k := range logs {
		l := openLog(t, Config{Conn: writer, Name: fmt.Sprint("log ", k)})
		last, err := uint64(0), error(nil)
		for last < commits && err == nil {
			payload := bytes.Repeat([]byte{byte(k), byte(last)}, 8<<10)
			if last, err = l.Append(soon(t), last, payload); err == nil {
				err = want[k].add(last, payload)
			}
		}
		if err != nil {
			t.Fatal(err)
		}
		readers = append(readers, openLog(t, Config{Conn: reader, Name: fmt.Sprint("log ", k)}))
	}
	var reading sync.WaitGroup
	for k, l := range readers {
		reading.Go(func() {
			if got, err := followTo(soon(t), l, commits); err != nil || got != want[k] {
				t.Errorf("log %d: %d commits with digest %x, want %d with %x: %v", k, got.last, got.sum[:4], want[k].last, want[k].sum[:4], err)
			}
		})
	}
	go func() {
		defer way.set(pass, pass)
		for range 20 {
			for _, f := range []flow{hold, pass} {
				way.set(pass, f)
				if wait(soon(t), 20*time.Millisecond) != nil {
					return
				}
			}
		}
	}()
	reading.Wait()
	if n := s.NumSlowConsumers(); n > 0 {
		t.Errorf("the server has closed %d slow connections", n)
	}
}

// A reader that is far behind gets commits of any allowed size.
func TestAReaderFarBehindOfCommitsOfAllSizes(t *testing.T) {
	s, l := oneServer(t)
	allSizes(t, l, openLog(t, Config{Conn: natstest.Connect(t, s), Name: "a log"}))
}

// allSizes writes commits of all sizes, and reads and follows them.
func allSizes(t *testing.T, l, reader *Log) {
	t.Helper()
	var want chain
	last, err := uint64(0), error(nil)
	for last < far+200 && err == nil {
		size := int(last % 300)
		if last%100 == 7 {
			size = l.CommitLimit() - int(last)
		}
		payload := bytes.Repeat([]byte{byte(last)}, size)
		if last, err = l.Append(soon(t), last, payload); err == nil {
			err = want.add(last, payload)
		}
	}
	if err != nil {
		t.Fatal(err)
	}
	var read chain
	for c, err := range l.Read(soon(t), 1) {
		if err == nil {
			err = read.add(c.Sequence, c.Payload)
		}
		if err != nil {
			t.Fatal(err)
		}
	}
	if read != want {
		t.Errorf("read %d commits with digest %x, want %d with %x", read.last, read.sum[:4], want.last, want.sum[:4])
	}
	got, err := followTo(soon(t), reader, want.last)
	if err != nil || got != want {
		t.Errorf("%d commits with digest %x, want %d with %x: %v", got.last, got.sum[:4], want.last, want.sum[:4], err)
	}
}

// A server drops a batch that is idle. The log starts another one before that.
func TestAWriterThatWasIdle(t *testing.T) {
	natstest.Bubble(t, func(t *testing.T) {
		o := natstest.JetStream(t.TempDir())
		o.JetStreamLimits.MaxBatchTimeout = 2 * time.Second
		s := natstest.Start(t, o)
		l := openLog(t, Config{Conn: natstest.Connect(t, s), Name: "log", AckWait: 400 * time.Millisecond})
		for n := range 3 {
			mustAppend(t, l, fmt.Sprint(n), "more")
			until(t, "the batch is over", func() bool {
				l.mu.Lock()
				defer l.mu.Unlock()
				return l.pipe.batch == ""
			})
		}
	})
}

// The server is stopped in the middle of a pipeline and started again with the
// same files. The writer and the follower continue.
func TestAServerThatStartsAgain(t *testing.T) {
	o := natstest.JetStream(t.TempDir())
	s := natstest.Start(t, o)
	way := natstest.NewWay(t, s)
	l := openLog(t, Config{Conn: natstest.Connect(t, way), Name: "log"})
	const upTo = 6000
	received := follower(t, openLog(t, Config{Conn: natstest.Connect(t, way), Name: "log"}), upTo)
	restarts := uint64(0)
	stops, err := persist(soon(t), l, upTo, func(n uint64) {
		if n/2000 > restarts {
			restarts++
			natstest.Stop(s)
			s = natstest.Start(t, o.Clone())
			way.To(s)
		}
	})
	if err != nil || restarts != 2 {
		t.Fatal(restarts, stops, err)
	}
	wantAll(t, l, upTo, received())
}

// startCluster starts a cluster of three servers with JetStream.
func startCluster(t *testing.T) (servers []*server.Server, urls string) {
	t.Helper()
	var ports []int
	var routes []*url.URL
	for range 3 {
		addr, err := net.ResolveTCPAddr("tcp", porttest.Addr(t))
		if err != nil {
			t.Fatal(err)
		}
		ports = append(ports, addr.Port)
		routes = append(routes, &url.URL{Scheme: "nats", Host: addr.String()})
	}
	var all []string
	for i, p := range ports {
		o := options(t.TempDir())
		o.ServerName = fmt.Sprint("server-", i)
		o.Cluster = server.ClusterOpts{Name: "cluster", Host: "127.0.0.1", Port: p}
		o.Routes = routes
		s := natstest.Start(t, o)
		servers, all = append(servers, s), append(all, s.ClientURL())
	}
	until(t, "the cluster has a leader and all its members", func() bool {
		return slices.ContainsFunc(servers, func(s *server.Server) bool {
			return s.JetStreamIsLeader() && len(s.JetStreamClusterPeers()) == len(servers)
		})
	})
	return servers, strings.Join(all, ",")
}

// until waits for a condition.
func until(t *testing.T, what string, is func() bool) {
	t.Helper()
	ctx := soon(t)
	for !is() {
		if wait(ctx, 10*time.Millisecond) != nil {
			t.Fatal("time-out while waiting until " + what)
		}
	}
}

// The leader of a stream with three replicas is shut down while commits are on
// their way. Another server takes over, and all confirmed commits are there
// once. Before that, the test shows on the same cluster that replicas in doubt
// are not read.
//
//promise:durable dark
func TestTheLossOfTheStreamsLeader(t *testing.T) {
	t.Parallel()
	if testing.Short() {
		t.Skip("elects leaders, which takes seconds")
	}
	servers, urls := startCluster(t)
	doubts(t, Config{Conn: connect(t, urls), Name: "doubted", Replicas: 3})
	config := Config{Conn: connect(t, urls), Name: "log", Replicas: 3}
	l := openLog(t, config)
	config.Conn = connect(t, urls)
	const upTo = 2400
	received := follower(t, openLog(t, config), upTo)
	lost := false
	stops, err := persist(soon(t), l, upTo, func(n uint64) {
		if n != 1200 || lost {
			return
		}
		lost = true
		k := slices.IndexFunc(servers, func(s *server.Server) bool { return s.JetStreamIsStreamLeader("$G", l.name) })
		natstest.Stop(servers[k])
	})
	if err != nil || !lost {
		t.Fatal(stops, err)
	}
	wantAll(t, l, upTo, received())
	if err := save(l, upTo, "all"); err != nil {
		t.Error(err)
	}
	if state, n := load(t, l); state != "all" || n != upTo {
		t.Errorf("%q up to %d", state, n)
	}
}

// A full stream rejects commits and loses none. It accepts commits again when a
// snapshot has made room.
func TestAFullStream(t *testing.T) {
	s := natstest.Start(t, natstest.JetStream(t.TempDir()))
	nc := natstest.Connect(t, s)
	js, err := jetstream.New(nc)
	if err != nil {
		t.Fatal(err)
	}
	small := settings("pnagent-log-log", "pnagent.log.log", 1)
	small.MaxBytes = 100_000
	if _, err := js.CreateStream(soon(t), small); err != nil {
		t.Fatal(err)
	}
	l := openLog(t, Config{Conn: nc, Name: "log"})
	n := uint64(0)
	for err == nil {
		n, err = l.Append(soon(t), n, make([]byte, 1000))
	}
	var refused *jetstream.APIError
	if !errors.Is(err, journal.ErrStopped) || !errors.As(err, &refused) || !strings.Contains(err.Error(), "maximum bytes") {
		t.Fatal(err)
	}
	if err := l.Refresh(soon(t)); err != nil {
		t.Fatal(err)
	}
	last := l.Last()
	if got := list(t, l, 1); len(got) != int(last) || last < 80 || last > 100 {
		t.Errorf("%d commits, the last is %d", len(got), last)
	}
	if err := save(l, last, "state"); err != nil {
		t.Fatal(err)
	}
	mustAppend(t, l, "continues")
	if got := list(t, l, last+1); len(got) != 1 || got[0] != "continues" {
		t.Errorf("%q", got)
	}
}

// An account that is full rejects commits, too. It also rejects the snapshot
// that would make room; the log stays as it was.
//
//promise:durable disk
func TestAnAccountWithoutRoom(t *testing.T) {
	s := natstest.Start(t, natstest.JetStream(t.TempDir()))
	limit := func(most int64) {
		t.Helper()
		limits := map[string]server.JetStreamAccountLimits{"": {MaxMemory: -1, MaxStore: most, MaxStreams: -1, MaxConsumers: -1}}
		if err := s.GlobalAccount().UpdateJetStreamLimits(limits); err != nil {
			t.Fatal(err)
		}
	}
	limit(200_000)
	l := openLog(t, Config{Conn: natstest.Connect(t, s), Name: "log"})
	n, err := uint64(0), error(nil)
	for err == nil && n < 10_000 {
		n, err = l.Append(soon(t), n, make([]byte, 1000))
	}
	if !errors.Is(err, journal.ErrStopped) || !strings.Contains(err.Error(), "resource") {
		t.Fatal(n, err)
	}
	if err := l.Refresh(soon(t)); err != nil {
		t.Fatal(err)
	}
	last := l.Last()
	if err := save(l, last, strings.Repeat("x", 300_000)); err == nil {
		t.Error("a snapshot was saved without room")
	}
	if got := list(t, l, 1); len(got) != int(last) || last < 100 {
		t.Errorf("%d commits, the last is %d", len(got), last)
	}
	limit(2_000_000)
	if err := save(l, last, strings.Repeat("x", 300_000)); err != nil {
		t.Error(err)
	}
	mustAppend(t, l, "continues")
}
