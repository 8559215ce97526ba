// SPDX-License-Identifier: Apache-2.0

package main

import (
	"github.com/alecthomas/kong"

	camunda8 "github.com/pnagent/pnagent/attach/camunda8/command"
	dipen "github.com/pnagent/pnagent/attach/dipen/command"
	kubernetes "github.com/pnagent/pnagent/attach/kubernetes/command"
	lines "github.com/pnagent/pnagent/attach/lines/command"
	redis "github.com/pnagent/pnagent/attach/redis/command"
	scrape "github.com/pnagent/pnagent/attach/scrape/command"
	sql "github.com/pnagent/pnagent/attach/sqldb/command"
	temporal "github.com/pnagent/pnagent/attach/temporal/command"
)

// attachCmd are the ways to attach to an existing engine.
type attachCmd struct{ kong.Plugins }

// adapters are all adapters, each of which has its folder in attach. Help, completion, the
// reference and the table of docs/attach/README.md list what is here, in this order.
func adapters() kong.Plugins {
	return kong.Plugins{&lines.Command{}, &scrape.Command{}, &dipen.Command{}, &sql.Command{}, &temporal.Command{}, &camunda8.Command{}, &redis.Command{}, &kubernetes.Command{}}
}
