// SPDX-License-Identifier: Apache-2.0

// Package poll is the command line of the adapters that poll an engine: the flags that they
// share, and what runs such an adapter.
package poll

import (
	"crypto/tls"
	"time"

	"github.com/pnagent/pnagent/cli"
)

// Flags are what all adapters have that poll an engine.
type Flags struct {
	NATS     cli.NATS      `embed:"" group:"NATS"`
	Source   string        `help:"Name of this source, unique among all publishers; keep it over restarts. Default: the host's name and the adapter's."`
	Interval time.Duration `default:"5s" help:"Time between two polls of the engine, and two snapshots."`
	Timeout  time.Duration `default:"30s" help:"How long a poll may take."`
	State    string        `type:"path" placeholder:"FILE" help:"File that keeps what was counted, so that after a restart no firing is lost or counted twice."`
	Web      cli.Web       `embed:""`

	Once bool `group:"Looking" help:"Poll once, print the tokens of each place with the ages and reasons of its ten oldest ones, and exit. Needs no NATS."`
	JSON bool `group:"Looking" name:"json" help:"With --once: print JSON."`
}

// TLS are the flags of TLS to a server.
type TLS struct {
	Use        bool   `name:"tls" help:"Use TLS. The flags below imply it."`
	CA         string `name:"tls-ca" type:"path" placeholder:"FILE" help:"File with the certificate authorities of the server's certificate."`
	Cert       string `name:"tls-cert" type:"path" placeholder:"FILE" help:"File with the client certificate."`
	Key        string `name:"tls-key" type:"path" placeholder:"FILE" help:"File with the key of the client certificate."`
	ServerName string `name:"tls-server-name" placeholder:"NAME" help:"Name that the server's certificate must have, instead of the address's."`
}

// Config returns the configuration of TLS to a peer; nil if neither a flag nor the caller asks for TLS.
func (f *TLS) Config(peer string, asked bool) (*tls.Config, error) {
	if *f == (TLS{}) && !asked {
		return nil, nil
	}
	conf, err := cli.TLSConfig(peer, f.CA, f.Cert, f.Key)
	if err == nil {
		conf.ServerName = f.ServerName
	}
	return conf, err
}
