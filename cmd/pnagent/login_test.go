// SPDX-License-Identifier: Apache-2.0

package main

import (
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"encoding/pem"
	"log/slog"
	"math/big"
	"net"
	"os"
	"path/filepath"
	"strconv"
	"testing"
	"time"

	"github.com/nats-io/nats-server/v2/server"
	"github.com/nats-io/nats.go"

	"github.com/pnagent/pnagent/cli"
)

// natsLogin is what a server takes, and the file by which a client logs in there.
type natsLogin struct {
	options server.Options
	file    []byte
}

// nkeyLogins returns logins by two keys, which no server but those of this test knows.
func nkeyLogins(t *testing.T) (all [2]natsLogin) {
	t.Helper()
	for i, seed := range []string{"SUAK3WLVOUJNZQ5JSNRQOMCKLPPJQGR4KZJJT2TNN2BMN54XX6ZYAOODTA", "SUAGNX66MIMLCUZUOQYW5H5MVIWUGTT62LZ6UNRTCL7I4EVKH7T6SZSLYI"} {
		file := filepath.Join(t.TempDir(), "seed")
		if err := os.WriteFile(file, []byte(seed), 0o600); err != nil {
			t.Fatal(err)
		}
		option, err := nats.NkeyOptionFromSeed(file)
		if err != nil {
			t.Fatal(err)
		}
		var o nats.Options
		if err := option(&o); err != nil {
			t.Fatal(err)
		}
		all[i] = natsLogin{server.Options{Nkeys: []*server.NkeyUser{{Nkey: o.Nkey}}}, []byte(seed)}
	}
	return all
}

// authorityLogin returns a login at a server whose certificate is of another authority each time.
func authorityLogin(t *testing.T) natsLogin {
	t.Helper()
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	template := &x509.Certificate{SerialNumber: big.NewInt(time.Now().UnixNano()), NotAfter: time.Now().Add(time.Hour), IsCA: true, BasicConstraintsValid: true,
		KeyUsage: x509.KeyUsageCertSign | x509.KeyUsageDigitalSignature, IPAddresses: []net.IP{net.IPv4(127, 0, 0, 1)}}
	der, err := x509.CreateCertificate(rand.Reader, template, template, key.Public(), key)
	if err != nil {
		t.Fatal(err)
	}
	config := &tls.Config{Certificates: []tls.Certificate{{Certificate: [][]byte{der}, PrivateKey: key}}, MinVersion: tls.VersionTLS12}
	return natsLogin{server.Options{TLSConfig: config, TLSTimeout: 60}, pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: der})}
}

// serveNATS runs a server at a port, 0 for any, and returns the port.
func serveNATS(t *testing.T, o server.Options, port int) (s *server.Server, at int) {
	t.Helper()
	o.Host, o.Port, o.NoLog, o.NoSigs = "127.0.0.1", port, true, true
	if port == 0 {
		o.Port = server.RANDOM_PORT
	}
	s, err := server.NewServer(&o)
	if err != nil {
		t.Fatal(err)
	}
	s.Start()
	t.Cleanup(func() { s.Shutdown(); s.WaitForShutdown() })
	if !s.ReadyForConnections(time.Minute) {
		t.Fatal("nats-server does not start")
	}
	return s, s.Addr().(*net.TCPAddr).Port
}

// A login is by what the file holds then, also if the process started with another file.
func TestEachLoginReadsItsFilesAgain(t *testing.T) {
	for name, c := range map[string]struct {
		logins func(*testing.T) [2]natsLogin
		flags  func(url, file string) cli.NATS
	}{
		"an NKey":                     {nkeyLogins, func(url, file string) cli.NATS { return cli.NATS{URL: "nats://" + url, NKey: file, Subjects: "p.v1"} }},
		"the authority of the server": {func(t *testing.T) [2]natsLogin { return [2]natsLogin{authorityLogin(t), authorityLogin(t)} }, func(url, file string) cli.NATS { return cli.NATS{URL: "tls://" + url, CA: file, Subjects: "p.v1"} }},
	} {
		t.Run(name, func(t *testing.T) {
			all := c.logins(t)
			before, after := all[0], all[1]
			file := filepath.Join(t.TempDir(), "file")
			if err := os.WriteFile(file, before.file, 0o600); err != nil {
				t.Fatal(err)
			}
			first, port := serveNATS(t, before.options, 0)
			link, _, err := c.flags("127.0.0.1:"+strconv.Itoa(port), file).Connect("test", slog.New(slog.DiscardHandler))
			if err != nil {
				t.Fatal(err)
			}
			defer link.Close()
			untilTrue(t, func() bool { return link.State().Connected })
			if err := os.WriteFile(file, after.file, 0o600); err != nil {
				t.Fatal(err)
			}
			first.Shutdown()
			first.WaitForShutdown()
			untilTrue(t, func() bool { return !link.State().Connected })
			serveNATS(t, after.options, port)
			untilTrue(t, func() bool { return link.State().Connected })
		})
	}
}

func untilTrue(t *testing.T, ok func() bool) {
	t.Helper()
	for end := time.Now().Add(time.Minute); !ok(); time.Sleep(10 * time.Millisecond) {
		if time.Now().After(end) {
			t.Fatal("not within a minute")
		}
	}
}
