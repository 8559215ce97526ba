// SPDX-License-Identifier: Apache-2.0

//go:build !slim

package main

import (
	"github.com/pnagent/pnagent/dashboards"
)

// Run writes the dashboards and rules and says which changed.
func (c *dashboardsCmd) Run(s streams) error {
	written, err := dashboards.Generate(c.Dir, dashboards.Options{Runbooks: c.Runbooks, Job: c.Job})
	s.reportAll(written)
	return err
}
