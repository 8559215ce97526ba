// SPDX-License-Identifier: Apache-2.0

package main

import (
	"errors"
	"fmt"
	"log/slog"

	"github.com/nats-io/nats.go"

	"github.com/pnagent/pnagent/cli"
	"github.com/pnagent/pnagent/collector/merge"
	"github.com/pnagent/pnagent/collector/uplink"
	"github.com/pnagent/pnagent/sidecar"
	"github.com/pnagent/pnagent/telemetry"
	"github.com/pnagent/pnagent/telemetry/natslink"
)

// treeFlags configure the share of the sources of a sidecar, and the sidecar above to
// which it publishes them.
type treeFlags struct {
	Share  shareFlag `name:"share" placeholder:"I/N" help:"Take only the I-th of N shares of the sources, such as 2/8: one sidecar for each share, and one above them. See docs/tree.md."`
	By     string    `name:"share.by" enum:"source,net" default:"source" help:"What --share divides: source (each source of each net) or net (all sources of a net are in one share, as they must be where regions of it move between processes)."`
	Up     string    `name:"up" placeholder:"PREFIX" help:"Subject space of a sidecar above this one: each net is published there as one source, with the sums of all sources of this one."`
	Source string    `name:"up.source" placeholder:"NAME" help:"Name of this sidecar among all that publish to the one above. Default: host name and share. Counters continue over restarts if the name stays."`
	NATS   upFlags   `embed:""`
}

// upFlags say how to reach NATS of the sidecar above, as cli.NATS do.
type upFlags struct {
	URL   string `name:"up.nats" placeholder:"URL" help:"NATS servers of the sidecar above. Default: those of --nats, by the same connection."`
	Creds string `name:"up.nats.creds" type:"path" placeholder:"FILE" help:"With --up.nats: as --nats.creds."`
	NKey  string `name:"up.nats.nkey" type:"path" placeholder:"FILE" help:"With --up.nats: as --nats.nkey."`
	Token string `name:"up.nats.token-file" type:"path" placeholder:"FILE" help:"With --up.nats: as --nats.token-file."`
	CA    string `name:"up.nats.tls-ca" type:"path" placeholder:"FILE" help:"With --up.nats: as --nats.tls-ca."`
	Cert  string `name:"up.nats.tls-cert" type:"path" placeholder:"FILE" help:"With --up.nats: as --nats.tls-cert."`
	Key   string `name:"up.nats.tls-key" type:"path" placeholder:"FILE" help:"With --up.nats: as --nats.tls-key."`
}

// shareFlag is a share, as text on the command line.
type shareFlag struct{ merge.Share }

// UnmarshalText implements encoding.TextUnmarshaler.
func (f *shareFlag) UnmarshalText(text []byte) (err error) {
	f.Share, err = merge.ParseShare(string(text))
	return err
}

// fill checks the flags.
func (f *treeFlags) fill(cfg *sidecar.Config, own string) error {
	cfg.Share = f.Share.Share
	if cfg.Share.ByNet = f.By == "net"; cfg.Share.ByNet && cfg.Share.Count == 0 {
		return cli.Wrong("share.by", "--share.by needs --share")
	}
	if f.Up == "" {
		if f.Source != "" || f.NATS != (upFlags{}) {
			return cli.Wrong("up.source", "--up.source and --up.nats… need --up")
		}
		return nil
	}
	up, err := telemetry.NewSubjects(f.Up)
	if err != nil {
		return cli.Wrong("up", "%w", err)
	}
	if err := uplink.CheckSpace(f.Up, own); err != nil {
		return cli.Wrong("up", "--up %s: %w", f.Up, err)
	}
	if f.NATS.URL == "" && f.NATS != (upFlags{}) {
		return cli.Wrong("up", "--up.nats.creds and the flags like it need --up.nats")
	}
	suffix := ""
	if f.Share.Count > 0 {
		suffix = fmt.Sprintf("-%d-%d", f.Share.Index, f.Share.Count)
	}
	name, err := cli.SourceName("up.source", f.Source, suffix)
	if err != nil {
		return err
	}
	cfg.Up = &uplink.Config{Subjects: up, Source: name, Log: cfg.Log}
	return nil
}

// connect returns the connection to the sidecar above, if another one than that
// to engines is named; else nil.
func (f *treeFlags) connect(log *slog.Logger, more ...nats.Option) (*natslink.Link, error) {
	if f.NATS.URL == "" {
		return nil, nil
	}
	flags := cli.NATS{URL: f.NATS.URL, Creds: f.NATS.Creds, NKey: f.NATS.NKey, Token: f.NATS.Token,
		CA: f.NATS.CA, Cert: f.NATS.Cert, Key: f.NATS.Key, Subjects: f.Up}
	link, _, err := flags.Connect("pnagent serve, upwards", log.With("nats", "of the sidecar above"), append(more, cli.WithoutBuffer())...)
	if wrong := (*cli.FlagError)(nil); errors.As(err, &wrong) {
		return nil, cli.OfFlag("up."+wrong.Flag, wrong.Err)
	}
	return link, err
}
