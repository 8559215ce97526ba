// SPDX-License-Identifier: Apache-2.0

//go:build peers

package redis

import (
	"context"
	"fmt"
	"log/slog"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/pnagent/pnagent/cli"
	"github.com/pnagent/pnagent/internal/porttest"
)

// set sends commands that write, by the client that the tests have anyway.
func set(t *testing.T, s *Server, commands ...string) {
	t.Helper()
	var all [][]string
	for _, c := range commands {
		all = append(all, strings.Fields(c))
	}
	if _, err := s.do(t.Context(), all); err != nil {
		t.Fatal(err)
	}
}

// aJob are the commands that make a queue of BullMQ with a job; key is its prefix.
func aJob(key string) []string {
	return []string{"HSET " + key + ":mail:meta opts.maxLenEvents 10000", "LPUSH " + key + ":mail:wait 1", "HSET " + key + ":mail:1 name send timestamp 1795987131358 opts {}"}
}

// shows waits until a look by this access finds the job of aJob.
func shows(t *testing.T, a Access, prefix string) {
	t.Helper()
	system, err := Find("bullmq")
	if err != nil {
		t.Fatal(err)
	}
	cfg := Config{Server: dial(t, a), System: system, Prefix: prefix}
	cfg.Timeout = 5 * time.Second
	until(t, func() string {
		ctx, cancel := context.WithTimeout(t.Context(), 5*time.Second)
		defer cancel()
		found, err := Check(ctx, cfg)
		if err != nil {
			return err.Error()
		}
		if got := fmt.Sprint(found.tokens()); got != "[{mail waiting 1 1795987131358}]" {
			return got
		}
		return ""
	})
}

// A user that may only read is enough. What it may not do is an error that says so.
func TestAUserThatMayOnlyRead(t *testing.T) {
	t.Parallel()
	port := newRedis(t)
	admin := dial(t, Access{Addresses: []string{"127.0.0.1:" + port}})
	set(t, admin, aJob("bull")...)
	set(t, admin, "ACL SETUSER pnagent on >secret ~* resetchannels -@all +@read +@connection", "ACL SETUSER none on >secret ~* resetchannels -@all +@connection", "ACL SETUSER default off")
	shows(t, Access{Addresses: []string{"127.0.0.1:" + port}, User: "pnagent", Password: "secret"}, "")
	for user, want := range map[string]string{"none": "NOPERM", "unknown": "WRONGPASS"} {
		s := dial(t, Access{Addresses: []string{"127.0.0.1:" + port}, User: user, Password: "secret"})
		if _, err := s.do(t.Context(), [][]string{{"LLEN", "bull:mail:wait"}}); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("user %s: %v; expected %s", user, err, want)
		}
	}
}

// A look without NATS shows how many tokens a place has, and the oldest ones.
func TestALookWithoutNATS(t *testing.T) {
	t.Parallel()
	s := dial(t, Access{Addresses: []string{"127.0.0.1:" + newRedis(t)}})
	set(t, s, aJob("bull")...)
	for id := range 30 {
		set(t, s, fmt.Sprintf("LPUSH bull:mail:wait %d", id+2), fmt.Sprintf("HSET bull:mail:%d name send timestamp 1795987131%d opts {}", id+2, id+400))
	}
	cfg := Config{Server: s, System: bullMQ()}
	cfg.Source, cfg.Interval, cfg.Timeout, cfg.Log = "once", time.Second, 10*time.Second, slog.New(slog.NewTextHandler(t.Output(), nil))
	a, err := New(cfg)
	if err != nil {
		t.Fatal(err)
	}
	found, err := a.Look(t.Context(), 3)
	if err != nil || len(found) != 1 || found[0].Tokens != 31 || len(found[0].Oldest) != 3 || found[0].Oldest[0].Instance != "1" {
		t.Errorf("%+v, %v; expected 31 tokens, and job 1 and two more", found, err)
	}
}

// Answers of more bytes than a poll may read end it.
func TestLargeAnswers(t *testing.T) {
	t.Parallel()
	s := dial(t, Access{Addresses: []string{"127.0.0.1:" + newRedis(t)}})
	set(t, s, "SETRANGE large "+fmt.Sprint(maxAnswer)+" x")
	if _, err := s.do(t.Context(), [][]string{{"GET", "large"}}); err == nil || !strings.Contains(err.Error(), errLarge.Error()) {
		t.Errorf("%v; expected %v", err, errLarge)
	}
	s.begin()
	set(t, s, "EXISTS large")
}

