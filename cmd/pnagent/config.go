// SPDX-License-Identifier: Apache-2.0

package main

import (
	"errors"
	"io"
	"log/slog"
	"os"
	"slices"
	"strings"

	"github.com/alecthomas/kong"

	"github.com/pnagent/pnagent/internal/yamlfile"
)

// configFile gives the flags of serve their values from a YAML mapping whose
// keys are the flags' names. The flags and their help are therefore the one
// description of the configuration.
type configFile struct {
	values map[string]any
}

// loadConfig reads a configuration file; kong gives it as an open file.
func loadConfig(r io.Reader) (kong.Resolver, error) {
	name := "configuration"
	if f, ok := r.(*os.File); ok {
		name = f.Name()
	}
	c := &configFile{values: map[string]any{}}
	root, err := yamlfile.Read(r, name)
	if err != nil || root.IsEmpty() {
		return c, err
	}
	flags, err := serveFlags()
	if err != nil {
		return nil, err
	}
	var faults []error
	err = root.Each("a mapping from flags of serve, such as web.listen-address", func(key yamlfile.Key, value yamlfile.Node) error {
		flag := flags[key.Name]
		if flag == nil {
			faults = append(faults, key.Fault("unknown key %q; expected one of %s", key.Name, strings.Join(names(flags), ", ")))
			return nil
		}
		faults = append(faults, c.take(flag, value))
		return nil
	})
	return c, errors.Join(append(faults, err)...)
}

// serveFlags returns the flags of serve that a file may set.
func serveFlags() (map[string]*kong.Flag, error) {
	var c struct{ Serve serveCmd }
	parser, err := newParser(&c.Serve)
	if err != nil {
		return nil, err
	}
	flags := map[string]*kong.Flag{}
	for _, f := range parser.Model.Flags {
		if f.Name != "help" && f.Name != "config" {
			flags[f.Name] = f
		}
	}
	return flags, nil
}

func names(flags map[string]*kong.Flag) []string {
	var out []string
	for name := range flags {
		out = append(out, name)
	}
	slices.Sort(out)
	return out
}

// take checks one value as the flag itself does, and keeps it.
func (c *configFile) take(flag *kong.Flag, value yamlfile.Node) error {
	var texts []string
	if list, ok := value.List(); ok && flag.IsSlice() {
		for _, entry := range list {
			s, ok := entry.Scalar()
			if !ok {
				return entry.Expected("one value for " + flag.Name + ": " + flag.Help)
			}
			texts = append(texts, s)
		}
	} else if s, ok := value.Scalar(); ok {
		texts = []string{s}
	} else {
		return value.Expected("a value for " + flag.Name + ": " + flag.Help)
	}
	args := make([]string, len(texts))
	for i, s := range texts {
		args[i] = "--" + flag.Name + "=" + s
	}
	if err := parseServe(args); err != nil {
		return value.Fault("%s; expected: %s", err, flag.Help)
	}
	if flag.IsSlice() {
		list := make([]any, len(texts))
		for i, s := range texts {
			list[i] = s
		}
		c.values[flag.Name] = list
	} else {
		c.values[flag.Name] = texts[0]
	}
	return nil
}

func parseServe(args []string) error {
	var c serveCmd
	parser, err := newParser(&c)
	if err != nil {
		return err
	}
	_, err = parser.Parse(args)
	return err
}

// Validate implements kong.Resolver; everything was checked when it was read.
func (c *configFile) Validate(*kong.Application) error { return nil }

// Resolve implements kong.Resolver.
func (c *configFile) Resolve(_ *kong.Context, _ *kong.Path, flag *kong.Flag) (any, error) {
	return c.values[flag.Name], nil
}

type checkConfigCmd struct {
	File string `arg:"" help:"Configuration file of serve."`
}

// Run checks the file, and the files that it names, without serving.
func (c *checkConfigCmd) Run(s streams, log *slog.Logger) error {
	var serve serveCmd
	parser, err := newParser(&serve)
	if err != nil {
		return err
	}
	if _, err := parser.Parse([]string{"--config", c.File}); err != nil {
		return err
	}
	if _, err := serve.sidecar(s, log); err != nil {
		return err
	}
	_, err = serve.NATS.secrets()
	return err
}
