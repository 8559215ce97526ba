// SPDX-License-Identifier: Apache-2.0

package main

import (
	"context"
	"crypto/sha256"
	"fmt"
	"log/slog"
	"maps"
	"os"
	"os/signal"
	"slices"
	"strings"
	"syscall"

	"github.com/alecthomas/kong"

	"github.com/pnagent/pnagent/cli"
	"github.com/pnagent/pnagent/sidecar"
)

// rereader reads the command line, the environment and the files that they name again. It builds
// and checks a sidecar of them, so that a fault changes nothing. Then it sets the level of the log,
// returns the configuration, and logs each key that changed and when that takes effect.
func rereader(args cli.Arguments, s streams, level *slog.LevelVar, log *slog.Logger) (func() (sidecar.Config, error), error) {
	before, first, err := settingsOf(args, s)
	if err != nil {
		return nil, err
	}
	return func() (sidecar.Config, error) {
		now, cfg, err := settingsOf(args, s)
		if err != nil {
			return cfg, err
		}
		sameEngine := (len(first.Users) > 0) == (len(cfg.Users) > 0)
		for _, name := range slices.Sorted(maps.Keys(now)) {
			is, was := now[name], before[name]
			if is == was {
				continue
			}
			effect := is.effect(was, name, sameEngine)
			log.Info("configuration changed", "key", name, "effect", effect)
			if effect != atNextStart { // which is logged at each reload until then
				before[name] = is
			}
		}
		_ = level.UnmarshalText([]byte(now[levelFlag].value)) // the flag's enum allows only levels
		return cfg, nil
	}, nil
}

// setting is a flag's value, and what is in the file that it names.
type setting struct {
	value   string
	content [sha256.Size]byte
}

// When a change takes effect.
const (
	now              = "now"
	atNextConnection = "at the next connection to NATS"
	atNextStart      = "at the next start"
)

// effect returns when a change of a flag takes effect. Credentials of SNMP do so at once if there are users
// of SNMPv3 before and after, or neither: the engine belongs to the users.
func (s setting) effect(was setting, flag string, sameEngine bool) string {
	login := []string{"nats.creds", "nats.nkey", "nats.token-file", "nats.tls-ca", "nats.tls-cert", "nats.tls-key"}
	switch {
	case slices.Contains([]string{alarmsFlag, levelFlag, "standby.key-file"}, flag):
		return now
	case slices.Contains([]string{"snmp.community-file", "snmp.users-file", "snmp.trap-user"}, flag) && sameEngine:
		return now
	case s.value == was.value && flag == "web.config.file": // read again for each connection
		return now
	case s.value == was.value && slices.Contains(login, strings.TrimPrefix(flag, "up.")):
		return atNextConnection
	}
	return atNextStart
}

// settingsOf returns the flags of serve by name, and the sidecar that is built of them, checked.
func settingsOf(args cli.Arguments, s streams) (map[string]setting, sidecar.Config, error) {
	var c commandLine
	from := fromEnvironment()
	parser, err := c.parser(args, settings(from), kong.Exit(func(int) {}))
	if err != nil {
		return nil, sidecar.Config{}, err
	}
	parsed, err := parser.Parse(negatives(args))
	if err != nil {
		return nil, sidecar.Config{}, err
	}
	all := map[string]setting{}
	for _, flag := range parsed.Flags() {
		if slices.Contains(notKeys(), flag.Name) {
			continue
		}
		one := setting{value: fmt.Sprint(flag.Target.Interface())}
		if text, ok := yamlOf(flag.Target); ok {
			one.value = strings.Trim(text, `"`)
		}
		if flag.Name != "alarm-state" && (flag.Tag.Type == "path" || flag.Name == alarmsFlag) {
			text, err := os.ReadFile(one.value) // of inline rules there is none
			if err == nil {
				one.content = sha256.Sum256(text)
			}
		}
		all[flag.Name] = one
	}
	c.Serve.Files, c.Serve.Nets = nil, nil // the engines that run them publish them
	cfg, closeLinks, err := c.Serve.build(s, slog.New(slog.DiscardHandler), true)
	if err != nil {
		return nil, cfg, from.place(err)
	}
	defer closeLinks()
	return all, cfg, from.place(sidecar.Check(cfg))
}

// reloadOnHangup reloads whenever the process is sent SIGHUP, until ctx ends.
func reloadOnHangup(ctx context.Context, side *sidecar.Sidecar, log *slog.Logger) error {
	hangups := make(chan os.Signal, 1)
	signal.Notify(hangups, syscall.SIGHUP)
	defer signal.Stop(hangups)
	for {
		select {
		case <-hangups:
			cli.Notify(log, cli.Reloading)
			if err := side.Reload(); err != nil {
				log.Error("cannot reload the configuration; the previous one stays in effect", "err", err)
			}
			cli.Notify(log, cli.Ready)
		case <-ctx.Done():
			return nil
		}
	}
}
