// SPDX-License-Identifier: Apache-2.0

package notify

import (
	"bytes"
	"context"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"encoding/json"
	"encoding/pem"
	"errors"
	"io"
	"math/big"
	"net"
	"net/http"
	"net/http/httptest"
	netmail "net/mail"
	"os"
	"path/filepath"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/emersion/go-sasl"
	"github.com/emersion/go-smtp"
	"github.com/google/go-cmp/cmp"
	slog "github.com/leodido/go-syslog/v4"
	"github.com/leodido/go-syslog/v4/octetcounting"
	"github.com/leodido/go-syslog/v4/rfc5424"
	standardwebhooks "github.com/standard-webhooks/standard-webhooks/libraries/go"

	"github.com/pnagent/pnagent/collector/alarm"
	"github.com/pnagent/pnagent/stats"
)

// noon is when the events of these tests happen.
var noon = time.Date(2026, 11, 30, 12, 0, 0, 0, time.UTC)

// event returns one about a stuck token with hostile names.
func event(what string) *Event {
	n := alarm.Notification{At: noon.UnixMicro()}
	n.Raise = what != cleared
	n.Alarm = alarm.Alarm{Index: 59945507, Kind: alarm.TokenStuck, Net: "orders", Subject: "paid\r\nBcc: eve@example.org", Severity: alarm.Major, Raised: noon.Add(-4 * time.Hour).UnixMicro(),
		Since: noon.Add(-5 * time.Hour).UnixMicro(), Affected: 3, Text: `tokens in place "paid" of net "orders" for more than 10m: 3`, Selects: stats.ReasonNamed("incident"),
		Why: alarm.Why{Instance: `berlin/48"]`, Words: "job, out of retries"}}
	switch what {
	case reminder:
		n.Reminder = alarm.Reminder{Due: n.At}
	case escalated:
		n.Reminder = alarm.Reminder{Due: n.At, Escalated: true}
	}
	e := EventOf(&n, "ops", &Site{Page: "https://nets.example.org/", Runbooks: "https://docs.example.org/runbooks"})
	return &e
}

// settings reads one sink; certificates are trusted if ca names a file.
func settings(t *testing.T, yaml string) *Settings {
	t.Helper()
	rules, err := alarm.ReadRules(strings.NewReader("sinks:\n  ops: "+yaml+"\n"), "alarms.yaml")
	if err != nil {
		t.Fatal(err)
	}
	all, err := Read(rules)
	if err != nil {
		t.Fatal(err)
	}
	return all[0]
}

func site() *Site {
	return &Site{Source: "urn:pnagent:pn", Enterprise: 32473, Page: "https://nets.example.org"}
}

func TestAWebhookIsSignedAndVerified(t *testing.T) {
	var problems []string
	var bodies [][]byte
	hook, err := standardwebhooks.NewWebhook("whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw")
	if err != nil {
		t.Fatal(err)
	}
	server := httptest.NewServer(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
		body, _ := io.ReadAll(r.Body)
		if err := hook.Verify(body, r.Header); err != nil {
			problems = append(problems, err.Error())
		}
		bodies = append(bodies, body)
	}))
	defer server.Close()
	t.Setenv("HOOK_SECRET", "whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw")
	for _, format := range []string{"cloudevents", "alertmanager"} {
		to := settings(t, `{webhook: "`+server.URL+`/hook", format: `+format+`, secret: {env: HOOK_SECRET}}`).to
		for _, what := range []string{raised, cleared} {
			if err := to.send(t.Context(), site(), event(what)); err != nil {
				t.Error(err)
			}
		}
	}
	if len(problems) > 0 || len(bodies) != 4 {
		t.Fatalf("%d messages, %v", len(bodies), problems)
	}
	var cloud map[string]any
	if err := json.Unmarshal(bodies[0], &cloud); err != nil {
		t.Fatal(err)
	}
	data := cloud["data"]
	delete(cloud, "data")
	want := map[string]any{"specversion": "1.0", "id": "59945507.raised", "source": "urn:pnagent:pn", "type": "io.pnagent.alarm.raised",
		"subject": "orders/paid\r\nBcc: eve@example.org", "time": "2026-11-30T12:00:00Z", "datacontenttype": "application/json"}
	if d := cmp.Diff(want, cloud); d != "" {
		t.Errorf("a CloudEvent (-want +got)\n%s", d)
	}
	if m := data.(map[string]any); m["severity"] != "major" || m["age_seconds"] != 18000.0 || m["for_reason"] != "incident" || m["runbook_url"] != "https://docs.example.org/runbooks/tokenStuck.md" {
		t.Errorf("its data: %v", m)
	}
	for i, status := range []string{"firing", "resolved"} {
		var group groupMessage
		if err := json.Unmarshal(bodies[2+i], &group); err != nil {
			t.Fatal(err)
		}
		a := group.Alerts[0]
		if group.Version != "4" || group.Status != status || a.Status != status || a.Labels["alertname"] != "PetrinetTokenStuck" || a.Labels["severity"] != "major" || a.EndsAt.IsZero() != (i == 0) ||
			!a.StartsAt.Equal(noon.Add(-4*time.Hour)) || !strings.HasPrefix(a.Annotations["page_url"], "https://nets.example.org/#net=orders&place=paid%0D%0ABcc") {
			t.Errorf("%s", bodies[2+i])
		}
	}
}

