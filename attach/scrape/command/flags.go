// SPDX-License-Identifier: Apache-2.0

// Package command is pnagent attach scrape: its flags, which every program has, and what they do.
package command

import (
	"time"

	"github.com/pnagent/pnagent/cli"
)

// Command is pnagent attach scrape.
type Command struct {
	Scrape flags `cmd:"" help:"Scrape the Prometheus metrics of an engine, and publish the state of its nets."`
}

type flags struct {
	cli.FullOnly
	NATS cli.NATS `embed:"" group:"NATS"`

	Mapping    string        `placeholder:"NAME|FILE" help:"Mapping of metrics to places and transitions: one that comes with pnagent, or a YAML file."`
	Source     string        `help:"Name of this source, unique among all publishers; with several targets, the prefix of their names. Default: the target's host and port."`
	Interval   time.Duration `default:"5s" help:"Time between two scrapes of a target."`
	Timeout    time.Duration `placeholder:"DURATION" help:"How long a scrape may take. Default: the interval, at most 10s."`
	HTTPConfig string        `name:"http.config.file" placeholder:"FILE" help:"YAML file with HTTP client settings for the targets, in promtool's format: basic_auth, authorization, tls_config, proxy_url."`
	Web        cli.Web       `embed:""`

	List  bool   `group:"Mappings" help:"List the mappings that come with pnagent, and exit."`
	Print string `group:"Mappings" placeholder:"NAME" help:"Print a mapping that comes with pnagent, as a template for your own, and exit."`
	Check string `group:"Mappings" placeholder:"NAME|FILE" help:"Check a mapping, print its result for the scrape of --from, and exit."`
	From  string `group:"Mappings" placeholder:"FILE|URL" help:"The scrape for --check: a URL, a file, or - for standard input."`

	Targets []string `arg:"" optional:"" name:"url" help:"URLs to scrape, such as http://127.0.0.1:15692/metrics."`
}
