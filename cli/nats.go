// SPDX-License-Identifier: Apache-2.0

package cli

import (
	"cmp"
	"crypto/tls"
	"crypto/x509"
	"fmt"
	"log/slog"
	"net/url"
	"os"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/nats-io/nats.go"

	"github.com/pnagent/pnagent/telemetry"
	"github.com/pnagent/pnagent/telemetry/natslink"
)

// NATS are flags that say how to reach NATS. Secrets come from files or the environment.
type NATS struct {
	URL      string `name:"nats" env:"PNAGENT_NATS_URL" yaml:"url" help:"NATS servers, comma-separated, such as nats://127.0.0.1:4222 or tls://nats.example.org. May hold user:password; the environment hides it from the process list."`
	Creds    string `name:"nats.creds" type:"path" yaml:"creds" help:"File with NATS credentials (JWT and key)."`
	NKey     string `name:"nats.nkey" type:"path" yaml:"nkey" help:"File with a NATS NKey seed."`
	Token    string `name:"nats.token-file" type:"path" yaml:"token_file" help:"File with a NATS token."`
	CA       string `name:"nats.tls-ca" type:"path" yaml:"tls_ca" help:"File with the certificate authorities of the NATS server's certificate."`
	Cert     string `name:"nats.tls-cert" type:"path" yaml:"tls_cert" help:"File with the client certificate for NATS."`
	Key      string `name:"nats.tls-key" type:"path" yaml:"tls_key" help:"File with the key of the client certificate."`
	Subjects string `name:"nats.prefix" default:"petrinet.v1" yaml:"prefix" help:"Subject space of the engines."`
}

// Connect returns a connection that is made, and made again, in the background. name is that
// of the client.
func (f NATS) Connect(name string, log *slog.Logger, more ...nats.Option) (*natslink.Link, telemetry.Subjects, error) {
	subjects, err := telemetry.NewSubjects(f.Subjects)
	if err != nil {
		return nil, subjects, OfFlag("nats.prefix", Usage(err))
	}
	if err := f.checkServers(); err != nil {
		return nil, subjects, OfFlag("nats", Usage(err))
	}
	secrets, err := f.Secrets()
	if err != nil {
		return nil, subjects, err
	}
	l, err := natslink.Open(natslink.Config{URLs: f.URL, Name: name, Log: log, Options: slices.Concat(secrets, more), NKey: f.publicKey()})
	return l, subjects, OfFlag("nats", err)
}

// checkServers checks the URLs of the servers, of which the client checks only the syntax. The
// error has no secret of them.
func (f NATS) checkServers() error {
	for one := range strings.SplitSeq(cmp.Or(f.URL, nats.DefaultURL), ",") {
		one = strings.TrimSpace(one)
		if !strings.Contains(one, "://") {
			one = "nats://" + one
		}
		u, err := url.Parse(one)
		if err != nil {
			return fmt.Errorf("%w; expected nats://HOST:PORT", WithoutURL(err))
		}
		port, err := strconv.ParseUint(cmp.Or(u.Port(), "4222"), 10, 16)
		if !slices.Contains([]string{"nats", "tls", "ws", "wss"}, u.Scheme) || u.Hostname() == "" || err != nil || port == 0 {
			return fmt.Errorf("%s; expected nats://HOST:PORT, or tls, ws or wss for nats, with a port from 1 to 65535", natslink.Redact(one))
		}
	}
	return nil
}

// Secrets returns the options with the secrets that the files hold.
func (f NATS) Secrets() ([]nats.Option, error) {
	var options []nats.Option
	if f.Creds != "" {
		creds := nats.UserCredentials(f.Creds)
		if err := readCreds(creds); err != nil { // the client reads the file at each login
			return nil, OfFlag("nats.creds", fmt.Errorf("reading the NATS credentials %s: %w", f.Creds, err))
		}
		options = append(options, creds)
	}
	if f.NKey != "" {
		o, err := nats.NkeyOptionFromSeed(f.NKey)
		if err != nil {
			return nil, OfFlag("nats.nkey", fmt.Errorf("reading the NKey seed %s: %w", f.NKey, err))
		}
		options = append(options, o)
	}
	if f.Token != "" {
		if _, err := Secret("the NATS token", f.Token); err != nil {
			return nil, OfFlag("nats.token-file", err)
		}
		options = append(options, nats.TokenHandler(func() string { // at each login, as for credentials
			token, _ := Secret("the NATS token", f.Token) // the server refuses the login without it
			return token
		}))
	}
	if f.CA == "" && f.Cert == "" && f.Key == "" {
		return options, nil
	}
	if _, err := TLSConfig("NATS", f.CA, "", ""); err != nil {
		return nil, OfFlag("nats.tls-ca", err)
	}
	conf, err := TLSConfig("NATS", f.CA, f.Cert, f.Key)
	if err != nil && f.Cert == "" {
		return nil, OfFlag("nats.tls-key", err)
	}
	if err != nil {
		return nil, OfFlag("nats.tls-cert", err)
	}
	options = append(options, nats.Secure(conf))
	if f.CA != "" {
		options = append(options, nats.RootCAs(f.CA)) // the client reads the file at each login
	}
	return options, nil
}

