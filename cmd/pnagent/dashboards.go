// SPDX-License-Identifier: Apache-2.0

//go:build !slim

package main

import (
	"github.com/pnagent/pnagent/cli"
	"github.com/pnagent/pnagent/dashboards"
)

func (f *alertingFlags) options() dashboards.Options {
	return dashboards.Options{Runbooks: f.Runbooks, Job: f.Job, Page: f.Page, Team: f.Team, Pager: f.Pager}
}

// Run writes the dashboards and rules and says which changed.
func (c *dashboardsCmd) Run(s streams) error {
	written, err := dashboards.Generate(c.Dir, c.options())
	s.reportAll(written)
	return cli.UsageIf(err, dashboards.ErrReceiver)
}
