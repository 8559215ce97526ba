// SPDX-License-Identifier: Apache-2.0

package redis

import (
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"net"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	client "github.com/redis/go-redis/v9"
	"github.com/redis/go-redis/v9/logging"
)

// Access is how to reach Redis or Valkey.
type Access struct {
	Addresses []string // HOST:PORT each; of sentinels, if Master is set
	Master    string   // the name under which sentinels know the server; "" without sentinels
	Cluster   bool
	DB        int

	User, Password                 string
	SentinelUser, SentinelPassword string

	TLS *tls.Config // nil for none
}

// Bounds of what is sent and answered.
const (
	batch     = 1000     // commands that are sent together
	maxAnswer = 64 << 20 // bytes that a poll may read
)

var errLarge = fmt.Errorf("answers of more than %d bytes in one poll; expected fewer, as only the oldest jobs are read. Are the arguments of jobs very large?", maxAnswer)

// Server is a connection to Redis.
type Server struct {
	c    client.UniversalClient
	left atomic.Int64 // bytes that may still be read in this poll
}

// quiet ends the client's own log, which goes to standard error: it returns what is logged there.
var quiet = sync.OnceFunc(logging.Disable)

// Dial returns a connection, which is made when it is needed. The error is about the access.
func Dial(a Access) (*Server, error) {
	switch {
	case len(a.Addresses) == 0:
		return nil, errors.New("no address of Redis; expected HOST:PORT")
	case len(a.Addresses) > 1 && a.Master == "" && !a.Cluster:
		return nil, errors.New("several addresses of Redis; expected one, or sentinels with the name of the server, or a cluster")
	case a.Cluster && (a.DB != 0 || a.Master != ""):
		return nil, errors.New("a cluster has the database 0 alone, and no sentinels")
	}
	for _, addr := range a.Addresses {
		if _, _, err := net.SplitHostPort(addr); err != nil {
			return nil, fmt.Errorf("the address of Redis: %w; expected HOST:PORT", err)
		}
	}
	quiet()
	s := &Server{}
	dial := client.NewDialer(&client.Options{DialTimeout: dialTimeout, TLSConfig: a.TLS})
	s.c = client.NewUniversalClient(&client.UniversalOptions{Addrs: a.Addresses, MasterName: a.Master, IsClusterMode: a.Cluster, DB: a.DB,
		Username: a.User, Password: a.Password, SentinelUsername: a.SentinelUser, SentinelPassword: a.SentinelPassword,
		Protocol: 2, DisableIdentity: true, PoolSize: 2, MaxRetries: -1, DialerRetries: 1, ContextTimeoutEnabled: true, TLSConfig: a.TLS,
		Dialer: func(ctx context.Context, network, addr string) (net.Conn, error) {
			conn, err := dial(ctx, network, addr)
			if err != nil {
				return nil, err
			}
			return &bounded{conn, &s.left}, nil
		}})
	return s, nil
}

const dialTimeout = 5 * time.Second

// bounded is a connection that ends when more was read than a poll may.
type bounded struct {
	net.Conn
	left *atomic.Int64
}

// Read implements net.Conn.
func (b *bounded) Read(into []byte) (int, error) {
	n, err := b.Conn.Read(into)
	if b.left.Add(-int64(n)) < 0 {
		return 0, errLarge
	}
	return n, err
}

// Close ends the connection.
func (s *Server) Close() error { return s.c.Close() }

// begin begins a poll.
func (s *Server) begin() { s.left.Store(maxAnswer) }

// read returns the number of bytes that this poll has read.
func (s *Server) read() int64 { return maxAnswer - s.left.Load() }

// do sends commands and returns their answers: nil, an int64, a string, or a []any of these. A key of
// another type than the command expects has no answer.
func (s *Server) do(ctx context.Context, commands [][]string) ([]any, error) {
	out := make([]any, 0, len(commands))
	for some := range slices.Chunk(commands, batch) {
		sent := make([]*client.Cmd, len(some))
		_, err := s.c.Pipelined(ctx, func(p client.Pipeliner) error {
			for i, command := range some {
				args := make([]any, len(command))
				for k, a := range command {
					args[k] = a
				}
				sent[i] = p.Do(ctx, args...)
			}
			return nil
		})
		for i, c := range sent {
			answer := client.Error(nil)
			switch {
			case c.Err() == nil && c.Val() == nil: // it was not sent
				return nil, fmt.Errorf("connecting to Redis: %w", err)
			case c.Err() == nil:
				out = append(out, c.Val())
			case errors.Is(c.Err(), client.Nil) || strings.HasPrefix(c.Err().Error(), "WRONGTYPE"):
				out = append(out, nil)
			case errors.As(c.Err(), &answer):
				return nil, fmt.Errorf("%s %s: %w", some[i][0], strings.Join(some[i][1:min(len(some[i]), 2)], ""), c.Err())
			default:
				return nil, c.Err()
			}
		}
	}
	return out, nil
}

// scan lists the keys of all servers that fit a pattern, a part at a time.
type scan struct {
	pattern string
	found   map[string]bool  // at most maxQueues and one; nil at first
	servers []*client.Client // that are left
	cursor  uint64           // of the first of these
}

// keysPerScan is about how many keys a server looks at for one command.
const keysPerScan = 1000

// next looks at the next keys, and reports whether these were the last.
func (s *Server) next(ctx context.Context, at *scan) (end bool, err error) {
	if at.found == nil {
		at.found = map[string]bool{}
		at.servers, err = s.servers(ctx)
	}
	if err != nil || len(at.servers) == 0 {
		return err == nil, err
	}
	keys, cursor, err := at.servers[0].Scan(ctx, at.cursor, at.pattern, keysPerScan).Result()
	if err != nil {
		return false, fmt.Errorf("SCAN: %w", err)
	}
	for _, key := range keys {
		if len(at.found) <= maxQueues {
			at.found[key] = true
		}
	}
	at.cursor = cursor
	if cursor == 0 {
		at.servers = at.servers[1:]
	}
	return len(at.servers) == 0, nil
}

// servers returns the servers that have keys: the masters of a cluster.
func (s *Server) servers(ctx context.Context) (all []*client.Client, err error) {
	switch c := s.c.(type) {
	case *client.Client:
		return []*client.Client{c}, nil
	case *client.ClusterClient:
		var mu sync.Mutex
		err := c.ForEachMaster(ctx, func(_ context.Context, one *client.Client) error {
			mu.Lock()
			defer mu.Unlock()
			all = append(all, one)
			return nil
		})
		return all, err
	}
	return nil, fmt.Errorf("a client of type %T; expected one server or a cluster", s.c)
}
