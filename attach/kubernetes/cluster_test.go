// SPDX-License-Identifier: Apache-2.0

//go:build peers

package kubernetes

import (
	"bytes"
	"context"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/json"
	"encoding/pem"
	"fmt"
	"io"
	"math/big"
	stdnet "net"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/pnagent/pnagent/internal/cachetest"
	"github.com/pnagent/pnagent/internal/logtest"
	"github.com/pnagent/pnagent/internal/porttest"
)

// controlPlane returns the program of a cluster without nodes. To build it takes longer than
// a run of all tests may, so that only make controlplane does, and other runs skip the test.
func controlPlane(t *testing.T) string {
	t.Helper()
	if os.Getenv("PNAGENT_CONTROLPLANE") == "" {
		t.Skip("needs kube-apiserver: make controlplane builds it, in ten minutes or more, and runs this test")
	}
	var sources []byte
	for _, name := range []string{"go.mod", "main.go"} {
		text, err := os.ReadFile(filepath.Join("testdata", "controlplane", name))
		if err != nil {
			t.Fatal(err)
		}
		sources = append(sources, text...)
	}
	dir := cachetest.Dir(t, "controlplane-", sources, func(dir string) error {
		if err := os.MkdirAll(dir, 0o700); err != nil {
			return err
		}
		cmd := exec.CommandContext(t.Context(), "go", "build", "-trimpath", "-ldflags=-s -w", "-o", filepath.Join(dir, "controlplane"), ".")
		cmd.Dir, cmd.Env = filepath.Join("testdata", "controlplane"), append(os.Environ(), "CGO_ENABLED=0")
		if out, err := cmd.CombinedOutput(); err != nil {
			return fmt.Errorf("building kube-apiserver: %w: %.500s", err, out)
		}
		return nil
	})
	return filepath.Join(dir, "controlplane")
}

// authority is a certificate authority in a directory.
type authority struct {
	t    *testing.T
	dir  string
	cert *x509.Certificate
	key  *ecdsa.PrivateKey
}

func newAuthority(t *testing.T, dir string) *authority {
	t.Helper()
	a := &authority{t: t, dir: dir}
	a.cert, a.key = a.issue("ca", &x509.Certificate{Subject: pkix.Name{CommonName: "test"}, IsCA: true, BasicConstraintsValid: true, KeyUsage: x509.KeyUsageCertSign})
	return a
}

// issue writes a certificate and its key as NAME.crt and NAME.key.
func (a *authority) issue(name string, of *x509.Certificate) (*x509.Certificate, *ecdsa.PrivateKey) {
	a.t.Helper()
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		a.t.Fatal(err)
	}
	of.SerialNumber, of.NotBefore, of.NotAfter = big.NewInt(time.Now().UnixNano()), time.Now().Add(-time.Hour), time.Now().Add(24*time.Hour)
	parent, signer := a.cert, a.key
	if parent == nil {
		parent, signer = of, key
	}
	der, err := x509.CreateCertificate(rand.Reader, of, parent, &key.PublicKey, signer)
	if err != nil {
		a.t.Fatal(err)
	}
	cert, err := x509.ParseCertificate(der)
	if err != nil {
		a.t.Fatal(err)
	}
	private, err := x509.MarshalECPrivateKey(key)
	if err != nil {
		a.t.Fatal(err)
	}
	a.write(name+".crt", "CERTIFICATE", der)
	a.write(name+".key", "EC PRIVATE KEY", private)
	return cert, key
}

func (a *authority) write(name, kind string, der []byte) {
	a.t.Helper()
	if err := os.WriteFile(filepath.Join(a.dir, name), pem.EncodeToMemory(&pem.Block{Type: kind, Bytes: der}), 0o600); err != nil {
		a.t.Fatal(err)
	}
}

// cluster is a Kubernetes cluster without nodes. The test does what kubelets do.
type cluster struct {
	t         *testing.T
	dir       string
	program   string
	address   string // of the API server
	apiserver []string
	admin     *http.Client
	kill      func() // ends the API server at once
}

