// SPDX-License-Identifier: Apache-2.0

// Package command is pnagent attach sql: its flags, which every program has, and what they do.
package command

import (
	"time"

	"github.com/pnagent/pnagent/attach/internal/poll"
	"github.com/pnagent/pnagent/cli"
)

// Command is pnagent attach sql.
type Command struct {
	SQL flags `cmd:"" name:"sql" help:"Read the tables of a workflow engine, read-only, and publish where each instance waits, since when and why."`
}

type flags struct {
	cli.FullOnly
	poll.Flags `embed:""`
	Overlap    time.Duration `default:"2m" help:"How late a transaction of the engine may commit; each poll reads history rows of this time again."`

	Mapping   string   `placeholder:"NAME|FILE" help:"Mapping of tables to nets: one that comes with pnagent, or a file."`
	DSN       string   `name:"dsn-file" type:"path" placeholder:"FILE" help:"File with the address of the database: postgres://USER:PASSWORD@HOST/NAME, mysql://USER:PASSWORD@HOST/NAME or sqlite:FILE. The user needs the right to read only."`
	Act       string   `name:"act-dsn-file" type:"path" group:"Acting" placeholder:"FILE" help:"File with the address of the same database for a user that may change it: pnagent retry then makes the engine try an incident again, where the mapping has a query retry. Default: this adapter takes no requests."`
	Audit     string   `name:"audit-log" type:"path" group:"Acting" placeholder:"FILE" help:"Append each request to act to this file, as a line of JSON: when, by whom (as the request claims), what, and its result. It is on disk before the request is answered. Only the owner may read the file."`
	Zone      string   `name:"time.zone" default:"UTC" help:"Time zone of times that the engine stores without one: that of the engine's process, such as Europe/Berlin or Local."`
	Nets      []string `name:"net" placeholder:"KEY" help:"Keys of the process definitions to publish, comma-separated. Default: all."`
	ByVersion bool     `help:"Make a net of each version of a process definition, KEY:VERSION, instead of one of all versions."`
	Show      []string `placeholder:"WHAT" enum:"business-key,detail" help:"Data that may be about persons, to publish: business-key, detail (assignees, messages of errors). Default: none."`

	List  bool   `group:"Mappings" help:"List the mappings that come with pnagent, and exit."`
	Print string `group:"Mappings" placeholder:"NAME" help:"Print a mapping that comes with pnagent, as a template for your own, and exit."`
	Check bool   `group:"Mappings" help:"Check that the database has what the mapping needs, run each of its queries, print how many rows they return, and exit."`
}
