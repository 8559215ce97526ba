// SPDX-License-Identifier: Apache-2.0

//go:build !slim

package main

import (
	"cmp"
	"fmt"
	"io/fs"
	"log/slog"
	"path/filepath"

	"github.com/pnagent/pnagent/cli"
	"github.com/pnagent/pnagent/collector/alarm"
	"github.com/pnagent/pnagent/dashboards"
	"github.com/pnagent/pnagent/integrations"
	"github.com/pnagent/pnagent/mib"
	"github.com/pnagent/pnagent/mibs"
)

// Run writes the configurations and says which changed.
func (c *integrationsCmd) Run(s streams, log *slog.Logger) error {
	if c.Tool == alertingTool || c.Tool == integrations.All {
		written, err := dashboards.GenerateAlerting(c.Dir, c.alertingFlags.options())
		s.reportAll(written)
		if err != nil || c.Tool == alertingTool {
			return cli.UsageIf(err, dashboards.ErrReceiver)
		}
	}
	o, err := c.options(s, log)
	if err != nil {
		return err
	}
	written, err := integrations.Generate(c.Dir, c.Tool, o)
	s.reportAll(written)
	return cli.UsageIf(err, integrations.ErrTool)
}

func (c *integrationsCmd) options(s streams, log *slog.Logger) (o integrations.Options, err error) {
	if o.Root, err = mib.ParseRoot(c.OIDRoot); err != nil {
		return o, cli.Usage(fmt.Errorf("--oid-root: %w", err))
	}
	tables, err := cli.CompileNets(c.Files, s.in, c.Limit, log)
	if err != nil {
		return o, err
	}
	o.Nets = cli.NetsOf(tables)
	if o.Lock, err = mib.ReadLock(cmp.Or(c.Lock, filepath.Join(c.MibDir, mib.LockFile))); err != nil {
		return o, err
	}
	if c.Alarms != "" {
		if o.Rules, err = cli.ReadFile(c.Alarms, "the rules for alarms", alarm.ReadRules); err != nil {
			return o, err
		}
	}
	o.Base, err = fs.Sub(mibs.Base, "smi")
	return o, err
}