// newCluster starts a cluster, or skips the test.
func newCluster(t *testing.T) *cluster {
	t.Helper()
	c := &cluster{t: t, dir: t.TempDir(), program: controlPlane(t), address: porttest.Addr(t)}
	ca := newAuthority(t, c.dir)
	ca.issue("server", &x509.Certificate{Subject: pkix.Name{CommonName: "kube-apiserver"}, IPAddresses: []stdnet.IP{stdnet.IPv4(127, 0, 0, 1)}, ExtKeyUsage: []x509.ExtKeyUsage{x509.ExtKeyUsageServerAuth}})
	ca.issue("admin", &x509.Certificate{Subject: pkix.Name{CommonName: "admin", Organization: []string{"system:masters"}}, ExtKeyUsage: []x509.ExtKeyUsage{x509.ExtKeyUsageClientAuth}})
	pair, err := tls.LoadX509KeyPair(c.file("admin.crt"), c.file("admin.key"))
	if err != nil {
		t.Fatal(err)
	}
	roots := x509.NewCertPool()
	roots.AddCert(ca.cert)
	transport := &http.Transport{TLSClientConfig: &tls.Config{RootCAs: roots, Certificates: []tls.Certificate{pair}}}
	t.Cleanup(transport.CloseIdleConnections)
	c.admin = &http.Client{Transport: transport, Timeout: 30 * time.Second}

	etcd, peer := porttest.Addr(t), porttest.Addr(t)
	c.start("etcd", "--data-dir="+c.file("etcd"), "--unsafe-no-fsync", "--log-level=error", "--listen-client-urls=http://"+etcd, "--advertise-client-urls=http://"+etcd,
		"--listen-peer-urls=http://"+peer, "--initial-advertise-peer-urls=http://"+peer, "--initial-cluster=default=http://"+peer)
	_, port, _ := strings.Cut(c.address, ":")
	c.apiserver = []string{"kube-apiserver", "--etcd-servers=http://" + etcd, "--bind-address=127.0.0.1", "--secure-port=" + port, "--cert-dir=" + c.file("certs"),
		"--tls-cert-file=" + c.file("server.crt"), "--tls-private-key-file=" + c.file("server.key"), "--client-ca-file=" + c.file("ca.crt"), "--authorization-mode=RBAC",
		"--service-account-issuer=https://kubernetes.default.svc", "--service-account-key-file=" + c.file("admin.key"), "--service-account-signing-key-file=" + c.file("admin.key"),
		"--service-cluster-ip-range=10.0.0.0/24", "--disable-admission-plugins=ServiceAccount", "--endpoint-reconciler-type=none"}
	c.startAPI()
	admin := c.kubeconfig("admin", map[string]any{"client-certificate": c.file("admin.crt"), "client-key": c.file("admin.key")})
	c.start("kube-controller-manager", "--kubeconfig="+admin, "--controllers=job-controller,cronjob-controller,resourcequota-controller", "--leader-elect=false", "--secure-port=0", "--bind-address=127.0.0.1")
	c.start("kube-scheduler", "--kubeconfig="+admin, "--leader-elect=false", "--secure-port=0", "--bind-address=127.0.0.1")
	return c
}

func (c *cluster) file(name string) string { return filepath.Join(c.dir, name) }

// start starts a part of the cluster, which ends with the test, and returns what kills it.
func (c *cluster) start(args ...string) (kill func()) {
	c.t.Helper()
	return c.startProgram(c.program, args...)
}

// startProgram starts a program, which ends with the test, and returns what kills it.
func (c *cluster) startProgram(path string, args ...string) (kill func()) {
	c.t.Helper()
	var said logtest.Buffer
	cmd := exec.Command(path, args...)
	cmd.Dir, cmd.Stdout, cmd.Stderr = c.dir, &said, &said
	if err := cmd.Start(); err != nil {
		c.t.Fatal(err)
	}
	ended := make(chan struct{})
	go func() {
		defer close(ended)
		cmd.Wait()
	}()
	kill = func() {
		cmd.Process.Kill()
		<-ended
	}
	c.t.Cleanup(func() {
		kill()
		if text := said.String(); c.t.Failed() {
			c.t.Logf("%s: %s", args[0], text[max(0, len(text)-3000):])
		}
	})
	return kill
}

