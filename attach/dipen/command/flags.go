// SPDX-License-Identifier: Apache-2.0

// Package command is pnagent attach dipen: its flags, which every program has, and what they do.
package command

import (
	"time"

	"github.com/pnagent/pnagent/cli"
)

// Command is pnagent attach dipen.
type Command struct {
	Dipen flags `cmd:"" help:"Read the state of DiPeN in etcd, read-only, and publish where its tokens are."`
}

type flags struct {
	cli.FullOnly
	NATS     cli.NATS      `embed:"" group:"NATS"`
	Source   string        `help:"Name of this source, unique among all publishers; keep it over restarts. Default: the host's name and -dipen."`
	Interval time.Duration `default:"1s" help:"Time between two snapshots."`

	Endpoints []string `group:"etcd" name:"etcd" default:"http://127.0.0.1:2379" help:"Client URLs of etcd, comma-separated; one is used at a time."`
	Prefix    string   `group:"etcd" name:"etcd.prefix" placeholder:"PREFIX/" help:"Prefix of DiPeN's keys; ends in a slash."`
	CA        string   `group:"etcd" name:"etcd.tls-ca" type:"path" placeholder:"FILE" help:"File with the certificate authorities of etcd's certificate."`
	Cert      string   `group:"etcd" name:"etcd.tls-cert" type:"path" placeholder:"FILE" help:"File with the client certificate for etcd."`
	Key       string   `group:"etcd" name:"etcd.tls-key" type:"path" placeholder:"FILE" help:"File with the key of the client certificate."`
	User      string   `group:"etcd" name:"etcd.user" help:"User of etcd. It needs read access to the prefix only."`
	Password  string   `group:"etcd" name:"etcd.password-file" type:"path" placeholder:"FILE" help:"File with the user's password."`

	Name   string     `name:"net" placeholder:"NAME" help:"Name of the net. Default: the id in the net file, or the last part of the prefix."`
	State  string     `type:"path" placeholder:"FILE" help:"File that keeps the times of revisions and the published counters, so that after a restart no token looks younger and no firing is lost or counted twice."`
	Tokens int        `name:"max-tokens" default:"1000000" help:"Maximum number of tokens to keep; others are counted as left out."`
	Web    cli.Web    `embed:""`
	File   string     `arg:"" optional:"" name:"file" help:"Net file of the net, whose places and transitions have DiPeN's names as id or name: etcd has no arcs."`
	Limit  cli.Limits `embed:""`
}
