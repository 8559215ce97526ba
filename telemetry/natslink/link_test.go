// SPDX-License-Identifier: Apache-2.0

package natslink_test

import (
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"crypto/x509/pkix"
	"errors"
	"io"
	"log/slog"
	"math/big"
	"net"
	"net/url"
	"strings"
	"testing"
	"time"

	"github.com/nats-io/nats-server/v2/server"
	"github.com/nats-io/nats.go"
	"go.uber.org/goleak"

	"github.com/pnagent/pnagent/internal/busytest"
	"github.com/pnagent/pnagent/internal/logtest"
	"github.com/pnagent/pnagent/internal/proxytest"
	"github.com/pnagent/pnagent/telemetry/natslink"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

const patience = time.Minute // enough for events that take milliseconds on an idle machine

func serve(t *testing.T, opts server.Options) *server.Server {
	t.Helper()
	opts.Host, opts.NoLog, opts.NoSigs = "127.0.0.1", true, true
	if opts.Port == 0 {
		opts.Port = server.RANDOM_PORT
	}
	s, err := server.NewServer(&opts)
	if err != nil {
		t.Fatal(err)
	}
	s.Start()
	t.Cleanup(func() { s.Shutdown(); s.WaitForShutdown() })
	if !s.ReadyForConnections(patience) {
		t.Fatal("nats-server does not start")
	}
	return s
}

// record collects the log.
type record struct{ logtest.Buffer }

// count returns the number of lines that contain all texts.
func (r *record) count(texts ...string) int {
	n := 0
lines:
	for line := range strings.Lines(r.String()) {
		for _, text := range texts {
			if !strings.Contains(line, text) {
				continue lines
			}
		}
		n++
	}
	return n
}

func open(t *testing.T, urls string, more ...nats.Option) (*natslink.Link, *record) {
	t.Helper()
	said := &record{}
	l, err := natslink.Open(natslink.Config{URLs: urls, Name: "test", Options: more,
		Log: slog.New(slog.NewTextHandler(said, nil))})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(l.Close)
	return l, said
}

func until(t *testing.T, what string, is func() bool) {
	t.Helper()
	for begin := time.Now(); !is(); time.Sleep(5 * time.Millisecond) {
		if time.Since(begin) > patience {
			t.Fatalf("not within %s: %s", patience, what)
		}
	}
}

func addr(s *server.Server) string { return s.Addr().String() }

func TestADarkServerIsReplacedByAnotherOne(t *testing.T) {
	t.Parallel()
	dark, other := serve(t, server.Options{}), serve(t, server.Options{})
	way := proxytest.New(t, addr(dark))
	l, said := open(t, "nats://"+way.Addr+","+other.ClientURL(), nats.DontRandomize())
	until(t, "connected", func() bool { return l.State().Connected })
	way.Dark()
	begin, waited := time.Now(), busytest.Since()
	for range 300 { // more than the system accepts before the server reads
		_ = l.Conn.Publish("filling", make([]byte, 1<<16))
	}
	until(t, "connected to the other server", func() bool { s := l.State(); return s.Connected && s.Server == other.ClientURL() })
	if took := time.Since(begin) - waited(); took > 12*time.Second {
		t.Errorf("it took %s", took)
	}
	if s := l.State(); s.Disconnects != 1 || s.Reason != "" {
		t.Errorf("%+v", s)
	}
	if said.count("level=WARN", "connection to NATS lost") != 1 || said.count("connected to NATS again") != 1 {
		t.Error(said)
	}
}

func TestADarkServerIsUsedAgainWhenItAnswers(t *testing.T) {
	t.Parallel()
	way := proxytest.New(t, addr(serve(t, server.Options{})))
	l, _ := open(t, "nats://"+way.Addr)
	until(t, "connected", func() bool { return l.State().Connected })
	way.Dark()
	until(t, "given up", func() bool { return !l.State().Connected })
	if s := l.State(); !strings.Contains(s.Reason, "not answered 2 pings") {
		t.Errorf("%+v", s)
	}
	until(t, "tried again", func() bool { return strings.HasSuffix(l.State().Reason, "i/o timeout") })
	way.Light()
	begin, waited := time.Now(), busytest.Since()
	until(t, "connected again", func() bool { return l.State().Connected })
	if took := time.Since(begin) - waited(); took > natslink.BackWithin+2*time.Second {
		t.Errorf("it took %s after the server answered, of %s", took, natslink.BackWithin)
	}
}

// Pings find a server that answers alive, also where they are all that is sent.
func TestAServerThatAnswersStays(t *testing.T) {
	t.Parallel()
	s := serve(t, server.Options{})
	l, _ := open(t, s.ClientURL())
	until(t, "connected", func() bool { return l.State().Connected })
	time.Sleep(natslink.PingAfter + (natslink.PingsOut+1)*natslink.PingAgain)
	if n := l.State().Disconnects; n != 0 {
		t.Errorf("%d connections were lost", n)
	}
}

func TestTheServersReasonIsLoggedOnceAsAWarning(t *testing.T) {
	t.Parallel()
	full := server.Options{MaxConn: 1}
	for name, c := range map[string]struct {
		server server.Options
		url    func(string) string
		reason string
	}{
		"a wrong password":     {server.Options{Username: "u", Password: "p"}, func(a string) string { return "nats://u:s3cret@" + a }, "Authorization Violation"},
		"a wrong token":        {server.Options{Authorization: "p"}, func(a string) string { return "nats://s3cret@" + a }, "Authorization Violation"},
		"too many connections": {full, func(a string) string { return "nats://" + a }, "maximum connections exceeded"},
		"a certificate that is not trusted": {tlsOptions(t), func(a string) string { return "tls://" + a },
			"certificate signed by unknown authority"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := serve(t, c.server)
			if c.server.MaxConn == 1 {
				first, err := nats.Connect(s.ClientURL(), nats.Timeout(patience))
				if err != nil {
					t.Fatal(err)
				}
				defer first.Close()
			}
			l, said := open(t, c.url(addr(s)))
			until(t, "the reason", func() bool { return strings.Contains(l.State().Reason, c.reason) })
			before := l.Conn.Stats().Reconnects
			until(t, "three attempts", func() bool { return l.Conn.Stats().Reconnects >= before+3 })
			if n := said.count("level=WARN", "no connection to NATS, retrying", c.reason); n != 1 {
				t.Errorf("logged %d times, want once:\n%s", n, said)
			}
			if said.count("s3cret") != 0 || strings.Contains(l.State().Reason+l.State().Server, "s3cret") {
				t.Errorf("a secret is shown:\n%s", said)
			}
			if l.State().Connected {
				t.Error("the state is connected")
			}
		})
	}
}

