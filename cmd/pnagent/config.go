// SPDX-License-Identifier: Apache-2.0

package main

import (
	"io"
	"log/slog"
	"maps"
	"os"
	"slices"
	"strings"

	"github.com/alecthomas/kong"

	"github.com/pnagent/pnagent/cli"
	"github.com/pnagent/pnagent/collector/alarm"
	"github.com/pnagent/pnagent/petri/yamlfile"
)

// configFile gives the flags of serve their values from a YAML mapping whose
// keys are the flags' names. The flags and their help are therefore the one
// description of the configuration. One flag, alarmsFlag, may have the content
// of the file instead of its name.
type configFile struct {
	values map[string]any
	rules  *inlineRules // nil where there are none
}

// alarmsFlag names a file of rules for alarms.
const alarmsFlag = "alarms"

// inlineRules are rules for alarms in the configuration itself.
type inlineRules struct {
	*alarm.Rules
	at yamlfile.Node // for messages
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
	err = root.Each("a mapping from flags of serve, such as web.listen-address", func(key yamlfile.Key, value yamlfile.Node) error {
		flag := flags[key.Name]
		if flag == nil {
			return key.Fault("unknown key %q; expected one of %s", key.Name, strings.Join(slices.Sorted(maps.Keys(flags)), ", "))
		}
		return c.take(flag, value)
	})
	return c, err
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

// take checks one value as the flag itself does, and keeps it.
func (c *configFile) take(flag *kong.Flag, value yamlfile.Node) error {
	if _, isFile := value.Scalar(); flag.Name == alarmsFlag && !isFile {
		rules, err := alarm.RulesOf(value)
		c.rules = &inlineRules{rules, value}
		c.values[flag.Name] = c.rules
		return err
	}
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

// Validate implements kong.Resolver. loadConfig has checked everything else. Flags
// override the file, but rules in both places are an error.
func (c *configFile) Validate(app *kong.Application) error {
	if c.rules == nil {
		return nil
	}
	return kong.Visit(app, func(node kong.Visitable, next kong.Next) error {
		if flag, ok := node.(*kong.Flag); ok && flag.Name == alarmsFlag {
			if given, ok := flag.Target.Interface().(rulesFlag); ok && given.file != "" {
				return c.rules.at.Fault("rules for alarms here and in --%s %s; expected one of them", alarmsFlag, given.file)
			}
		}
		return next(nil)
	})
}

// Resolve implements kong.Resolver.
func (c *configFile) Resolve(_ *kong.Context, _ *kong.Path, flag *kong.Flag) (any, error) {
	return c.values[flag.Name], nil
}

// rulesFlag are rules for alarms: a file of them, or what stands in the
// configuration.
type rulesFlag struct {
	file   string
	inline *inlineRules
}

// Decode implements kong.MapperValue.
func (r *rulesFlag) Decode(ctx *kong.DecodeContext) error {
	token, err := ctx.Scan.PopValue("file")
	if err != nil {
		return err
	}
	if inline, ok := token.Value.(*inlineRules); ok {
		r.inline = inline
		return nil
	}
	r.file = kong.ExpandPath(token.String())
	return nil
}

type checkConfigCmd struct {
	File string `arg:"" help:"Configuration file of serve, or file with rules for alarms."`
}

// Run checks the file, and the files that it names, without serving.
func (c *checkConfigCmd) Run(s streams, log *slog.Logger) error {
	if rules, err := c.rules(); rules || err != nil {
		return err
	}
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
	_, err = serve.NATS.Secrets()
	return err
}

// rules checks a file with rules for alarms; false for any other file.
func (c *checkConfigCmd) rules() (bool, error) {
	root, err := cli.ReadFile(c.File, "the configuration", yamlfile.Read)
	if err != nil || !alarm.HoldsRules(root) {
		return false, err
	}
	_, err = alarm.RulesOf(root)
	return true, err
}
