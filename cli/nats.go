// SPDX-License-Identifier: Apache-2.0

package cli

import (
	"cmp"
	"crypto/tls"
	"crypto/x509"
	"fmt"
	"log/slog"
	"os"
	"slices"
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
		return nil, subjects, Usage(err)
	}
	secrets, err := f.Secrets()
	if err != nil {
		return nil, subjects, err
	}
	l, err := natslink.Open(natslink.Config{URLs: f.URL, Name: name, Log: log, Options: slices.Concat(secrets, more)})
	return l, subjects, err
}

// Secrets returns the options with the secrets that the files hold.
func (f NATS) Secrets() ([]nats.Option, error) {
	var options []nats.Option
	if f.Creds != "" {
		options = append(options, nats.UserCredentials(f.Creds))
	}
	if f.NKey != "" {
		o, err := nats.NkeyOptionFromSeed(f.NKey)
		if err != nil {
			return nil, fmt.Errorf("reading the NKey seed %s: %w", f.NKey, err)
		}
		options = append(options, o)
	}
	if f.Token != "" {
		token, err := os.ReadFile(f.Token)
		if err != nil {
			return nil, fmt.Errorf("reading the NATS token: %w", err)
		}
		options = append(options, nats.Token(strings.TrimSpace(string(token))))
	}
	if f.CA == "" && f.Cert == "" && f.Key == "" {
		return options, nil
	}
	conf, err := TLSConfig("NATS", f.CA, f.Cert, f.Key)
	return append(options, nats.Secure(conf)), err
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