func TestAnswersOfAWebhook(t *testing.T) {
	status, later := 0, ""
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Retry-After", later)
		w.Header().Set("Location", "http://127.0.0.1:1/secret")
		w.WriteHeader(status)
	}))
	defer server.Close()
	to := settings(t, `{webhook: "`+server.URL+`/token-in-path"}`).to
	for _, c := range []struct {
		status int
		later  string
		again  bool
		after  time.Duration
	}{{204, "", false, 0}, {301, "", false, 0}, {400, "", false, 0}, {404, "", false, 0}, {429, "7", true, 7 * time.Second}, {503, "", true, 0}, {500, "x", true, 0}} {
		status, later = c.status, c.later
		err := to.send(t.Context(), site(), event(raised))
		var why *failure
		errors.As(err, &why)
		switch {
		case c.status == 204:
			if err != nil {
				t.Error(err)
			}
		case why == nil || (why.reason != alarm.Refused) != c.again || why.after != c.after:
			t.Errorf("%d: %v; want that it is repeated: %v, after %v", c.status, why, c.again, c.after)
		}
	}
	server.Close()
	err := to.send(t.Context(), site(), event(raised))
	var why *failure
	if err == nil || errors.As(err, &why) || strings.Contains(err.Error(), "token-in-path") {
		t.Errorf("without a server: %v; want an error that is repeated and names no path", err)
	}
}

// authority writes a certificate for 127.0.0.1 and localhost.
func authority(t *testing.T) (file string, server *tls.Config) {
	t.Helper()
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	about := &x509.Certificate{SerialNumber: big.NewInt(1), NotBefore: time.Now().Add(-time.Hour), NotAfter: time.Now().Add(time.Hour), IsCA: true, BasicConstraintsValid: true,
		KeyUsage: x509.KeyUsageCertSign | x509.KeyUsageDigitalSignature, IPAddresses: []net.IP{net.IPv4(127, 0, 0, 1)}, DNSNames: []string{"localhost"}}
	der, err := x509.CreateCertificate(rand.Reader, about, about, &key.PublicKey, key)
	if err != nil {
		t.Fatal(err)
	}
	file = filepath.Join(t.TempDir(), "ca.pem")
	if err := os.WriteFile(file, pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: der}), 0o600); err != nil {
		t.Fatal(err)
	}
	return file, &tls.Config{Certificates: []tls.Certificate{{Certificate: [][]byte{der}, PrivateKey: key}}, MinVersion: tls.VersionTLS12}
}

// postOffice is an SMTP server that knows ada with a password, and no eve.
type postOffice struct {
	mails []string
	to    [][]string
}

type session struct {
	office *postOffice
	to     []string
	proven bool
}

