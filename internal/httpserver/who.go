// SPDX-License-Identifier: Apache-2.0

package httpserver

import (
	"cmp"
	"errors"
	"fmt"
	"net"
	"net/http"
	"os"
	"unicode/utf8"

	"github.com/prometheus/exporter-toolkit/web"
	"go.yaml.in/yaml/v2"
)

// ErrUnknown means that a client cannot prove who it is.
var ErrUnknown = errors.New("the client is not known; expected basic_auth_users or client_auth_type RequireAndVerifyClientCert in --web.config.file, or a loopback address")

// maxName bounds the name of a client, in bytes.
const maxName = 256

// access is the part of a web configuration that decides which clients may connect.
type access struct {
	TLS struct {
		ClientAuth string `yaml:"client_auth_type"`
	} `yaml:"tls_server_config"`
	Users map[string]string `yaml:"basic_auth_users"`
}

// CheckFile checks a web configuration and the files that it names; "" has nothing.
func CheckFile(file string) error {
	if err := web.Validate(file); err != nil {
		return fmt.Errorf("read the web configuration %s: %w", file, err)
	}
	return nil
}

// readAccess reads a web configuration; "" has nothing. exporter-toolkit reads it again for
// each request too, so an answer is as of now, and with the same parser.
func readAccess(file string) (a access, err error) {
	if file == "" {
		return a, nil
	}
	text, err := os.ReadFile(file)
	if err == nil {
		err = yaml.Unmarshal(text, &a)
	}
	if err != nil {
		return access{}, fmt.Errorf("read the web configuration: %w", err)
	}
	return a, nil
}

// Identifies returns ErrUnknown if the clients of a listener may be on other machines and
// prove no name: its address is not of the loopback, and the web configuration has neither
// users nor required client certificates.
func (s *Server) Identifies(addr net.Addr) error {
	if proves, err := s.Authenticates(); err != nil || proves || loopback(addr) {
		return err
	}
	return ErrUnknown
}

// Authenticates reports whether the web configuration has users or required client
// certificates, so that each client proves its name.
func (s *Server) Authenticates() (bool, error) {
	a, err := readAccess(s.cfg.WebConfig)
	return len(a.Users) > 0 || a.TLS.ClientAuth == "RequireAndVerifyClientCert", err
}

// Who returns the name of the client of a request: the user of basic authentication, or the
// common name of its certificate. At a loopback address, a client that has proved nothing
// has the name in a header, or its address; elsewhere it is ErrUnknown.
func (s *Server) Who(r *http.Request, header string) (name string, proven bool, err error) {
	a, err := readAccess(s.cfg.WebConfig)
	if err != nil {
		return "", false, err
	}
	if user, _, ok := r.BasicAuth(); ok && a.Users[user] != "" { // exporter-toolkit has compared the password
		return cut(user), true, nil
	}
	if r.TLS != nil && len(r.TLS.VerifiedChains) > 0 {
		subject := r.TLS.VerifiedChains[0][0].Subject
		return cut(cmp.Or(subject.CommonName, subject.String())), true, nil
	}
	at, _ := r.Context().Value(http.LocalAddrContextKey).(net.Addr)
	if len(a.Users) > 0 || at == nil || !loopback(at) {
		return "", false, ErrUnknown
	}
	claimed := r.Header.Get(header)
	if claimed == "" || !utf8.ValidString(claimed) {
		claimed = r.RemoteAddr
	}
	return cut(claimed), false, nil
}

// cut cuts a name off at maxName bytes of UTF-8.
func cut(name string) string {
	for len(name) > maxName || !utf8.ValidString(name) {
		name = name[:min(len(name)-1, maxName)]
	}
	return name
}
