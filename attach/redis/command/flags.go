// SPDX-License-Identifier: Apache-2.0

// Package command is pnagent attach redis: its flags, which every program has, and what they do.
package command

import (
	"github.com/pnagent/pnagent/attach/internal/poll"
	"github.com/pnagent/pnagent/cli"
)

// Command is pnagent attach redis.
type Command struct {
	Redis flags `cmd:"" help:"Read the queues of a job library in Redis or Valkey, read-only, and publish where each job waits, since when and why."`
}

type flags struct {
	cli.FullOnly
	poll.Flags `embed:""`

	System string   `placeholder:"NAME" help:"Library whose queues these are; see --list."`
	Prefix string   `placeholder:"TEXT" help:"What the library's keys begin with. Default: what the library begins them with by default."`
	Queues []string `name:"queue" placeholder:"NAME" help:"Queues to publish, comma-separated. Default: all."`
	Show   []string `placeholder:"WHAT" enum:"detail" help:"Data that may be about persons, to publish: detail (messages of errors). Default: none."`

	Address          []string `group:"Redis" env:"REDIS_ADDRESS" default:"127.0.0.1:6379" help:"Address of the server, HOST:PORT; of several sentinels or servers of a cluster, comma-separated."`
	DB               int      `group:"Redis" name:"db" help:"Number of the database."`
	User             string   `group:"Redis" env:"REDIS_USER" placeholder:"NAME" help:"User of the server's ACL. It needs the rights +@read and +@connection only."`
	Password         string   `group:"Redis" name:"password-file" type:"path" placeholder:"FILE" help:"File with the password. Without it, the password is that of the environment variable REDIS_PASSWORD, if set."`
	Cluster          bool     `group:"Redis" help:"The server is one of a cluster."`
	Master           string   `group:"Redis" name:"sentinel-master" placeholder:"NAME" help:"The addresses are sentinels, which know the server by this name."`
	SentinelUser     string   `group:"Redis" placeholder:"NAME" help:"User of the sentinels' ACL."`
	SentinelPassword string   `group:"Redis" name:"sentinel-password-file" type:"path" placeholder:"FILE" help:"File with the password of the sentinels. Without it, the password is that of the environment variable REDIS_SENTINEL_PASSWORD, if set."`
	TLS              poll.TLS `embed:"" group:"Redis"`

	List  bool `group:"Looking" help:"List the libraries that pnagent knows, and exit."`
	Check bool `group:"Looking" help:"Read all queues once, print what was read and what that cost, and exit."`
}
