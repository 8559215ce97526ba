// SPDX-License-Identifier: Apache-2.0

package temporaltest

import (
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/pem"
	"io"
	"math/big"
	"net"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"go.temporal.io/api/enums/v1"

	"github.com/pnagent/pnagent/internal/porttest"
)

// authority signs certificates, which are written with their keys into a directory.
type authority struct {
	t    *testing.T
	dir  string
	cert *x509.Certificate
	key  *ecdsa.PrivateKey
}

func newAuthority(t *testing.T) *authority {
	a := &authority{t: t, dir: t.TempDir()}
	a.cert, a.key = a.sign("ca")
	return a
}

// file returns the path of what was written for a name.
func (a *authority) file(name string) string { return filepath.Join(a.dir, name) }

// sign makes NAME.pem and NAME.key, for 127.0.0.1 and clients.
func (a *authority) sign(name string) (*x509.Certificate, *ecdsa.PrivateKey) {
	a.t.Helper()
	check := func(err error) {
		a.t.Helper()
		if err != nil {
			a.t.Fatal(err)
		}
	}
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	check(err)
	template := &x509.Certificate{SerialNumber: big.NewInt(time.Now().UnixNano()), Subject: pkix.Name{CommonName: name},
		NotBefore: time.Now().Add(-time.Hour), NotAfter: time.Now().Add(time.Hour), IPAddresses: []net.IP{net.IPv4(127, 0, 0, 1)},
		KeyUsage: x509.KeyUsageDigitalSignature | x509.KeyUsageCertSign, ExtKeyUsage: []x509.ExtKeyUsage{x509.ExtKeyUsageServerAuth, x509.ExtKeyUsageClientAuth},
		IsCA: a.cert == nil, BasicConstraintsValid: true}
	parent, by := a.cert, a.key
	if parent == nil {
		parent, by = template, key
	}
	der, err := x509.CreateCertificate(rand.Reader, template, parent, &key.PublicKey, by)
	check(err)
	text, err := x509.MarshalECPrivateKey(key)
	check(err)
	check(os.WriteFile(a.file(name+".pem"), pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: der}), 0o600))
	check(os.WriteFile(a.file(name+".key"), pem.EncodeToMemory(&pem.Block{Type: "EC PRIVATE KEY", Bytes: text}), 0o600))
	cert, err := x509.ParseCertificate(der)
	check(err)
	return cert, key
}

// gate passes connections with TLS and a client certificate to the server, as a proxy
// in front of it does. It returns its address.
func (a *authority) gate(to string) string {
	a.t.Helper()
	a.sign("server")
	pair, err := tls.LoadX509KeyPair(a.file("server.pem"), a.file("server.key"))
	if err != nil {
		a.t.Fatal(err)
	}
	pool := x509.NewCertPool()
	pool.AddCert(a.cert)
	l, err := tls.Listen("tcp", "127.0.0.1:0", &tls.Config{Certificates: []tls.Certificate{pair}, ClientAuth: tls.RequireAndVerifyClientCert, ClientCAs: pool, NextProtos: []string{"h2"}})
	if err != nil {
		a.t.Fatal(err)
	}
	a.t.Cleanup(func() { l.Close() })
	go func() {
		for {
			in, err := l.Accept()
			if err != nil {
				return
			}
			go pass(in.(*tls.Conn), to)
		}
	}()
	return l.Addr().String()
}

// pass copies both ways until one end closes.
func pass(in *tls.Conn, to string) {
	defer in.Close()
	if in.Handshake() != nil {
		return
	}
	out, err := net.Dial("tcp", to)
	if err != nil {
		return
	}
	defer out.Close()
	done := make(chan struct{}, 2)
	for _, way := range [][2]net.Conn{{in, out}, {out, in}} {
		go func() {
			io.Copy(way[0], way[1]) // ends when the other end closes
			done <- struct{}{}
		}()
	}
	<-done
}

// With a certificate of a client, the adapter reads a server behind TLS; without one, or
// without the authority of the server's certificate, it reports that it is not connected.
func TestTLSWithACertificateOfTheClient(t *testing.T) {
	t.Parallel()
	s := newServer(t)
	c := s.client("default")
	work(t, c)
	run := begin(t, c, "Nap", "one-Nap")
	ca := newAuthority(t)
	ca.sign("client")
	behind := &server{address: ca.gate(s.address)}
	trust := []string{"--tls-ca", ca.file("ca.pem")}
	other := newAuthority(t)
	f := newFaces(t)
	for rule, flags := range map[string][]string{
		"no certificate":                       trust,
		"the certificate of another authority": append(trust[:2:2], "--tls-cert", other.file("ca.pem"), "--tls-key", other.file("ca.key")),
		"an unknown server":                    {"--tls", "--tls-cert", ca.file("client.pem"), "--tls-key", ca.file("client.key")},
	} {
		own := porttest.Addr(t)
		refused := f.attach(behind, append(flags, "--web.listen-address", own)...)
		until(t, rule+" is refused", func() string {
			text := get(t, own, "/metrics")
			if !strings.Contains(text, `pnagent_temporal_call_errors_total{method="ListWorkflowExecutions",code="Unavailable"}`) || !strings.Contains(text, "pnagent_temporal_connected 0\n") {
				return text
			}
			return ""
		})
		refused.kill()
	}
	f.attach(behind, append(trust[:2:2], "--tls-cert", ca.file("client.pem"), "--tls-key", ca.file("client.key"))...)
	until(t, "the timer is shown", func() string {
		return f.seen(s, stuckCase{"Nap", "timer", enums.EVENT_TYPE_TIMER_STARTED, ""}, run.GetRunID())
	})
}
