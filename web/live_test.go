// SPDX-License-Identifier: Apache-2.0

package web

import (
	"bufio"
	"bytes"
	"compress/gzip"
	"context"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"net/netip"
	"runtime"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"
	"weak"

	"github.com/pnagent/pnagent/collector/alarm"
	"github.com/pnagent/pnagent/collector/merge"
	"github.com/pnagent/pnagent/internal/httpserver"
	"github.com/pnagent/pnagent/internal/latest"
)

// pipes is a listener whose connections are pipes in memory, so that a server
// and its viewers live in a bubble of synctest.
type pipes struct {
	conns chan net.Conn
	done  chan struct{}
	once  sync.Once
}

func newPipes() *pipes { return &pipes{conns: make(chan net.Conn), done: make(chan struct{})} }

func (p *pipes) Accept() (net.Conn, error) {
	select {
	case c := <-p.conns:
		return c, nil
	case <-p.done:
		return nil, net.ErrClosed
	}
}

func (p *pipes) Close() error   { p.once.Do(func() { close(p.done) }); return nil }
func (p *pipes) Addr() net.Addr { return &net.UnixAddr{Name: "pipe", Net: "unix"} }

// dial connects and asks for a path.
func (p *pipes) dial(t *testing.T, path string, header ...string) net.Conn {
	t.Helper()
	client, server := net.Pipe()
	p.conns <- server
	t.Cleanup(func() { _ = client.Close() })
	if _, err := fmt.Fprintf(client, "GET %s HTTP/1.1\r\nHost: x\r\n%s\r\n", path, strings.Join(header, "")); err != nil {
		t.Fatal(err)
	}
	return client
}

// running is a stage that is served on pipes; stop ends it as a sidecar does.
func running(t *testing.T, change func(*Config)) (st *stage, p *pipes, stop func()) {
	t.Helper()
	st, p = newStage(t, change), newPipes()
	server := &http.Server{Handler: st.Handler(), ReadTimeout: 30 * time.Second, ReadHeaderTimeout: time.Second}
	ended := make(chan struct{})
	go func() { _ = server.Serve(p); close(ended) }()
	return st, p, func() {
		ctx, cancel := context.WithCancel(context.Background())
		cancel()
		if err := st.Run(ctx); err != nil {
			t.Error(err)
		}
		if err := server.Shutdown(context.Background()); err != nil {
			t.Error(err)
		}
		<-ended
	}
}

// events reads a stream, event by event.
func events(t *testing.T, c net.Conn) *bufio.Scanner {
	t.Helper()
	r, err := http.ReadResponse(bufio.NewReader(c), nil)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = r.Body.Close() })
	if r.StatusCode != http.StatusOK || r.Header.Get("Content-Type") != "text/event-stream" {
		t.Fatalf("got status %s, headers %v; want 200 and text/event-stream", r.Status, r.Header)
	}
	var body io.Reader = r.Body
	if r.Header.Get("Content-Encoding") == "gzip" {
		if body, err = gzip.NewReader(r.Body); err != nil {
			t.Fatal(err)
		}
	}
	s := bufio.NewScanner(body)
	s.Buffer(nil, 1<<20)
	s.Split(splitEvents)
	return s
}

// splitEvents is a bufio.SplitFunc.
func splitEvents(text []byte, _ bool) (int, []byte, error) {
	if i := bytes.Index(text, []byte("\n\n")); i >= 0 {
		return i + 2, text[:i], nil
	}
	return 0, nil, nil
}

// expect reads events of the given beginnings.
func expect(t *testing.T, s *bufio.Scanner, want ...string) {
	t.Helper()
	for _, w := range want {
		if !s.Scan() {
			t.Fatalf("the stream ended before %q: %v", w, s.Err())
		}
		if !strings.HasPrefix(s.Text()+"\n", w) {
			t.Fatalf("event %.80q, want %q", s.Text(), w)
		}
	}
}

// story runs a test in a bubble with a server that is stopped at its end.
func story(t *testing.T, change func(*Config), tell func(t *testing.T, st *stage, p *pipes)) {
	t.Helper()
	synctest.Test(t, func(t *testing.T) {
		st, p, stop := running(t, change)
		defer stop()
		tell(t, st, p)
	})
}

const live = "/api/v1/live?net=orders"

func TestAViewerGetsAWholeFrameAndThenDiffs(t *testing.T) {
	for _, header := range []string{"", "Accept-Encoding: deflate, gzip;q=0.5\r\n"} {
		story(t, nil, func(t *testing.T, st *stage, p *pipes) {
			st.show(orders())
			s := events(t, p.dial(t, live, header))
			expect(t, s, "event: overview\nid: 41\n", "event: frame\nid: 41\n")
			st.show(later(orders(), time.Second, 3))
			expect(t, s, "event: overview\nid: 42\n", "event: diff\nid: 42\n")
			if c := st.Counters(); c.Viewers != 1 || c.Frames != 1 || c.Diffs != 1 || c.Bytes == 0 {
				t.Errorf("got %+v; want one viewer, one frame and one difference", c)
			}
		})
	}
}

