// SPDX-License-Identifier: Apache-2.0

package main

import (
	"fmt"

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
		state := "unchanged"
		if w.Changed {
			state = "written"
		}
		fmt.Fprintf(s.out, "%-10s %s\n", state, w.Path)
	}
	return err
}
