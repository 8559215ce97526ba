// SPDX-License-Identifier: Apache-2.0

package main

import (
	"errors"
	"slices"
	"time"

	"github.com/pnagent/pnagent/cli"
	"github.com/pnagent/pnagent/collector/alarm"
	"github.com/pnagent/pnagent/petri"
	"github.com/pnagent/pnagent/sidecar"
)

// netFlags select the nets that a sidecar shows.
type netFlags struct {
	Allow  []string      `name:"net-allow" placeholder:"NAME" help:"Show only nets of these names, and those of --net and net files; * stands for any characters and ? for one. Messages of other nets are rejected as net_not_allowed. Default: all nets."`
	Forget time.Duration `name:"forget-nets-after" default:"24h" help:"Time without a source after which a net, or a place or transition that only gone sources had, is no longer shown, unless a file names it. Its OIDs stay taken. If a net returns, its counters begin again; those of a single place or transition continue."`
}

func (f *netFlags) fill(cfg *sidecar.Config) error {
	if f.Forget <= 0 {
		return cli.Usage(errors.New("--forget-nets-after: expected more than 0"))
	}
	cfg.Allow, cfg.Merge.ForgetNets = f.allow(cfg.Nets), f.Forget
	return nil
}

// allow returns whether a net is shown: it is in a file, or the flag names it. Nil
// allows all.
func (f *netFlags) allow(files []*petri.Net) func(string) bool {
	if len(f.Allow) == 0 {
		return nil
	}
	return func(net string) bool {
		return slices.ContainsFunc(files, func(n *petri.Net) bool { return n.ID == net }) ||
			slices.ContainsFunc(f.Allow, func(pattern string) bool { return alarm.Match(pattern, net) })
	}
}