// tlsOptions returns the options of a server with a self-signed certificate.
func tlsOptions(t *testing.T) server.Options {
	t.Helper()
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	template := &x509.Certificate{SerialNumber: big.NewInt(1), Subject: pkix.Name{CommonName: "test"}, NotAfter: time.Now().Add(time.Hour),
		IPAddresses: []net.IP{net.IPv4(127, 0, 0, 1)}}
	cert, err := x509.CreateCertificate(rand.Reader, template, template, &key.PublicKey, key)
	if err != nil {
		t.Fatal(err)
	}
	return server.Options{TLS: true, TLSTimeout: 2,
		TLSConfig: &tls.Config{Certificates: []tls.Certificate{{Certificate: [][]byte{cert}, PrivateKey: key}}, MinVersion: tls.VersionTLS12}}
}

func TestARejectedLoginIsRetried(t *testing.T) {
	t.Parallel()
	s := serve(t, server.Options{Username: "u", Password: "p"})
	l, _ := open(t, "nats://u:wrong@"+addr(s))
	before := l.Conn.Stats().Reconnects
	until(t, "refused thrice", func() bool { return l.Conn.Stats().Reconnects >= before+3 })
	if err := s.ReloadOptions(&server.Options{Host: "127.0.0.1", Port: s.Addr().(*net.TCPAddr).Port, NoLog: true, NoSigs: true,
		Username: "u", Password: "wrong"}); err != nil {
		t.Fatal(err)
	}
	until(t, "connected with what is right now", func() bool { return l.State().Connected })
}

