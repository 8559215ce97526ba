// SPDX-License-Identifier: Apache-2.0

package main

import (
	"cmp"
	"io"
	"maps"
	"slices"

	"github.com/alecthomas/kong"

	"github.com/pnagent/pnagent/collector/alarm"
	"github.com/pnagent/pnagent/petri"
	"github.com/pnagent/pnagent/petri/yamlfile"
)

// configFile gives the flags of serve their values from a YAML mapping whose
// keys are the flags' names. The flags and their help are therefore the one
// description of the configuration. One flag, alarmsFlag, may have the content
// of the file instead of its name.
type configFile struct {
	values map[string]any
	at     map[string]yamlfile.Node // where the values are
	rules  *inlineRules             // nil where there are none
}

// alarmsFlag names a file of rules for alarms.
const alarmsFlag = "alarms"

// inlineRules are rules for alarms in the configuration itself.
type inlineRules struct {
	*alarm.Rules
	at yamlfile.Node // for messages
}

// loadConfig reads a configuration file.
func loadConfig(r io.Reader, name string) (*configFile, error) {
	c := &configFile{values: map[string]any{}, at: map[string]yamlfile.Node{}}
	root, err := yamlfile.Read(r, name)
	if err != nil {
		return nil, err
	}
	const expected = "a mapping from flags of serve, such as web.listen-address, or {} for none"
	if root.IsEmpty() { // most often by accident
		return nil, &petri.Fault{File: name, Pos: petri.Pos{Line: 1, Column: 1}, Msg: "found nothing; expected " + expected}
	}
	flags, err := serveFlags()
	if err != nil {
		return nil, err
	}
	err = root.Each(expected, func(key yamlfile.Key, value yamlfile.Node) error {
		flag := flags[key.Name]
		if flag == nil {
			expected := cmp.Or(nearest(key.Name, slices.Collect(maps.Keys(flags))), "a flag of serve, as pnagent serve --help lists them")
			return key.Fault("unknown key %q; expected %s", key.Name, expected)
		}
		c.at[key.Name] = value
		return c.take(flag, value)
	})
	return c, err
}

// serveFlags returns the flags of serve that a file may set.
func serveFlags() (map[string]*kong.Flag, error) {
	var c serveKeys
	parser, err := newParser(&c, &values{})
	if err != nil {
		return nil, err
	}
	flags := map[string]*kong.Flag{}
	for _, f := range parser.Model.Flags {
		if !slices.Contains(notKeys(), f.Name) {
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
	var c serveKeys
	parser, err := newParser(&c, &values{})
	if err != nil {
		return err
	}
	_, err = parser.Parse(args)
	return err
}

// serveKeys are the flags that a configuration file has as keys.
type serveKeys struct {
	Log   logFlags `embed:""`
	Serve serveCmd `embed:""`
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
