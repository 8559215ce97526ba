// SPDX-License-Identifier: Apache-2.0

package main

import (
	"github.com/pnagent/pnagent/dashboards"
)

type dashboardsCmd struct {
	Dir      string `default:"dashboards" help:"Directory to write grafana/ and prometheus/ into."`
	Runbooks string `default:"${runbooks}" placeholder:"URL" help:"Address of the runbooks in alerts."`
	Job      string `default:"${job}" help:"Name of the job by which Prometheus scrapes pnagent."`
}

// Run writes the dashboards and rules and says which changed.
func (c *dashboardsCmd) Run(s streams) error {
	written, err := dashboards.Generate(c.Dir, dashboards.Options{Runbooks: c.Runbooks, Job: c.Job})
	for _, w := range written {
		s.report(w.Path, w.Changed)
	}
	return err
}
