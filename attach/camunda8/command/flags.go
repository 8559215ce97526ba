// SPDX-License-Identifier: Apache-2.0

// Package command is pnagent attach camunda8: its flags, which every program has, and what they do.
package command

import (
	"time"

	"github.com/pnagent/pnagent/attach/internal/poll"
	"github.com/pnagent/pnagent/cli"
)

// Command is pnagent attach camunda8.
type Command struct {
	Camunda8 flags `cmd:"" name:"camunda8" help:"Poll the REST API of Camunda 8, read-only, and publish where each instance waits, since when and why."`
}

type flags struct {
	cli.FullOnly
	poll.Flags `embed:""`
	Overlap    time.Duration `default:"2m" help:"Maximum delay of the data of one partition behind another; each poll reads the element instances of this time again."`

	URL        string   `name:"url" placeholder:"URL" help:"Address of the Orchestration Cluster REST API, such as http://127.0.0.1:8080. Version 8.8 or later."`
	HTTPConfig string   `name:"http.config.file" type:"path" placeholder:"FILE" help:"YAML file with HTTP client settings, in promtool's format: basic_auth, oauth2, authorization, tls_config, proxy_url."`
	Nets       []string `name:"net" placeholder:"ID" help:"Ids of the processes to publish, comma-separated. Default: all."`
	Show       []string `placeholder:"WHAT" enum:"detail" help:"Data that may be about persons, to publish: detail (assignees, correlation keys, messages of errors). Default: none."`
	Tokens     int      `name:"max-tokens" default:"1000000" help:"Maximum number of tokens to keep; others are counted as left out."`
	Check      bool     `help:"Check that the API answers each search, and exit."`
}