func TestAViewerThatComesBackFromAnotherLifeGetsAWholeFrame(t *testing.T) {
	story(t, nil, func(t *testing.T, st *stage, p *pipes) {
		st.show(orders())
		for _, id := range []string{"40", "41", "9000"} {
			expect(t, events(t, p.dial(t, live, "Last-Event-ID: "+id+"\r\n")), "event: overview\n", "event: frame\nid: 41\n")
		}
	})
}

func TestAViewerThatMissedABoardGetsAWholeFrame(t *testing.T) {
	story(t, nil, func(t *testing.T, st *stage, p *pipes) {
		v := orders()
		st.show(v)
		s := events(t, p.dial(t, live))
		expect(t, s, "event: overview\n", "event: frame\n")
		for range 3 { // the viewer is stuck in the first: nothing is read
			v = later(v, time.Second, 1)
			st.show(v)
			synctest.Wait()
		}
		expect(t, s, "event: overview\nid: 42\n", "event: diff\nid: 42\n", "event: overview\nid: 44\n", "event: frame\nid: 44\n")
	})
}

func TestADrawingThatChangesBringsAWholeFrame(t *testing.T) {
	story(t, nil, func(t *testing.T, st *stage, p *pipes) {
		w := newWorld(1, 3, 3)
		st.show(w.tick(1))
		s := events(t, p.dial(t, "/api/v1/live?net=net"))
		expect(t, s, "event: overview\n", "event: frame\n")
		w.grow(1, 0)
		st.show(w.tick(1))
		expect(t, s, "event: overview\n", "event: frame\n")
		st.show(w.tick(1))
		expect(t, s, "event: overview\n", "event: diff\n")
	})
}

func TestANetThatIsNotReceivedYetHasOnlyOverviews(t *testing.T) {
	story(t, nil, func(t *testing.T, st *stage, p *pipes) {
		s := events(t, p.dial(t, live))
		expect(t, s, "event: overview\nid: 0\n")
		v := orders()
		before := *v
		before.Nets, before.Generation = nil, 40
		st.show(&before)
		expect(t, s, "event: overview\nid: 40\n")
		st.show(v)
		expect(t, s, "event: overview\nid: 41\n", "event: frame\nid: 41\n")
	})
}

func TestAViewerOfNoNetHasOnlyOverviews(t *testing.T) {
	story(t, nil, func(t *testing.T, st *stage, p *pipes) {
		st.show(orders())
		s := events(t, p.dial(t, "/api/v1/live"))
		expect(t, s, "event: overview\nid: 41\n")
		st.show(later(orders(), time.Second, 3))
		expect(t, s, "event: overview\nid: 42\n")
	})
}

func TestAViewerThatNeverReadsIsDropped(t *testing.T) {
	story(t, nil, func(t *testing.T, st *stage, p *pipes) {
		st.show(orders())
		began := time.Now()
		dead := p.dial(t, live)
		good := events(t, p.dial(t, live))
		expect(t, good, "event: overview\n", "event: frame\n")
		synctest.Wait()
		if c := st.Counters(); c.Viewers != 2 || c.Dropped != 0 {
			t.Fatalf("got %+v; want two viewers and none dropped", c)
		}
		time.Sleep(DefaultWriteTimeout) // of the bubble: it costs no time
		synctest.Wait()
		if c := st.Counters(); c.Viewers != 1 || c.Dropped != 1 {
			t.Errorf("after %v: %+v", time.Since(began), c)
		}
		if _, err := dead.Write([]byte("x")); err == nil {
			t.Error("its connection is still open")
		}
		st.show(later(orders(), time.Second, 3))
		expect(t, good, "event: overview\nid: 42\n", "event: diff\nid: 42\n")
	})
}

// TestAQuietStreamStaysOpen shows that comments keep coming, longer than a request
// may take to be read.
func TestAQuietStreamStaysOpen(t *testing.T) {
	story(t, nil, func(t *testing.T, st *stage, p *pipes) {
		st.show(orders())
		s := events(t, p.dial(t, live))
		began := time.Now()
		expect(t, s, "event: overview\n", "event: frame\n", ": alive\n", ": alive\n", ": alive\n", ": alive\n")
		if took := time.Since(began); took != 4*DefaultHeartbeat {
			t.Errorf("four signs of life took %v", took)
		}
		st.show(later(orders(), time.Second, 3))
		expect(t, s, "event: overview\nid: 42\n", "event: diff\nid: 42\n")
	})
}

func TestViewersAreLimited(t *testing.T) {
	story(t, func(c *Config) { c.Viewers = 2 }, func(t *testing.T, st *stage, p *pipes) {
		st.show(orders())
		first := p.dial(t, live)
		expect(t, events(t, first), "event: overview\n", "event: frame\n")
		expect(t, events(t, p.dial(t, "/api/v1/live")), "event: overview\n")
		refused, err := http.ReadResponse(bufio.NewReader(p.dial(t, live)), nil)
		if err != nil {
			t.Fatal(err)
		}
		_ = refused.Body.Close()
		if refused.StatusCode != http.StatusServiceUnavailable || refused.Header.Get("Retry-After") == "" {
			t.Errorf("the third is answered %v", refused)
		}
		_ = first.Close()
		synctest.Wait()
		st.show(later(orders(), time.Second, 3)) // the next write finds it gone, at the latest
		synctest.Wait()
		expect(t, events(t, p.dial(t, live)), "event: overview\n", "event: frame\n")
		if c := st.Counters(); c.Viewers != 2 || c.Refused != (Refused{Viewers: 1}) {
			t.Errorf("got %+v; want two viewers and one refused", c)
		}
	})
}