func TestAForbiddenSubjectIsReportedAndTheConnectionStays(t *testing.T) {
	t.Parallel()
	s := serve(t, server.Options{Users: []*server.User{{Username: "u", Password: "p",
		Permissions: &server.Permissions{Subscribe: &server.SubjectPermission{Deny: []string{"engines.>"}}}}}})
	l, said := open(t, "nats://u:p@"+addr(s))
	until(t, "connected", func() bool { return l.State().Connected })
	for range 3 {
		if _, err := l.Conn.SubscribeSync("engines.all"); err != nil {
			t.Fatal(err)
		}
	}
	until(t, "the reason", func() bool {
		return strings.Contains(l.State().Reason, `Permissions Violation for Subscription to "engines.all"`)
	})
	if !l.State().Connected || said.count("level=WARN", "engines.all") != 1 {
		t.Errorf("%+v\n%s", l.State(), said)
	}
}

func TestReasonsAreOneLineTheSameEachTimeAndWithoutSecrets(t *testing.T) {
	from, to := &net.TCPAddr{IP: net.IPv4(10, 0, 0, 1), Port: 51234}, &net.TCPAddr{IP: net.IPv4(10, 0, 0, 2), Port: 4222}
	for want, err := range map[string]error{
		"the server closed the connection":                      io.EOF,
		"the server has not answered 2 pings: stale connection": nats.ErrStaleConnection,
		"read 10.0.0.2:4222: i/o timeout":                       &net.OpError{Op: "read", Net: "tcp", Source: from, Addr: to, Err: errors.New("i/o timeout")},
		"lookup nats.example: no such host":                     &net.OpError{Op: "dial", Net: "tcp", Err: &net.DNSError{Name: "nats.example", Err: "no such host", Server: "10.0.0.3:53", IsNotFound: true}},
		"lookup nats.example: no answer in time":                &net.OpError{Op: "dial", Net: "tcp", Err: &net.DNSError{Name: "nats.example", Err: "read udp 10.0.0.1:41234->10.0.0.3:53: i/o timeout", IsTimeout: true}},
		"invalid port":                                          &url.Error{Op: "parse", URL: "nats://u:s3cret@h:x", Err: errors.New("invalid port")},
		"authorization violation":                               nats.ErrAuthorization,
		"two lines":                                             errors.New("two\nlines"),
		strings.Repeat("x", 200) + "…":                          errors.New(strings.Repeat("x", 500)),
	} {
		if got := natslink.Reason(err); got != want {
			t.Errorf("%v: %q, want %q", err, got, want)
		}
	}
}

func TestURLsAreShownWithoutSecrets(t *testing.T) {
	const urls = "nats://u:s3cret@a:4222, nats://s3cret@b, tls://c:4222,nats://u:s3cret@e:port"
	const want = "nats://u:xxxxx@a:4222,nats://xxxxx@b,tls://c:4222,(not a URL)"
	if got := natslink.Redact(urls); got != want {
		t.Errorf("%q, want %q", got, want)
	}
}

func TestAnErrorOfAURLHoldsNoSecret(t *testing.T) {
	_, err := natslink.Open(natslink.Config{URLs: "nats://u:s3cret@h:port"})
	if err == nil || strings.Contains(err.Error(), "s3cret") {
		t.Errorf("%v", err)
	}
}

// If one URL of a list is malformed, the others are still shown.
func TestOneBadURLOfAListHidesNoOther(t *testing.T) {
	if got, want := natslink.Redact("nats://u:s3cret@e:port,nats://s3cret@b"), "(not a URL),nats://xxxxx@b"; got != want {
		t.Errorf("%q, want %q", got, want)
	}
}

func TestTheFirstConnectionIsNotOneThatCameAgain(t *testing.T) {
	t.Parallel()
	s := serve(t, server.Options{})
	l, said := open(t, s.ClientURL())
	until(t, "connected", func() bool { return l.State().Connected })
	if said.count("msg=\"connected to NATS\"") != 1 || said.count("level=WARN") != 0 {
		t.Error(said)
	}
	l.Close()
	until(t, "closed", l.Conn.IsClosed)
	if said.count("lost") != 0 || said.count("for good") != 0 {
		t.Errorf("an intended close is logged as a fault:\n%s", said)
	}
}
