// SPDX-License-Identifier: Apache-2.0

// Package command is pnagent attach temporal: its flags, which every program has, and what they do.
package command

import (
	"github.com/pnagent/pnagent/attach/internal/poll"
	"github.com/pnagent/pnagent/cli"
)

// Command is pnagent attach temporal.
type Command struct {
	Temporal flags `cmd:"" help:"Poll a Temporal server, read-only, and publish where each workflow waits, since when and why."`
}

type flags struct {
	cli.FullOnly
	poll.Flags `embed:""`

	Address    string   `group:"Temporal" env:"TEMPORAL_ADDRESS" default:"127.0.0.1:7233" help:"gRPC address of the server's front end, HOST:PORT."`
	Namespaces []string `group:"Temporal" name:"namespace" env:"TEMPORAL_NAMESPACE" default:"default" help:"Namespaces, comma-separated. With several, the name of a net is NAMESPACE/TYPE."`
	TLS        poll.TLS `embed:"" group:"Temporal"`
	APIKey     string   `group:"Temporal" name:"api-key-file" type:"path" placeholder:"FILE" help:"File with an API key, which implies --tls. Without it, the key is that of the environment variable TEMPORAL_API_KEY, if set."`

	Nets        []string `name:"net" placeholder:"TYPE" help:"Workflow types to publish, comma-separated. Default: all."`
	RPS         float64  `name:"rps" default:"50" help:"The largest number of calls of the server a second."`
	ListRPS     float64  `name:"list-rps" default:"5" help:"Of these, the largest number of pages of lists a second. Temporal allows all clients 10 a second for each namespace and front end by default."`
	StackTraces float64  `default:"1" help:"For how many workflows a second their worker is asked what they wait for, if nothing is pending. 0 for none."`
	Show        []string `placeholder:"WHAT" enum:"detail" help:"Data that may be about persons, to publish: detail (messages of failures). Default: none."`
}
