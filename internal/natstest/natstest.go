// SPDX-License-Identifier: Apache-2.0

package natstest

import (
	"net"
	"runtime"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/nats-io/nats-server/v2/server"
	"github.com/nats-io/nats-server/v2/server/ats"
	"github.com/nats-io/nats.go"
	"go.uber.org/goleak"
)

// startWithin is how long a server may take to start.
const startWithin = time.Minute

// Main runs the tests of a package and fails if goroutines are left. Use it as
// TestMain.
func Main(m *testing.M, options ...goleak.Option) {
	// A server's first file store starts a clock that all servers of the process
	// share. It must not be started in a bubble, which could then never end.
	ats.Register()
	const clock = "github.com/nats-io/nats-server/v2/server/ats.Register.func1"
	goleak.VerifyTestMain(m, append(options, goleak.IgnoreTopFunction(clock))...)
}

// drainsFor is more than the pause after which nats.go looks again whether a
// subscription that drains is empty, or its connection closed.
const drainsFor = time.Second

// Bubble runs a test in a synctest bubble, and lets the goroutines of closed
// connections end.
func Bubble(t *testing.T, test func(t *testing.T)) {
	t.Helper()
	dropPools()
	defer dropPools()
	synctest.Test(t, func(t *testing.T) {
		t.Cleanup(func() { <-time.After(drainsFor) })
		test(t)
	})
}

// dropPools empties every sync.Pool, which takes two collections. nats.go has
// timers in one, and those of a bubble must not be used outside of it.
func dropPools() {
	runtime.GC()
	runtime.GC()
}

// Server is a running server, as far as clients need it: the type of its own package
// takes the compiler longer to read than most packages take to compile.
type Server interface {
	nats.InProcessConnProvider
	ClientURL() string
	Addr() net.Addr
	ReadyForConnections(within time.Duration) bool
	Shutdown()
	WaitForShutdown()
}

// Listen is a line for Run: the server listens at a free port.
const Listen = `listen: "127.0.0.1:-1"`

// Run runs a server until the test ends, with lines of a server's configuration file.
// It has sockets only if there is one of Listen's kind. A test that needs more of the
// server than Server has uses [Start].
func Run(t testing.TB, lines ...string) Server {
	t.Helper()
	o := Options()
	if len(lines) > 0 { // an empty configuration is refused
		if err := o.ProcessConfigString(strings.Join(lines, "\n")); err != nil {
			t.Fatal(err)
		}
	}
	o.DontListen = o.Port == 0
	return Start(t, o)
}

// Options are those of a server without sockets and without JetStream.
func Options() *server.Options {
	return &server.Options{DontListen: true, NoLog: true, NoSigs: true}
}

// JetStream are the options of a server without sockets that keeps streams in a
// directory.
func JetStream(dir string) *server.Options {
	o := Options()
	o.JetStream, o.StoreDir = true, dir
	return o
}

// Start runs a server until the test ends.
func Start(t testing.TB, o *server.Options) *server.Server {
	t.Helper()
	s, err := server.NewServer(o)
	if err != nil {
		t.Fatal(err)
	}
	s.Start()
	t.Cleanup(func() { Stop(s) })
	if !s.ReadyForConnections(startWithin) {
		t.Fatal("the NATS server does not start")
	}
	return s
}

// Client connects to a server of its own.
func Client(t testing.TB) *nats.Conn {
	t.Helper()
	return Connect(t, Run(t))
}

// Stop ends a server. A second call does nothing.
func Stop(s Server) {
	s.Shutdown()
	s.WaitForShutdown()
}

// Connect connects to a server, or over a Way, and reconnects without end.
func Connect(t testing.TB, to nats.InProcessConnProvider, options ...nats.Option) *nats.Conn {
	t.Helper()
	options = append([]nats.Option{nats.InProcessServer(to), nats.MaxReconnects(-1), nats.ReconnectWait(10 * time.Millisecond), nats.ReconnectJitter(0, 0)}, options...)
	nc, err := nats.Connect("", options...)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(nc.Close)
	return nc
}