// The server's certificate is checked, and the client shows its own.
func TestTLS(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	openssl := func(args ...string) {
		t.Helper()
		cmd := exec.CommandContext(t.Context(), "openssl", args...)
		cmd.Dir = dir
		if out, err := cmd.CombinedOutput(); err != nil {
			t.Skipf("openssl: %v: %s", err, out)
		}
	}
	openssl("req", "-x509", "-newkey", "rsa:2048", "-nodes", "-keyout", "key.pem", "-out", "cert.pem", "-subj", "/CN=redis.test", "-addext", "subjectAltName=DNS:redis.test")
	file := func(name string) string { return filepath.Join(dir, name) }
	plain, secure := porttest.Port(t), porttest.Port(t)
	begin(t, plain, exec.Command("redis-server", "--bind", "127.0.0.1", "--port", plain, "--tls-port", secure, "--save", "", "--dir", dir, "--loglevel", "warning",
		"--tls-cert-file", file("cert.pem"), "--tls-key-file", file("key.pem"), "--tls-ca-cert-file", file("cert.pem")))
	set(t, dial(t, Access{Addresses: []string{"127.0.0.1:" + plain}}), aJob("bull")...)
	conf, err := cli.TLSConfig("Redis", file("cert.pem"), file("cert.pem"), file("key.pem"))
	if err != nil {
		t.Fatal(err)
	}
	wrong := conf.Clone()
	conf.ServerName, wrong.ServerName = "redis.test", "other.test"
	shows(t, Access{Addresses: []string{"127.0.0.1:" + secure}, TLS: conf}, "")
	s := dial(t, Access{Addresses: []string{"127.0.0.1:" + secure}, TLS: wrong})
	if _, err := s.do(t.Context(), [][]string{{"EXISTS", "x"}}); err == nil || !strings.Contains(err.Error(), "other.test") {
		t.Errorf("%v; expected that the certificate is not of other.test", err)
	}
}

// Sentinels name the server, also the one that takes over.
func TestSentinel(t *testing.T) {
	t.Parallel()
	first := porttest.Port(t)
	end := begin(t, first, exec.Command("redis-server", "--bind", "127.0.0.1", "--port", first, "--save", "", "--dir", t.TempDir(), "--loglevel", "warning"))
	second := newRedis(t, "--replicaof", "127.0.0.1 "+first)
	set(t, dial(t, Access{Addresses: []string{"127.0.0.1:" + first}}), aJob("bull")...)
	conf, port := filepath.Join(t.TempDir(), "sentinel.conf"), porttest.Port(t)
	text := "bind 127.0.0.1\nport " + port + "\nsentinel monitor jobs 127.0.0.1 " + first + " 1\nsentinel down-after-milliseconds jobs 500\nsentinel failover-timeout jobs 2000\n"
	if err := os.WriteFile(conf, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	begin(t, port, exec.Command("redis-server", conf, "--sentinel"))
	a := Access{Addresses: []string{"127.0.0.1:" + port}, Master: "jobs"}
	shows(t, a, "")
	replica := dial(t, Access{Addresses: []string{"127.0.0.1:" + second}})
	until(t, func() string { // the sentinel knows the replica, which has the job
		known, err := dial(t, Access{Addresses: []string{"127.0.0.1:" + port}}).do(t.Context(), [][]string{{"SENTINEL", "replicas", "jobs"}})
		has, err2 := replica.do(t.Context(), [][]string{{"EXISTS", "bull:mail:wait"}})
		if err != nil || err2 != nil || len(known[0].([]any)) == 0 || has[0] != int64(1) {
			return "the replica is not known, or has no job"
		}
		return ""
	})
	end()
	shows(t, a, "")
}

// The keys of a cluster are at several servers.
func TestCluster(t *testing.T) {
	t.Parallel()
	var servers []*Server
	var ports []string
	for range 3 {
		port, bus := porttest.Port(t), porttest.Port(t)
		begin(t, port, exec.Command("redis-server", "--bind", "127.0.0.1", "--port", port, "--cluster-port", bus, "--cluster-enabled", "yes", "--save", "", "--dir", t.TempDir(), "--loglevel", "warning"))
		ports, servers = append(ports, port+" "+bus), append(servers, dial(t, Access{Addresses: []string{"127.0.0.1:" + port}}))
	}
	for i, s := range servers {
		set(t, s, fmt.Sprintf("CLUSTER ADDSLOTSRANGE %d %d", 5462*i, min(5462*i+5461, 16383)), fmt.Sprintf("CLUSTER SET-CONFIG-EPOCH %d", i+1))
	}
	for _, p := range ports[1:] {
		set(t, servers[0], "CLUSTER MEET 127.0.0.1 "+p)
	}
	first, _, _ := strings.Cut(ports[0], " ")
	a := Access{Addresses: []string{"127.0.0.1:" + first}, Cluster: true}
	until(t, func() string {
		for _, s := range servers {
			state, err := s.do(t.Context(), [][]string{{"CLUSTER", "INFO"}})
			if text := fmt.Sprint(state); err != nil || !strings.Contains(text, "cluster_state:ok") || !strings.Contains(text, "cluster_size:3") {
				return text
			}
		}
		return ""
	})
	for _, prefix := range []string{"{a}", "{b}", "{c}"} { // in slots of three servers
		set(t, dial(t, a), aJob(prefix)...)
		set(t, dial(t, a), "ACL SETUSER pnagent on >secret ~* resetchannels -@all +@read +@connection +cluster|slots +cluster|shards +command")
		shows(t, a, prefix)
	}
}
