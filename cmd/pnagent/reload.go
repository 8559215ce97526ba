// SPDX-License-Identifier: Apache-2.0

package main

import (
	"context"
	"log/slog"
	"os"
	"os/signal"
	"reflect"
	"slices"
	"strings"
	"syscall"

	"github.com/alecthomas/kong"

	"github.com/pnagent/pnagent/cli"
	"github.com/pnagent/pnagent/collector/alarm"
	"github.com/pnagent/pnagent/sidecar"
)

// rereader reads the command line and the files that it names again. It returns the rules for
// alarms, which take effect at once, and logs the names of changed flags, which do not.
func rereader(args cli.Arguments, s streams, log *slog.Logger) (func() (*alarm.Rules, error), error) {
	before, _, err := valuesOf(args)
	if err != nil {
		return nil, err
	}
	return func() (*alarm.Rules, error) {
		now, serve, err := valuesOf(args)
		if err != nil {
			return nil, err
		}
		var changed []string
		for name, value := range now {
			if name != alarmsFlag && !reflect.DeepEqual(value, before[name]) {
				changed = append(changed, name)
			}
		}
		serve.Files, serve.Nets = nil, nil // the engines that run them publish them
		cfg, err := serve.sidecar(s, log)
		if err == nil && len(changed) > 0 {
			slices.Sort(changed)
			log.Warn("configuration changes take effect at the next start", "flags", strings.Join(changed, ", "))
		}
		return cfg.Alarms, err
	}, nil
}

// valuesOf returns those of the flags of serve, by name.
func valuesOf(args cli.Arguments) (map[string]any, *serveCmd, error) {
	var c commandLine
	parser, err := c.parser(args, settings(), kong.Exit(func(int) {}))
	if err != nil {
		return nil, nil, err
	}
	parsed, err := parser.Parse(args)
	if err != nil {
		return nil, nil, err
	}
	values := map[string]any{}
	for _, flag := range parsed.Flags() {
		if flag.Name != "config" {
			values[flag.Name] = parsed.FlagValue(flag)
		}
	}
	return values, &c.Serve, nil
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
