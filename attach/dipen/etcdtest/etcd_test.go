// SPDX-License-Identifier: Apache-2.0

package etcdtest

import (
	"io"
	"net"
	"net/url"
	"os"
	"path/filepath"
	"sync"
	"testing"
	"time"

	pb "go.etcd.io/etcd/api/v3/etcdserverpb"
	"go.etcd.io/etcd/server/v3/embed"

	"github.com/pnagent/pnagent/internal/porttest"
)

// etcd is a real etcd of one member, without fsync. Clients connect through a
// proxy that can be cut.
type etcd struct {
	t     *testing.T
	dir   string
	urls  [2]url.URL
	tls   bool
	e     *embed.Etcd
	proxy *proxy
}

func startEtcd(t *testing.T, tls bool) *etcd {
	t.Helper()
	s := &etcd{t: t, dir: t.TempDir(), tls: tls}
	for i := range s.urls {
		s.urls[i] = url.URL{Scheme: "http", Host: porttest.Addr(t)}
	}
	if tls {
		s.urls[0].Scheme = "https"
	}
	s.start()
	s.proxy = startProxy(t, s.urls[0].Host)
	t.Cleanup(s.stop)
	return s
}

func (s *etcd) start() {
	s.t.Helper()
	cfg := embed.NewConfig()
	cfg.Dir, cfg.UnsafeNoFsync, cfg.LogLevel, cfg.ClientAutoTLS = filepath.Join(s.dir, "etcd"), true, "fatal", s.tls
	cfg.SelfSignedCertValidity = 1
	cfg.ListenClientUrls, cfg.AdvertiseClientUrls = s.urls[:1], s.urls[:1]
	cfg.ListenPeerUrls, cfg.AdvertisePeerUrls = s.urls[1:], s.urls[1:]
	cfg.InitialCluster = cfg.InitialClusterFromName(cfg.Name)
	e, err := embed.StartEtcd(cfg)
	if err != nil {
		s.t.Fatal(err)
	}
	select {
	case <-e.Server.ReadyNotify():
	case <-time.After(patience):
		s.t.Fatal("etcd does not begin")
	}
	s.e = e
}

// stop cuts the connections of watches first, because etcd waits for them.
func (s *etcd) stop() {
	s.proxy.cut(true)
	s.e.Close()
}

func (s *etcd) restart() {
	s.t.Helper()
	s.stop()
	s.start()
	s.proxy.cut(false)
}

// url returns the address of the proxy.
func (s *etcd) url() string { return s.urls[0].Scheme + "://" + s.proxy.addr }

// ca returns the certificate that etcd created for itself.
func (s *etcd) ca() []byte {
	s.t.Helper()
	pem, err := os.ReadFile(filepath.Join(s.dir, "etcd", "fixtures", "client", "cert.pem"))
	if err != nil {
		s.t.Fatal(err)
	}
	return pem
}

// txn performs operations in one transaction and returns its revision.
func (s *etcd) txn(ops ...*pb.RequestOp) int64 {
	s.t.Helper()
	r, err := s.e.Server.Txn(s.t.Context(), &pb.TxnRequest{Success: ops})
	if err != nil {
		s.t.Fatal(err)
	}
	return r.Header.Revision
}

func (s *etcd) compact(revision int64) {
	s.t.Helper()
	if _, err := s.e.Server.Compact(s.t.Context(), &pb.CompactionRequest{Revision: revision, Physical: true}); err != nil {
		s.t.Fatal(err)
	}
}

func put(key, value string) *pb.RequestOp {
	return &pb.RequestOp{Request: &pb.RequestOp_RequestPut{RequestPut: &pb.PutRequest{Key: []byte(key), Value: []byte(value)}}}
}

func del(key string) *pb.RequestOp {
	return &pb.RequestOp{Request: &pb.RequestOp_RequestDeleteRange{RequestDeleteRange: &pb.DeleteRangeRequest{Key: []byte(key)}}}
}

// proxy forwards connections until it is cut.
type proxy struct {
	addr string
	to   string

	mu    sync.Mutex
	isCut bool
	conns map[net.Conn]bool
	wg    sync.WaitGroup
}

func startProxy(t *testing.T, to string) *proxy {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	p := &proxy{addr: l.Addr().String(), to: to, conns: map[net.Conn]bool{}}
	p.wg.Go(func() {
		for {
			c, err := l.Accept()
			if err != nil {
				return
			}
			p.wg.Go(func() { p.pass(c) })
		}
	})
	t.Cleanup(func() {
		_ = l.Close()
		p.cut(true)
		p.wg.Wait()
	})
	return p
}

func (p *proxy) pass(in net.Conn) {
	defer in.Close()
	out, err := net.Dial("tcp", p.to)
	if err != nil {
		return
	}
	defer out.Close()
	if !p.note(in, out) {
		return
	}
	done := make(chan struct{})
	go func() {
		defer close(done)
		_, _ = io.Copy(out, in)
		_ = out.Close()
	}()
	_, _ = io.Copy(in, out)
	_ = in.Close()
	<-done
	p.mu.Lock()
	delete(p.conns, in)
	delete(p.conns, out)
	p.mu.Unlock()
}

func (p *proxy) note(conns ...net.Conn) bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	for _, c := range conns {
		p.conns[c] = true
	}
	return !p.isCut
}

// cut ends all connections, and accepts none while it is cut.
func (p *proxy) cut(is bool) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.isCut = is
	if is {
		for c := range p.conns {
			_ = c.Close()
		}
	}
}
