// SPDX-License-Identifier: Apache-2.0

package notify

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"fmt"
	"net"
	"net/http"
	"net/url"
	"os"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/pnagent/pnagent/collector/alarm"
	"github.com/pnagent/pnagent/internal/duration"
	"github.com/pnagent/pnagent/petri/yamlfile"
)

const (
	defaultTimeout = 10 * time.Second
	defaultKeep    = 24 * time.Hour
	defaultQueue   = 10_000
	maxSecret      = 4096 // bytes
	smtpPort       = "587"
	smtpsPort      = "465"
	syslogPort     = "514"
	syslogTLSPort  = "6514"
)

// Settings are how a sink is reached.
type Settings struct {
	Name    string
	Kind    string // mail, webhook or syslog
	Address string // where events go, without secrets: the same for each sidecar of a pair
	Timeout time.Duration
	Keep    time.Duration
	Queue   int
	to      transport
}

// ErrLogin is wrapped by errors of a server that does not take the user and the password.
var ErrLogin = errors.New("authenticate")

// ErrUnacknowledged is the error of Reach for a receiver that acknowledges nothing.
var ErrUnacknowledged = errors.New("sent, without an answer: UDP has no acknowledgement")

// Reach does all that an event needs, and sends none, so that no receiver shows it: a webhook is asked
// for its options, a server of mails for the addresses, and a syslog server takes a connection. It returns what
// the receiver said.
func (s *Settings) Reach(ctx context.Context) (said string, err error) {
	ctx, cancel := context.WithTimeout(ctx, s.Timeout)
	defer cancel()
	return s.to.reach(ctx)
}

// Read reads how the sinks of rules are reached, and the files of secrets that they name. An error
// has the form file:line:column.
func Read(rules *alarm.Rules) ([]*Settings, error) {
	var all []*Settings
	var faults []error
	for i := range rules.Sinks {
		r := reader{out: &Settings{Name: rules.Sinks[i].Name, Timeout: defaultTimeout, Keep: defaultKeep, Queue: defaultQueue}}
		faults = append(faults, r.read(rules.Sinks[i].Node))
		all = append(all, r.out)
	}
	if err := errors.Join(faults...); err != nil {
		return nil, err
	}
	return all, nil
}

// reader reads one sink.
type reader struct {
	out *Settings

	kind             yamlfile.Node // the value of mail, webhook or syslog
	format, facility yamlfile.Node
	from, server     yamlfile.Node
	encryption, user yamlfile.Node
	secret, password string
	ca               *x509.CertPool
}

func (r *reader) read(n yamlfile.Node) error {
	kinds := map[string]func(yamlfile.Node) error{"mail": r.readMail, "webhook": r.readWebhook, "syslog": r.readSyslog}
	keys := map[string][]string{"mail": {"from", "server", "encryption", "user", "password", "ca_file"}, "webhook": {"format", "secret", "ca_file"}, "syslog": {"facility", "ca_file"}}
	const expected = "a sink: a mapping with one of mail, webhook and syslog"
	err := n.Each(expected, func(key yamlfile.Key, value yamlfile.Node) error {
		if kinds[key.Name] == nil {
			return nil
		}
		if r.out.Kind != "" {
			return key.Fault("%s beside %s; expected one of them", key.Name, r.out.Kind)
		}
		r.out.Kind, r.kind = key.Name, value
		return nil
	})
	if err != nil {
		return err
	}
	if r.out.Kind == "" {
		return n.Fault("a sink without a kind; expected one of mail, webhook and syslog")
	}
	common := append(alarm.SinkKeys(), "timeout", "keep", "queue")
	err = n.Each(expected, func(key yamlfile.Key, value yamlfile.Node) error {
		all := append(append(slices.Clone(common), keys[r.out.Kind]...), r.out.Kind)
		if !slices.Contains(all, key.Name) {
			return key.Fault("unknown key %q of a sink of the kind %s; expected one of %s", key.Name, r.out.Kind, strings.Join(all, ", "))
		}
		return r.take(key.Name, value)
	})
	if err != nil {
		return err
	}
	return kinds[r.out.Kind](r.kind)
}