func (o *postOffice) NewSession(*smtp.Conn) (smtp.Session, error) { return &session{office: o}, nil }
func (*session) AuthMechanisms() []string                         { return []string{sasl.Plain} }
func (s *session) Auth(string) (sasl.Server, error) {
	return sasl.NewPlainServer(func(_, user, password string) error {
		if user != "ada" || password != "pass word" {
			return errors.New("wrong")
		}
		s.proven = true
		return nil
	}), nil
}
func (s *session) Mail(string, *smtp.MailOptions) error {
	if !s.proven {
		return smtp.ErrAuthRequired
	}
	return nil
}
func (s *session) Rcpt(to string, _ *smtp.RcptOptions) error {
	switch {
	case strings.HasPrefix(to, "eve@"):
		return &smtp.SMTPError{Code: 550, EnhancedCode: smtp.EnhancedCode{5, 1, 1}, Message: "no such user"}
	case strings.HasPrefix(to, "full@"):
		return &smtp.SMTPError{Code: 452, EnhancedCode: smtp.EnhancedCode{4, 2, 2}, Message: "mailbox full"}
	}
	s.to = append(s.to, to)
	return nil
}
func (s *session) Data(r io.Reader) error {
	text, err := io.ReadAll(r)
	s.office.mails, s.office.to = append(s.office.mails, string(text)), append(s.office.to, s.to)
	return err
}
func (s *session) Reset()        { s.to = nil }
func (s *session) Logout() error { return nil }

// startSMTP runs a server, with STARTTLS or within TLS.
func startSMTP(t *testing.T, implicit bool, config *tls.Config) (office *postOffice, addr string) {
	t.Helper()
	office = &postOffice{}
	server := smtp.NewServer(office)
	server.TLSConfig = config
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	addr = l.Addr().String()
	if implicit {
		l = tls.NewListener(l, config)
	}
	ended := make(chan struct{})
	go func() { _ = server.Serve(l); close(ended) }()
	t.Cleanup(func() { _ = server.Close(); <-ended })
	return office, addr
}