// startAPI starts the API server, and waits until it is ready.
func (c *cluster) startAPI() {
	c.t.Helper()
	c.kill = c.start(c.apiserver...)
	end := time.Now().Add(2 * time.Minute)
	for {
		_, err := c.send(http.MethodGet, "/readyz", nil)
		if err == nil {
			return
		}
		if time.Now().After(end) {
			c.t.Fatal("the API server is not ready: ", err)
		}
		time.Sleep(100 * time.Millisecond)
	}
}

// kubeconfig writes a kubeconfig for a user, and returns its path.
func (c *cluster) kubeconfig(name string, user map[string]any) string {
	c.t.Helper()
	text, err := json.Marshal(map[string]any{"kind": "Config", "apiVersion": "v1", "current-context": "test",
		"clusters": []any{map[string]any{"name": "test", "cluster": map[string]any{"server": "https://" + c.address, "certificate-authority": c.file("ca.crt")}}},
		"users":    []any{map[string]any{"name": name, "user": user}},
		"contexts": []any{map[string]any{"name": "test", "context": map[string]any{"cluster": "test", "user": name}}}})
	path := c.file(name + ".kubeconfig")
	if err == nil {
		err = os.WriteFile(path, text, 0o600)
	}
	if err != nil {
		c.t.Fatal(err)
	}
	return path
}

// send sends a request as the administrator, and returns the answer.
func (c *cluster) send(method, path string, body any) ([]byte, error) {
	text, err := json.Marshal(body)
	if err != nil {
		return nil, err
	}
	req, err := http.NewRequestWithContext(context.WithoutCancel(c.t.Context()), method, "https://"+c.address+path, bytes.NewReader(text))
	if err != nil {
		return nil, err
	}
	req.Header.Set("Content-Type", "application/json")
	if method == http.MethodPatch {
		req.Header.Set("Content-Type", "application/merge-patch+json")
	}
	resp, err := c.admin.Do(req)
	if err != nil {
		return nil, err
	}
	defer resp.Body.Close()
	answer, err := io.ReadAll(resp.Body)
	if err == nil && resp.StatusCode >= 300 {
		err = fmt.Errorf("%s %s: %d: %s", method, path, resp.StatusCode, answer)
	}
	return answer, err
}

// do sends a request that must succeed, and returns the object of the answer.
func (c *cluster) do(method, path string, body any) (out item) {
	c.t.Helper()
	text, err := c.send(method, path, body)
	if err == nil {
		err = json.Unmarshal(text, &out)
	}
	if err != nil {
		c.t.Fatal(err)
	}
	return out
}

// item is an object as JSON.
type item map[string]any

// at returns a value in an object, by the names of its fields; nil for none.
func (o item) at(fields ...string) any {
	var v any = map[string]any(o)
	for _, f := range fields {
		m, _ := v.(map[string]any)
		v = m[f]
	}
	return v
}

// text returns a text in an object.
func (o item) text(fields ...string) string {
	s, _ := o.at(fields...).(string)
	return s
}

// items returns the objects of a list.
func (c *cluster) items(path string) (out []item) {
	c.t.Helper()
	list := c.do(http.MethodGet, path, nil)
	all, _ := list["items"].([]any)
	for _, o := range all {
		out = append(out, o.(map[string]any))
	}
	return out
}

// condition returns when a condition of an object became as it is; "" while it is not there.
func (o item) condition(kind, status string) string {
	all, _ := o.at("status", "conditions").([]any)
	for _, c := range all {
		if c := item(c.(map[string]any)); c.text("type") == kind && c.text("status") == status {
			return c.text("lastTransitionTime")
		}
	}
	return ""
}