// publicKey returns what reads the public key of the seed; nil without a seed.
func (f NATS) publicKey() func() (string, error) {
	if f.NKey == "" {
		return nil
	}
	return func() (string, error) {
		seed, err := nats.NkeyOptionFromSeed(f.NKey)
		if err != nil {
			return "", err
		}
		var o nats.Options
		err = seed(&o)
		return o.Nkey, err
	}
}

// readCreds reads the JWT and the key of an option with credentials, as a login does.
func readCreds(creds nats.Option) error {
	var o nats.Options
	if err := creds(&o); err != nil {
		return err
	}
	if _, err := o.UserJWT(); err != nil {
		return err
	}
	_, err := o.SignatureCB([]byte("nonce"))
	return err
}

// Secret returns the content of a file, without the blanks around it. what is its name in messages.
func Secret(what, file string) (string, error) {
	text, err := os.ReadFile(file)
	if err != nil {
		return "", fmt.Errorf("reading %s: %w", what, err)
	}
	return strings.TrimSpace(string(text)), nil
}

// TLSConfig returns the TLS configuration for a peer. ca, cert and key are PEM
// files; each may be "", but a certificate needs its key.
func TLSConfig(peer, ca, cert, key string) (*tls.Config, error) {
	conf := &tls.Config{MinVersion: tls.VersionTLS12}
	if ca != "" {
		pem, err := os.ReadFile(ca)
		if err != nil {
			return nil, fmt.Errorf("reading the CA certificates for %s: %w", peer, err)
		}
		conf.RootCAs = x509.NewCertPool()
		if !conf.RootCAs.AppendCertsFromPEM(pem) {
			return nil, fmt.Errorf("%s: no certificate; expected PEM", ca)
		}
	}
	if (cert == "") != (key == "") {
		return nil, Usage(fmt.Errorf("a client certificate for %s needs its key, and a key its certificate; expected both", peer))
	}
	if cert != "" {
		pair, err := tls.LoadX509KeyPair(cert, key)
		if err != nil {
			return nil, fmt.Errorf("reading the client certificate for %s: %w", peer, err)
		}
		conf.Certificates = []tls.Certificate{pair}
		conf.GetClientCertificate = func(*tls.CertificateRequestInfo) (*tls.Certificate, error) { // which may have been renewed
			renewed, err := tls.LoadX509KeyPair(cert, key)
			return &renewed, err
		}
	}
	return conf, nil
}

// ConnectWithin is how long a command that shows something once waits for NATS.
const ConnectWithin = 5 * time.Second

// Unreachable returns err, or why there is no connection to NATS.
func (f NATS) Unreachable(link *natslink.Link, err error) error {
	state := link.State()
	if state.Connected || state.Reason == "" {
		return err
	}
	return fmt.Errorf("no connection to NATS at %s: %s", natslink.Redact(cmp.Or(f.URL, nats.DefaultURL)), state.Reason)
}

// WithoutBuffer is an option that drops what is published while there is no connection: the
// next snapshot makes up for it.
func WithoutBuffer() nats.Option { return nats.ReconnectBufSize(-1) }

// CloseTimeout is how long the final snapshots may take.
const CloseTimeout = 5 * time.Second

// SourceName returns the name that a source publishes under: that of a flag, else the host's
// name and suffix.
func SourceName(flag, given, suffix string) (string, error) {
	name := given
	if name == "" {
		host, err := os.Hostname()
		if err != nil {
			return "", fmt.Errorf("naming this source after its host: %w", err)
		}
		name = host + suffix
	}
	if err := telemetry.CheckName(name); err != nil {
		return "", Usage(fmt.Errorf("--%s: %w", flag, err))
	}
	return name, nil
}