func TestMailsOverStartTLSAndTLSWithAPassword(t *testing.T) {
	ca, config := authority(t)
	password := filepath.Join(t.TempDir(), "password")
	if err := os.WriteFile(password, []byte("pass word\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	for encryption, implicit := range map[string]bool{"starttls": false, "tls": true} {
		office, addr := startSMTP(t, implicit, config)
		sink := func(to string) transport {
			return settings(t, `{mail: [`+to+`], from: pnagent@example.org, server: "`+addr+`", encryption: `+encryption+`, user: ada, password: {file: `+password+`}, ca_file: `+ca+`}`).to
		}
		for _, what := range []string{raised, reminder, cleared} {
			if err := sink("oncall@example.org, boss@example.org").send(t.Context(), site(), event(what)); err != nil {
				t.Fatalf("%s: %v", encryption, err)
			}
		}
		if len(office.mails) != 3 || cmp.Diff([]string{"oncall@example.org", "boss@example.org"}, office.to[0]) != "" {
			t.Fatalf("%s: %d mails to %v", encryption, len(office.mails), office.to)
		}
		for i, want := range []string{`[MAJOR] tokenStuck: orders/paid\u000d\u000aBcc: eve@example.org`, `[MAJOR] tokenStuck: orders/paid\u000d\u000aBcc: eve@example.org, active for 4h and not acknowledged`, `[CLEARED] tokenStuck: orders/paid\u000d\u000aBcc: eve@example.org`} {
			m, err := netmail.ReadMessage(strings.NewReader(office.mails[i]))
			if err != nil {
				t.Fatal(err)
			}
			subject, err := decoded(m.Header.Get("Subject"))
			if err != nil || subject != want || m.Header.Get("Bcc") != "" || m.Header.Get("Auto-Submitted") != "auto-generated" {
				t.Errorf("%d: subject %q, %v; want %q\n%v", i, subject, err, want, m.Header)
			}
			thread := "<59945507.raised@example.org>"
			if i == 0 && m.Header.Get("Message-Id") != thread || i > 0 && m.Header.Get("In-Reply-To") != thread {
				t.Errorf("%d: %v; want one thread", i, m.Header)
			}
		}

		// One address that the server refuses takes nothing from the others.
		err := sink("eve@example.org, oncall@example.org").send(t.Context(), site(), event(raised))
		var why *failure
		if !errors.As(err, &why) || why.reason != alarm.Refused || !strings.Contains(err.Error(), "eve@example.org") || len(office.mails) != 4 {
			t.Errorf("%v, %d mails", err, len(office.mails))
		}
		if err := sink("full@example.org").send(t.Context(), site(), event(raised)); err == nil || errors.As(err, &why) && why == nil {
			t.Errorf("a full mailbox: %v; want an error that is repeated", err)
		}
	}
}

// A server without STARTTLS is not sent a password, nor the mail.
func TestAMailIsNotSentInTheClear(t *testing.T) {
	office, addr := startSMTP(t, false, nil)
	to := settings(t, `{mail: [oncall@example.org], from: pnagent@example.org, server: "`+addr+`"}`).to
	if err := to.send(t.Context(), site(), event(raised)); err == nil || len(office.mails) > 0 {
		t.Errorf("%v, %d mails; want an error", err, len(office.mails))
	}
}

func TestSyslogOverUDPTCPAndTLS(t *testing.T) {
	ca, config := authority(t)
	udp, err := net.ListenPacket("udp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer udp.Close()
	plain, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer plain.Close()
	secure, err := tls.Listen("tcp", "127.0.0.1:0", config)
	if err != nil {
		t.Fatal(err)
	}
	defer secure.Close()
	overTCP := func(l net.Listener) func() (texts [][]byte, conn net.Conn) {
		return func() (texts [][]byte, conn net.Conn) {
			conn, err := l.Accept()
			if err != nil {
				t.Fatal(err)
			}
			return framesOf(t, conn, 3), conn
		}
	}
	for url, take := range map[string]func() ([][]byte, net.Conn){
		"tcp://" + plain.Addr().String():  overTCP(plain),
		"tls://" + secure.Addr().String(): overTCP(secure),
		"udp://" + udp.LocalAddr().String(): func() (texts [][]byte, _ net.Conn) {
			for range 3 {
				b := make([]byte, 8192)
				n, _, err := udp.ReadFrom(b)
				if err != nil {
					t.Fatal(err)
				}
				texts = append(texts, b[:n])
			}
			return texts, nil
		},
	} {
		to := settings(t, `{syslog: "`+url+`", facility: local3, ca_file: `+ca+`}`).to
		sent := make(chan error, 1)
		go func() {
			var all []error
			for _, what := range []string{raised, escalated, cleared} {
				all = append(all, to.send(t.Context(), site(), event(what)))
			}
			sent <- errors.Join(all...)
		}()
		texts, conn := take()
		if err := <-sent; err != nil {
			t.Fatalf("%s: %v", url, err)
		}
		for i, severity := range []string{"major", "major", "cleared"} {
			checkSyslog(t, texts[i], severity)
		}
		if conn != nil { // the server restarts
			_ = conn.Close()
			go func() { sent <- to.send(t.Context(), site(), event(raised)) }()
			again := map[bool]net.Listener{true: secure, false: plain}[strings.HasPrefix(url, "tls")]
			conn, err := again.Accept()
			if err != nil {
				t.Fatal(err)
			}
			checkSyslog(t, framesOf(t, conn, 1)[0], "major")
			if err := <-sent; err != nil {
				t.Errorf("%s: after a restart: %v", url, err)
			}
			_ = conn.Close()
		}
		if c := to.(*syslog).conn; c != nil {
			_ = c.Close()
		}
	}
}

// framesOf reads messages with their length before them.
func framesOf(t *testing.T, conn net.Conn, n int) (texts [][]byte) {
	t.Helper()
	for range n {
		var length []byte
		for b := make([]byte, 1); ; {
			if _, err := io.ReadFull(conn, b); err != nil {
				t.Fatal(err)
			}
			if b[0] == ' ' {
				break
			}
			length = append(length, b[0])
		}
		size, _ := new(big.Int).SetString(string(length), 10)
		text := make([]byte, size.Int64())
		if _, err := io.ReadFull(conn, text); err != nil {
			t.Fatal(err)
		}
		framed := bytes.NewBuffer(append(append(length, ' '), text...))
		octetcounting.NewParser(slog.WithListener(func(r *slog.Result) {
			if r.Error != nil {
				t.Errorf("octet counting: %v", r.Error)
			}
		})).Parse(framed)
		texts = append(texts, text)
	}
	return texts
}

// checkSyslog reads a message with a parser of RFC 5424.
func checkSyslog(t *testing.T, text []byte, severity string) {
	t.Helper()
	m, err := rfc5424.NewParser().Parse(text)
	if err != nil {
		t.Fatalf("%v: %s", err, text)
	}
	got := m.(*rfc5424.SyslogMessage)
	data := *got.StructuredData
	level := map[string]uint8{"major": 2, "cleared": 5}[severity]
	if *got.Facility != 19 || *got.Severity != level || *got.Appname != "pnagent" || data["alarm"]["perceivedSeverity"] != severity || data["alarm"]["resource"] != `orders/paid\u000d\u000aBcc: eve@example.org` ||
		data["pnagent@32473"]["index"] != "59945507" || data["pnagent@32473"]["instance"] != `berlin/48"]` || !strings.Contains(*got.Message, `tokens in place "paid"`) {
		t.Errorf("%s", text)
	}
}

// TestReceiversAreReachedWithoutAnEvent holds that no receiver gets what it could show, and that each
// fault of an event is found without one.
func TestReceiversAreReachedWithoutAnEvent(t *testing.T) {
	ca, config := authority(t)
	office, smtpAt := startSMTP(t, false, config)
	for name, text := range map[string]string{"PASSWORD": "pass word", "WRONG": "other"} {
		t.Setenv(name, text)
	}
	var posted atomic.Int32
	hook := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.Method != http.MethodOptions || r.ContentLength != 0 {
			posted.Add(1)
		}
		w.WriteHeader(map[string]int{"/405": 405, "/503": 503}[r.URL.Path])
	}))
	defer hook.Close()
	log, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer log.Close()
	datagrams, err := net.ListenPacket("udp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	closed, err := net.ListenPacket("udp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	_ = closed.Close()
	mail := func(to, password, ca string) string {
		return `{mail: [` + to + `], from: pnagent@example.org, server: "` + smtpAt + `", user: ada, password: {env: ` + password + `}` + ca + `}`
	}
	trusted := ", ca_file: " + ca
	for _, c := range []struct{ sink, said, fault string }{
		{`{webhook: "` + hook.URL + `/405"}`, "it answers 405 Method Not Allowed to OPTIONS", ""},
		{`{webhook: "` + hook.URL + `/503"}`, "", "503 Service Unavailable"},
		{`{webhook: "http://127.0.0.1:1/token"}`, "", "connection refused"},
		{mail("oncall@example.org", "PASSWORD", trusted), "the server takes mails for these addresses", ""},
		{mail("oncall@example.org, eve@example.org", "PASSWORD", trusted), "", "eve@example.org: SMTP error 550: no such user"},
		{mail("oncall@example.org", "WRONG", trusted), "", "authenticate"},
		{mail("oncall@example.org", "PASSWORD", ""), "", "certificate"},
		{`{syslog: "tcp://` + log.Addr().String() + `"}`, "it accepts connections", ""},
		{`{syslog: "tcp://127.0.0.1:1"}`, "", "connection refused"},
		{`{syslog: "udp://` + datagrams.LocalAddr().String() + `"}`, "", ErrUnacknowledged.Error()},
		{`{syslog: "udp://` + closed.LocalAddr().String() + `"}`, "", "connection refused"},
	} {
		said, err := settings(t, c.sink).Reach(t.Context())
		switch {
		case c.fault == "" && (err != nil || said != c.said):
			t.Errorf("%s: got %q, %v; want %q", c.sink, said, err, c.said)
		case c.fault != "" && (err == nil || !strings.Contains(err.Error(), c.fault) || strings.Contains(err.Error(), "token")):
			t.Errorf("%s: got %v; want %s", c.sink, err, c.fault)
		}
	}
	if err := datagrams.SetReadDeadline(time.Now().Add(time.Second)); err != nil {
		t.Fatal(err)
	}
	n, _, err := datagrams.ReadFrom(make([]byte, 100))
	if n != 0 || err != nil || posted.Load() > 0 || len(office.mails) > 0 {
		t.Errorf("a datagram of %d bytes (%v), %d requests with an event, %d mails; want an empty datagram alone", n, err, posted.Load(), len(office.mails))
	}
}

func TestAHangingReceiverIsLeftAfterTheTime(t *testing.T) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	for _, sink := range []string{`{webhook: "http://` + l.Addr().String() + `"}`, `{mail: [a@example.org], from: b@example.org, server: "` + l.Addr().String() + `", encryption: none, timeout: 1s}`, `{syslog: "tls://` + l.Addr().String() + `"}`} {
		ctx, cancel := context.WithTimeout(t.Context(), 100*time.Millisecond)
		if err := settings(t, sink).to.send(ctx, site(), event(raised)); err == nil {
			t.Errorf("%s: no error", sink)
		}
		cancel()
	}
}