func TestViewersOfOneAddressLeaveRoomForOthers(t *testing.T) {
	st := newStage(t, func(c *Config) { c.Viewers, c.ViewersPerAddress = 3, 2 })
	a, b := httpserver.Peer("192.0.2.1:1000"), httpserver.Peer("192.0.2.2:1000")
	for i, step := range []struct {
		peer netip.Prefix
		want int
	}{{a, 200}, {a, 200}, {a, 429}, {b, 200}, {b, 503}} {
		if status, _ := st.enter("orders", step.peer); status != step.want {
			t.Errorf("viewer %d: got status %d; want %d", i, status, step.want)
		}
	}
	st.leave("orders", a)
	if status, _ := st.enter("orders", a); status != 200 {
		t.Errorf("got status %d after a viewer of the address left; want 200", status)
	}
	if c := st.Counters(); c.Viewers != 3 || c.Refused != (Refused{Viewers: 1, Address: 1}) {
		t.Errorf("got %+v; want three viewers, and one refused for each reason", c)
	}
}

// TestStreamsEndWithTheServer is what lets an HTTP server stop at once: stop
// waits for it without a deadline.
func TestStreamsEndWithTheServer(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		st, p, stop := running(t, nil)
		st.show(orders())
		s := events(t, p.dial(t, live))
		expect(t, s, "event: overview\n", "event: frame\n")
		began := time.Now()
		go func() {
			for s.Scan() {
				continue
			}
		}()
		stop()
		if took := time.Since(began); took > time.Second {
			t.Errorf("it took %v", took)
		}
	})
}

// TestOldBoardsAreNotKept by those that follow, nor by viewers that are up to
// date.
func TestOldBoardsAreNotKept(t *testing.T) {
	story(t, nil, func(t *testing.T, st *stage, p *pipes) {
		v := orders()
		st.show(v)
		s := events(t, p.dial(t, live))
		expect(t, s, "event: overview\n", "event: frame\n")
		old := weak.Make(st.board.Load())
		for range 3 {
			v = later(v, time.Second, 1)
			st.show(v)
			expect(t, s, "event: overview\n", "event: diff\n")
		}
		synctest.Wait()
		for range 5 {
			runtime.GC()
		}
		if old.Value() != nil {
			t.Error("a board of three Views ago is still there")
		}
	})
}

// TestAStreamOverHTTP2 is what browsers use with TLS, for all their tabs on one
// connection.
func TestAStreamOverHTTP2(t *testing.T) {
	st := newStage(t, nil)
	st.show(orders())
	server := httptest.NewUnstartedServer(st.Handler())
	server.EnableHTTP2 = true
	server.StartTLS()
	defer server.Close()
	r, err := http.NewRequestWithContext(t.Context(), http.MethodGet, server.URL+live, nil)
	if err != nil {
		t.Fatal(err)
	}
	w, err := server.Client().Do(r)
	if err != nil {
		t.Fatal(err)
	}
	defer w.Body.Close()
	s := bufio.NewScanner(w.Body)
	s.Split(splitEvents)
	if w.ProtoMajor != 2 {
		t.Errorf("it is %s", w.Proto)
	}
	expect(t, s, "event: overview\nid: 41\n", "event: frame\nid: 41\n")
	st.show(later(orders(), time.Second, 3))
	expect(t, s, "event: overview\nid: 42\n", "event: diff\nid: 42\n")
	close(st.done) // as Run does
	if s.Scan() || s.Err() != nil {
		t.Errorf("then comes %q, %v", s.Text(), s.Err())
	}
}

func TestRunFollowsTheViews(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var view latest.Value[merge.View]
		var alarms latest.Value[alarm.ActiveSet]
		st := newStage(t, func(c *Config) { c.Views, c.Alarms = view.Subscribe(), alarms.Subscribe() })
		ctx, cancel := context.WithCancel(t.Context())
		ended := make(chan error)
		go func() { ended <- st.Run(ctx) }()
		for _, v := range []*merge.View{orders(), later(orders(), time.Second, 1)} {
			view.Store(v)
			synctest.Wait()
			if got := st.board.Load().view; got != v {
				t.Errorf("it shows %v", got)
			}
		}
		for _, set := range []*alarm.ActiveSet{{LastChange: 1}, {LastChange: 1, Noted: 1}} {
			alarms.Store(set)
			synctest.Wait()
			if got := st.board.Load(); got.alarms != set || got.view != view.Load() || st.Counters().History.Frames != 2 {
				t.Errorf("it shows %+v, %+v", got.view, got.alarms)
			}
		}
		cancel()
		if err := <-ended; err != nil {
			t.Error(err)
		}
	})
}
