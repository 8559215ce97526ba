// SPDX-License-Identifier: Apache-2.0

package httpserver

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"crypto/x509/pkix"
	"errors"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

const (
	withUsers = "basic_auth_users:\n  ada: $2y$10$x\n"
	withCerts = "tls_server_config:\n  client_auth_type: RequireAndVerifyClientCert\n"
)

func webConfig(t *testing.T, text string) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), "web.yml")
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	return path
}

func TestAClientIsWhoItProvesToBe(t *testing.T) {
	cert := &x509.Certificate{Subject: pkix.Name{CommonName: "eve"}}
	for what, c := range map[string]struct {
		config, at string
		change     func(*http.Request)
		name       string
		proven     bool
		err        error
	}{
		"a user":                            {withUsers, "192.0.2.9", func(r *http.Request) { r.SetBasicAuth("ada", "x") }, "ada", true, nil},
		"a user at a loopback address":      {withUsers, "127.0.0.1", func(r *http.Request) { r.SetBasicAuth("ada", "x") }, "ada", true, nil},
		"a user that is not in the file":    {withUsers, "127.0.0.1", func(r *http.Request) { r.SetBasicAuth("eve", "x") }, "", false, ErrUnknown},
		"a user without a file":             {"", "127.0.0.1", func(r *http.Request) { r.SetBasicAuth("ada", "x") }, "192.0.2.1:1234", false, nil},
		"a user without a file, from afar":  {"", "192.0.2.9", func(r *http.Request) { r.SetBasicAuth("ada", "x") }, "", false, ErrUnknown},
		"a certificate":                     {withCerts, "192.0.2.9", func(r *http.Request) { r.TLS = &tls.ConnectionState{VerifiedChains: [][]*x509.Certificate{{cert}}} }, "eve", true, nil},
		"no certificate":                    {withCerts, "192.0.2.9", func(r *http.Request) { r.TLS = &tls.ConnectionState{PeerCertificates: []*x509.Certificate{cert}} }, "", false, ErrUnknown},
		"a name that is claimed":            {"", "127.0.0.1", func(r *http.Request) { r.Header.Set("By", "ada@host") }, "ada@host", false, nil},
		"a name that is claimed, from afar": {"", "192.0.2.9", func(r *http.Request) { r.Header.Set("By", "ada@host") }, "", false, ErrUnknown},
		"a long name":                       {"", "::1", func(r *http.Request) { r.Header.Set("By", strings.Repeat("€", 100)) }, strings.Repeat("€", 85), false, nil},
		"no UTF-8":                          {"", "127.0.0.1", func(r *http.Request) { r.Header.Set("By", "\xff") }, "192.0.2.1:1234", false, nil},
		"no name":                           {"", "127.0.0.1", func(*http.Request) {}, "192.0.2.1:1234", false, nil},
		"no address":                        {"", "", func(*http.Request) {}, "", false, ErrUnknown},
	} {
		config := ""
		if c.config != "" {
			config = webConfig(t, c.config)
		}
		r := httptest.NewRequest(http.MethodPost, "/", nil)
		if c.at != "" {
			r = r.WithContext(context.WithValue(r.Context(), http.LocalAddrContextKey, &net.TCPAddr{IP: net.ParseIP(c.at)}))
		}
		c.change(r)
		name, proven, err := New(Config{WebConfig: config, Log: quiet()}).Who(r, "By")
		if name != c.name || proven != c.proven || !errors.Is(err, c.err) {
			t.Errorf("%s: %q, %v, %v; want %q, %v, %v", what, name, proven, err, c.name, c.proven, c.err)
		}
	}
}

func TestClientsFromAfarAreIdentifiedByTheWebConfigOnly(t *testing.T) {
	for what, c := range map[string]struct {
		config, at string
		want       error
	}{
		"loopback":                   {"", "127.0.0.1", nil},
		"afar":                       {"", "0.0.0.0", ErrUnknown},
		"afar with users":            {withUsers, "0.0.0.0", nil},
		"afar with certificates":     {withCerts, "0.0.0.0", nil},
		"certificates that may lack": {"tls_server_config:\n  client_auth_type: VerifyClientCertIfGiven\n", "0.0.0.0", ErrUnknown},
	} {
		config := ""
		if c.config != "" {
			config = webConfig(t, c.config)
		}
		if err := New(Config{WebConfig: config, Log: quiet()}).Identifies(&net.TCPAddr{IP: net.ParseIP(c.at)}); !errors.Is(err, c.want) {
			t.Errorf("%s: %v; want %v", what, err, c.want)
		}
	}
	missing := New(Config{WebConfig: filepath.Join(t.TempDir(), "missing.yml"), Log: quiet()})
	if err := missing.Identifies(&net.TCPAddr{IP: net.IPv4zero}); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("without its file: %v", err)
	}
	if _, _, err := missing.Who(httptest.NewRequest(http.MethodPost, "/", nil), "By"); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("without its file: %v", err)
	}
}
