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

	"github.com/pnagent/pnagent/collector/alarm"
)

// arguments are those of the command line, without the program's name.
type arguments []string

// reloaded is the result of reading the configuration again: the rules for
// alarms, which take effect at once, and the names of changed flags, which do not.
type reloaded struct {
	rules   *alarm.Rules
	changed []string
}

// rereader reads the command line and the files that it names again.
func (a arguments) rereader(s streams, log *slog.Logger) (func() (reloaded, error), error) {
	before, _, err := a.values()
	if err != nil {
		return nil, err
	}
	return func() (reloaded, error) {
		now, serve, err := a.values()
		if err != nil {
			return reloaded{}, err
		}
		var found reloaded
		for name, value := range now {
			if name != alarmsFlag && !reflect.DeepEqual(value, before[name]) {
				found.changed = append(found.changed, name)
			}
		}
		slices.Sort(found.changed)
		serve.Files, serve.Nets = nil, nil // the engines that run them publish them
		cfg, err := serve.sidecar(s, log)
		found.rules = cfg.rules
		return found, err
	}, nil
}

// values are those of the flags of serve, by name.
func (a arguments) values() (map[string]any, *serveCmd, error) {
	var c cli
	parser, err := c.parser(a, settings(), kong.Exit(func(int) {}))
	if err != nil {
		return nil, nil, err
	}
	parsed, err := parser.Parse(a)
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

// reload reads the configuration again, and applies what can change while the process runs.
func (s *sidecar) reload() error {
	found, err := s.cfg.reread()
	if err != nil {
		return err
	}
	s.watcher.Reload(found.rules)
	if len(found.changed) > 0 {
		s.cfg.log.Warn("configuration changes take effect at the next start", "flags", strings.Join(found.changed, ", "))
	}
	s.cfg.log.Info("configuration read again")
	return nil
}

// reloadOnHangup reloads whenever the process is sent SIGHUP, until ctx ends.
func (s *sidecar) reloadOnHangup(ctx context.Context) error {
	if s.cfg.reread == nil {
		return nil
	}
	hangups := make(chan os.Signal, 1)
	signal.Notify(hangups, syscall.SIGHUP)
	defer signal.Stop(hangups)
	for {
		select {
		case <-hangups:
			notify(s.cfg.log, notifyReloading)
			if err := s.exporter.Reload(); err != nil {
				s.cfg.log.Error("cannot reload the configuration; the previous one stays in effect", "err", err)
			}
			notify(s.cfg.log, notifyReady)
		case <-ctx.Done():
			return nil
		}
	}
}
