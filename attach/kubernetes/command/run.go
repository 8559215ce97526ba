// SPDX-License-Identifier: Apache-2.0

//go:build !slim

package command

import (
	"context"
	"errors"
	"io"
	"log/slog"

	"github.com/pnagent/pnagent/attach"
	"github.com/pnagent/pnagent/attach/internal/ledger"
	"github.com/pnagent/pnagent/attach/internal/poll"
	"github.com/pnagent/pnagent/attach/kubernetes"
	"github.com/pnagent/pnagent/cli"
)

// Looks implements attach.Adapter.
func (*Command) Looks() []attach.Look { return nil }

// Rows implements attach.Adapter.
func (*Command) Rows() []attach.Row {
	return []attach.Row{
		{"runs on Kubernetes as Jobs, CronJobs, Argo Workflows, Tekton Pipelines, or runners of Actions Runner Controller", "[kubernetes](kubernetes.md)", "an account that may get, list and watch them", "which run is stuck, at which step, since when and why; arrivals, firings, dwell times", "what happens inside a container"},
	}
}

// Run watches until ctx ends, or looks once.
func (c *flags) Run(ctx context.Context, out io.Writer, log *slog.Logger) error {
	if c.NATS.URL == "" && !c.Once {
		return cli.Usage(errors.New("attach kubernetes: expected --nats or --once"))
	}
	cluster, err := kubernetes.Open(kubernetes.Access{Kubeconfig: c.Kubeconfig, Context: c.Context})
	if err != nil {
		return cli.Usage(err)
	}
	defer cluster.Close()
	return poll.Run(ctx, &c.Flags, "kubernetes", out, log, func(p ledger.Polling) (*kubernetes.Adapter, error) {
		return kubernetes.New(kubernetes.Config{Cluster: cluster, Namespaces: c.Namespaces, Kinds: c.Kinds, Detail: len(c.Show) > 0, Polling: p})
	})
}
