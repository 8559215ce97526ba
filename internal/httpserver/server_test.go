// SPDX-License-Identifier: Apache-2.0

package httpserver

import (
	"context"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"encoding/pem"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"math/big"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"golang.org/x/crypto/bcrypt"
)

func quiet() *slog.Logger { return slog.New(slog.DiscardHandler) }

// page is a handler that answers with a text.
func page(text string) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { fmt.Fprint(w, text) })
}

// serving serves h on a free port; stop ends it and gives what Serve returned.
func serving(t *testing.T, webConfig string, h http.Handler) (address string, stop func() error) {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(context.Background())
	served := make(chan error, 1)
	go func() { served <- New(Config{WebConfig: webConfig, Log: quiet()}).Serve(ctx, l, h) }()
	t.Cleanup(cancel)
	return l.Addr().String(), func() error {
		cancel()
		return <-served
	}
}

// fetch gets a page with a client of its own.
func fetch(t *testing.T, transport *http.Transport, r *http.Request) (int, string) {
	t.Helper()
	transport.DisableKeepAlives = true
	response, err := (&http.Client{Transport: transport}).Do(r)
	if err != nil {
		t.Fatal(err)
	}
	defer response.Body.Close()
	body, err := io.ReadAll(response.Body)
	if err != nil {
		t.Fatal(err)
	}
	return response.StatusCode, string(body)
}

func request(t *testing.T, url string) *http.Request {
	t.Helper()
	r, err := http.NewRequest(http.MethodGet, url, nil)
	if err != nil {
		t.Fatal(err)
	}
	return r
}

func TestServeUntilTheContextEnds(t *testing.T) {
	address, stop := serving(t, "", page("petrinet_place_tokens{"))
	code, body := fetch(t, &http.Transport{}, request(t, "http://"+address+"/metrics"))
	if code != http.StatusOK || !strings.Contains(body, "petrinet_place_tokens{") {
		t.Errorf("%d: %s", code, body)
	}
	if err := stop(); err != nil {
		t.Error(err)
	}
	if conn, err := net.Dial("tcp", address); err == nil {
		conn.Close()
		t.Error("it still listens")
	}
}

func TestARequestUnderWayIsFinished(t *testing.T) {
	entered, leave := make(chan struct{}), make(chan struct{})
	address, stop := serving(t, "", http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		entered <- struct{}{}
		<-leave
		fmt.Fprint(w, "complete")
	}))
	answered := make(chan string)
	go func() {
		_, body := fetch(t, &http.Transport{}, request(t, "http://"+address+"/"))
		answered <- body
	}()
	<-entered
	stopped := make(chan error)
	go func() { stopped <- stop() }()
	close(leave)
	if body := <-answered; body != "complete" {
		t.Errorf("the answer was %q", body)
	}
	if err := <-stopped; err != nil {
		t.Error(err)
	}
}

func TestServeSaysWhyItCannot(t *testing.T) {
	busy, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer busy.Close()
	missing := filepath.Join(t.TempDir(), "missing.yml")
	for rule, c := range map[string]struct{ address, config string }{
		"the address is taken":        {busy.Addr().String(), ""},
		"the address is none":         {"nowhere:at:all", ""},
		"there is no such web config": {"127.0.0.1:0", missing},
	} {
		if err := New(Config{WebConfig: c.config, Log: quiet()}).ListenAndServe(context.Background(), c.address, http.NotFoundHandler()); err == nil {
			t.Errorf("%s: no error", rule)
		}
	}
}

func TestTLSAndBasicAuthByTheWebConfig(t *testing.T) {
	dir := t.TempDir()
	pool := writeCertificate(t, dir)
	hash, err := bcrypt.GenerateFromPassword([]byte("tell me"), bcrypt.MinCost)
	if err != nil {
		t.Fatal(err)
	}
	config := filepath.Join(dir, "web.yml")
	text := "tls_server_config:\n  cert_file: cert.pem\n  key_file: key.pem\nbasic_auth_users:\n  prometheus: " + string(hash) + "\n"
	if err := os.WriteFile(config, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	address, stop := serving(t, config, page("petrinet_place_tokens{"))
	trusting := func() *http.Transport { return &http.Transport{TLSClientConfig: &tls.Config{RootCAs: pool}} }
	if code, _ := fetch(t, trusting(), request(t, "https://"+address+"/metrics")); code != http.StatusUnauthorized {
		t.Errorf("without a password it answers %d", code)
	}
	unknown, err := (&http.Client{Transport: trusting()}).Get("https://" + address + "/metrics")
	if err != nil {
		t.Fatal(err)
	}
	_ = unknown.Body.Close()
	if got := unknown.Header.Get("Content-Security-Policy"); got != Policy {
		t.Errorf("without a password the policy is %q; want %q", got, Policy)
	}
	r := request(t, "https://"+address+"/metrics")
	r.SetBasicAuth("prometheus", "tell me")
	if code, body := fetch(t, trusting(), r); code != http.StatusOK || !strings.Contains(body, "petrinet_place_tokens{") {
		t.Errorf("with it, %d: %s", code, body)
	}
	if err := stop(); err != nil {
		t.Error(err)
	}
}

// writeCertificate writes cert.pem and key.pem for 127.0.0.1, and gives the
// pool that trusts them.
func writeCertificate(t *testing.T, dir string) *x509.CertPool {
	t.Helper()
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	template := &x509.Certificate{SerialNumber: big.NewInt(1), NotAfter: time.Now().Add(time.Hour),
		IPAddresses: []net.IP{net.IPv4(127, 0, 0, 1)}, IsCA: true, BasicConstraintsValid: true}
	cert, err := x509.CreateCertificate(rand.Reader, template, template, &key.PublicKey, key)
	if err != nil {
		t.Fatal(err)
	}
	keyBytes, err := x509.MarshalPKCS8PrivateKey(key)
	if err != nil {
		t.Fatal(err)
	}
	certPEM := pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: cert})
	for name, content := range map[string][]byte{"cert.pem": certPEM,
		"key.pem": pem.EncodeToMemory(&pem.Block{Type: "PRIVATE KEY", Bytes: keyBytes})} {
		if err := os.WriteFile(filepath.Join(dir, name), content, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	pool := x509.NewCertPool()
	pool.AppendCertsFromPEM(certPEM)
	return pool
}

// A client that sends requests and reads nothing loses its connection, whatever the path.
func TestAConnectionWhoseClientDoesNotReadIsClosed(t *testing.T) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(context.Background())
	s := New(Config{Log: quiet()})
	s.write = 200 * time.Millisecond
	ended, served := make(chan error, 1), make(chan error, 1)
	go func() {
		served <- s.Serve(ctx, l, http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
			var err error
			for err == nil {
				_, err = w.Write(make([]byte, 1<<20))
			}
			ended <- err
		}))
	}()
	conn, err := net.Dial("tcp", l.Addr().String())
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close()
	if _, err := io.WriteString(conn, "GET / HTTP/1.1\r\nHost: localhost\r\n\r\n"); err != nil {
		t.Fatal(err)
	}
	select {
	case err := <-ended:
		if !errors.Is(err, os.ErrDeadlineExceeded) {
			t.Errorf("got %v; want a deadline", err)
		}
	case <-time.After(time.Minute):
		t.Error("the answer is still under way; want the connection closed")
		_ = conn.Close()
	}
	cancel()
	if err := <-served; err != nil {
		t.Error(err)
	}
}
