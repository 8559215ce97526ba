// SPDX-License-Identifier: Apache-2.0

//go:build !slim

package command

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"os"
	"strings"
	"text/tabwriter"

	"github.com/pnagent/pnagent/attach"
	"github.com/pnagent/pnagent/attach/internal/ledger"
	"github.com/pnagent/pnagent/attach/internal/poll"
	"github.com/pnagent/pnagent/attach/redis"
	"github.com/pnagent/pnagent/cli"
)

// Looks implements attach.Adapter.
func (*Command) Looks() (looks []attach.Look) {
	for _, s := range redis.Systems() {
		looks = append(looks, attach.Look{Engine: s.About, Command: "pnagent attach redis --once --system " + s.Name + " --address HOST:6379"})
	}
	return looks
}

// Rows implements attach.Adapter.
func (*Command) Rows() []attach.Row {
	var names []string
	for _, s := range redis.Systems() {
		names = append(names, s.About)
	}
	return []attach.Row{
		{"keeps its jobs in Redis or Valkey, and is one of these: " + strings.Join(names, "; "), "[redis](redis.md)", "a user that may read its keys", "how many jobs are where; which job is stuck, since when and why", "arrivals, dwell times; jobs that are not among the oldest of their place"},
	}
}

// Run polls until ctx ends, or looks once.
func (c *flags) Run(ctx context.Context, out io.Writer, log *slog.Logger) error {
	switch {
	case c.List:
		return list(out)
	case c.System == "" || c.NATS.URL == "" && !c.Once && !c.Check:
		return cli.Usage(errors.New("attach redis: expected --nats and --system; or --system and --once or --check; or --list"))
	}
	system, err := redis.Find(c.System)
	if err != nil {
		return cli.Usage(fmt.Errorf("--system: %w", err))
	}
	access, err := c.access()
	if err != nil {
		return err
	}
	server, err := redis.Dial(access)
	if err != nil {
		return cli.Usage(err)
	}
	defer server.Close() //nolint:errcheck // it only read
	cfg := redis.Config{Server: server, System: system, Prefix: c.Prefix, Queues: c.Queues, Detail: len(c.Show) > 0}
	if c.Check && !c.Once {
		cfg.Timeout, cfg.Log = c.Timeout, log
		return check(ctx, out, cfg)
	}
	return poll.Run(ctx, &c.Flags, "redis", out, log, func(p ledger.Polling) (*redis.Adapter, error) {
		cfg.Polling = p
		return redis.New(cfg)
	})
}

// list writes the libraries that pnagent knows.
func list(out io.Writer) error {
	t := tabwriter.NewWriter(out, 0, 0, 2, ' ', 0)
	for _, s := range redis.Systems() {
		fmt.Fprintf(t, "%s\t%s\n", s.Name, s.About)
	}
	return t.Flush()
}

// check reads once, and writes what that cost.
func check(ctx context.Context, out io.Writer, cfg redis.Config) error {
	ctx, cancel := context.WithTimeout(ctx, cfg.Timeout)
	defer cancel()
	found, err := redis.Check(ctx, cfg)
	if err != nil {
		return err
	}
	return found.Write(out)
}

// access returns how to reach the server.
func (c *flags) access() (a redis.Access, err error) {
	a = redis.Access{Addresses: c.Address, Master: c.Master, Cluster: c.Cluster, DB: c.DB, User: c.User, SentinelUser: c.SentinelUser}
	a.Password, err = secret(c.Password, "REDIS_PASSWORD")
	if err != nil {
		return a, err
	}
	a.SentinelPassword, err = secret(c.SentinelPassword, "REDIS_SENTINEL_PASSWORD")
	if err == nil {
		a.TLS, err = c.TLS.Config("Redis", false)
	}
	return a, err
}

// secret returns the content of a file, or that of a variable if there is none.
func secret(file, variable string) (string, error) {
	if file == "" {
		return os.Getenv(variable), nil
	}
	return cli.Secret("a password of Redis", file)
}
