// SPDX-License-Identifier: Apache-2.0

package locks

import (
	"context"
	"fmt"
	"net/url"
	"strings"
	"testing"
	"time"

	clientv3 "go.etcd.io/etcd/client/v3"
	"go.etcd.io/etcd/server/v3/embed"
	"go.uber.org/zap"

	"github.com/pnagent/pnagent/internal/porttest"
)

const (
	patience = 60 * time.Second
	prefix   = "bench/"
	leaseFor = 10 // seconds, DiPeN's default
)

// start starts an etcd of one member and returns its URL. Without sync it
// writes as with --unsafe-no-fsync.
func start(t testing.TB, sync bool) string {
	t.Helper()
	cfg := embed.NewConfig()
	cfg.Dir, cfg.UnsafeNoFsync, cfg.LogLevel = t.TempDir(), !sync, "fatal"
	client, peer := url.URL{Scheme: "http", Host: porttest.Addr(t)}, url.URL{Scheme: "http", Host: porttest.Addr(t)}
	cfg.ListenClientUrls, cfg.AdvertiseClientUrls = []url.URL{client}, []url.URL{client}
	cfg.ListenPeerUrls, cfg.AdvertisePeerUrls = []url.URL{peer}, []url.URL{peer}
	cfg.InitialCluster = cfg.InitialClusterFromName(cfg.Name)
	e, err := embed.StartEtcd(cfg)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(e.Close)
	select {
	case <-e.Server.ReadyNotify():
	case <-time.After(patience):
		t.Fatal("etcd does not begin")
	}
	return client.String()
}

func connect(t testing.TB, url string) *clientv3.Client {
	t.Helper()
	c, err := clientv3.New(clientv3.Config{Endpoints: []string{url}, DialTimeout: patience, Logger: zap.NewNop()})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = c.Close() })
	return c
}

// inject puts a number of tokens into a place, numbered from first on.
func inject(t testing.TB, c *clientv3.Client, place, first, tokens int) {
	t.Helper()
	for i := range tokens {
		if _, err := c.Put(t.Context(), tokenKey(place, uint64(first+i)), ""); err != nil {
			t.Fatal(err)
		}
	}
}

// count returns the number of all tokens.
func count(t testing.TB, c *clientv3.Client) int {
	t.Helper()
	r, err := c.Get(context.Background(), prefix+"pl/", clientv3.WithPrefix(), clientv3.WithKeysOnly())
	if err != nil {
		t.Fatal(err)
	}
	tokens := 0
	for _, kv := range r.Kvs {
		if path := strings.Split(string(kv.Key[len(prefix):]), "/"); len(path) == 3 {
			tokens++
		}
	}
	return tokens
}

func placeKey(place int) string { return fmt.Sprintf("%spl/%d", prefix, place) }

func tokenKey(place int, token uint64) string { return fmt.Sprintf("%s/%d", placeKey(place), token) }