// take reads or keeps the value of a key.
func (r *reader) take(key string, value yamlfile.Node) (err error) {
	switch key {
	case "timeout":
		r.out.Timeout, err = within(value, time.Second, 5*time.Minute)
	case "keep":
		r.out.Keep, err = within(value, time.Minute, 30*24*time.Hour)
	case "queue":
		text, _ := value.Scalar()
		r.out.Queue, err = strconv.Atoi(text)
		if err != nil || r.out.Queue < 10 || r.out.Queue > 100_000 {
			err = value.Expected("how many notifications may wait, 10 to 100000")
		}
	case "secret":
		r.secret, err = secretOf(value)
	case "password":
		r.password, err = secretOf(value)
	case "ca_file":
		r.ca, err = authorities(value)
	default:
		into := map[string]*yamlfile.Node{"format": &r.format, "facility": &r.facility, "from": &r.from, "server": &r.server, "encryption": &r.encryption, "user": &r.user}[key]
		if into != nil {
			*into = value
		}
	}
	return err
}

func within(n yamlfile.Node, least, most time.Duration) (time.Duration, error) {
	text, _ := n.Scalar()
	d, err := duration.Parse(text)
	if err != nil || d < least || d > most {
		return 0, n.Expected(fmt.Sprintf("a duration from %s to %s", least, most))
	}
	return d, nil
}

// secretOf reads a secret from a file or a variable of the environment.
func secretOf(n yamlfile.Node) (secret string, err error) {
	const expected = "where the secret is: {file: /etc/pnagent/secret} or {env: NAME}"
	err = n.Each(expected, func(key yamlfile.Key, value yamlfile.Node) error {
		name, _ := value.Scalar()
		switch {
		case secret != "":
			return key.Fault("file and env; expected one of them")
		case key.Name == "env":
			secret = os.Getenv(name)
		case key.Name == "file":
			text, err := os.ReadFile(name)
			if err != nil {
				return value.Fault("%v; expected a file with the secret", err)
			}
			secret = strings.TrimRight(string(text), "\r\n")
		default:
			return key.Fault("unknown key %q; expected %s", key.Name, expected)
		}
		if secret == "" || len(secret) > maxSecret {
			return value.Fault("a secret of %d bytes in %s %s; expected 1 to %d", len(secret), key.Name, name, maxSecret)
		}
		return nil
	})
	if err == nil && secret == "" {
		err = n.Expected(expected)
	}
	return secret, err
}

func authorities(n yamlfile.Node) (*x509.CertPool, error) {
	name, _ := n.Scalar()
	text, err := os.ReadFile(name)
	if err != nil {
		return nil, n.Fault("%v; expected a file with certificates of authorities (PEM)", err)
	}
	pool := x509.NewCertPool()
	if !pool.AppendCertsFromPEM(text) {
		return nil, n.Fault("no certificate in %s; expected certificates of authorities (PEM)", name)
	}
	return pool, nil
}

func (r *reader) tls(host string) *tls.Config {
	return &tls.Config{RootCAs: r.ca, ServerName: host, MinVersion: tls.VersionTLS12}
}

// readWebhook reads an address, which may be a secret itself.
func (r *reader) readWebhook(n yamlfile.Node) error {
	address, plain := n.Scalar()
	if !plain {
		secret, err := secretOf(n)
		if err != nil {
			return err
		}
		address = secret
	}
	u, err := url.Parse(address)
	if err != nil || u.Scheme != "http" && u.Scheme != "https" || u.Host == "" {
		return n.Fault("no address of a webhook; expected one such as https://ops.example.org/pnagent")
	}
	format := "cloudevents"
	if !r.format.IsEmpty() {
		format, _ = r.format.Scalar()
	}
	encode := encoders[format]
	if encode == nil {
		return r.format.Expected("cloudevents, alertmanager or otlp")
	}
	w := &webhook{url: address, sink: r.out.Name, encode: encode}
	if r.secret != "" {
		w.secret, err = secretBytes(r.secret)
		if err != nil {
			return n.Fault("the secret begins with whsec_ and goes on with no base64: %v", err)
		}
	}
	w.client = &http.Client{Transport: &http.Transport{Proxy: http.ProxyFromEnvironment, TLSClientConfig: r.tls(""), ForceAttemptHTTP2: true, IdleConnTimeout: time.Minute},
		CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }}
	r.out.to, r.out.Address = w, format+" "+u.Scheme+"://"+u.Host
	return nil
}

// readMail reads the addresses of a mail, and the server that takes it.
func (r *reader) readMail(n yamlfile.Node) error {
	list, ok := n.List()
	if !ok {
		list = []yamlfile.Node{n}
	}
	m := &mail{}
	for _, entry := range list {
		address, err := addressOf(entry)
		if err != nil {
			return err
		}
		m.to = append(m.to, address)
	}
	if len(m.to) == 0 || r.from.IsEmpty() || r.server.IsEmpty() {
		return n.Fault("a mail needs addresses, from and server; expected such as {mail: [oncall@example.org], from: pnagent@example.org, server: smtp.example.org}")
	}
	from, err := addressOf(r.from)
	if err != nil {
		return err
	}
	encryption, _ := r.encryption.Scalar()
	if r.encryption.IsEmpty() {
		encryption = "starttls"
	}
	if !slices.Contains([]string{"starttls", "tls", "none"}, encryption) {
		return r.encryption.Expected("starttls, tls or none")
	}
	port := smtpPort
	m.implicit = encryption == "tls"
	if m.implicit {
		port = smtpsPort
	}
	host, port, err := hostPort(r.server, port)
	if err != nil {
		return err
	}
	if encryption != "none" {
		m.tls = r.tls(host)
	}
	m.from, m.addr, m.password = from, net.JoinHostPort(host, port), r.password
	m.user, _ = r.user.Scalar()
	if (m.user != "" || m.password != "") && (m.user == "" || m.password == "" || m.tls == nil) {
		return n.Fault("user, password and encryption; expected all of them or neither user nor password")
	}
	r.out.to, r.out.Address = m, strings.Join(m.to, ",")
	return nil
}

func addressOf(n yamlfile.Node) (string, error) {
	text, _ := n.Scalar()
	local, domain, ok := strings.Cut(text, "@")
	special := func(c rune) bool { return c <= ' ' || c >= 0x7f || strings.ContainsRune(`"(),:;<>@[\]`, c) }
	if !ok || local == "" || domain == "" || strings.ContainsFunc(local, special) || strings.ContainsFunc(domain, special) {
		return "", n.Expected("an address such as oncall@example.org, without a name")
	}
	return text, nil
}

// hostPort reads a host with or without a port.
func hostPort(n yamlfile.Node, port string) (string, string, error) {
	text, _ := n.Scalar()
	host, given, err := net.SplitHostPort(text)
	if err != nil {
		host, given, err = net.SplitHostPort(net.JoinHostPort(strings.Trim(text, "[]"), port))
	}
	if number, bad := strconv.ParseUint(given, 10, 16); err != nil || bad != nil || number == 0 || host == "" || strings.ContainsAny(host, "/ @") {
		return "", "", n.Expected("a host, or a host and a port from 1 to 65535, such as mail.example.org:" + port)
	}
	return host, given, nil
}

// readSyslog reads where a syslog server listens.
func (r *reader) readSyslog(n yamlfile.Node) error {
	text, _ := n.Scalar()
	u, err := url.Parse(text)
	const expected = "where the server listens, such as udp://127.0.0.1:514, tcp://log.example.org:514 or tls://log.example.org:6514"
	if err != nil || !slices.Contains([]string{"udp", "tcp", "tls"}, u.Scheme) || u.Hostname() == "" || strings.Trim(u.Path, "/") != "" {
		return n.Expected(expected)
	}
	port := u.Port()
	if port == "" {
		port = map[bool]string{true: syslogTLSPort, false: syslogPort}[u.Scheme == "tls"]
	}
	facility := "daemon"
	if !r.facility.IsEmpty() {
		facility, _ = r.facility.Scalar()
	}
	number := slices.Index(facilities(), facility)
	if number < 0 {
		return r.facility.Expected("a facility: one of " + strings.Join(facilities(), ", "))
	}
	addr := net.JoinHostPort(u.Hostname(), port)
	r.out.to = &syslog{network: u.Scheme, addr: addr, tls: r.tls(u.Hostname()), facility: number, host: hostName()}
	r.out.Address = u.Scheme + "://" + addr
	return nil
}
