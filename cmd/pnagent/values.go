// SPDX-License-Identifier: Apache-2.0

package main

import (
	"errors"
	"fmt"
	"log/slog"
	"os"
	"regexp"
	"slices"
	"strings"
	"sync"

	"github.com/alecthomas/kong"

	"github.com/pnagent/pnagent/cli"
)

// values give flags that are not on the command line their values: those of the environment,
// then those of the configuration file. For errors they know where each value is.
type values struct {
	env  func(name string) (string, bool) // nil for no environment
	file *configFile                      // nil without one
	from map[string]string                // the variables that flags have their values from
}

// fromEnvironment returns values that begin with those of the environment.
func fromEnvironment() *values { return &values{env: os.LookupEnv, from: map[string]string{}} }

// variables begins the name of each environment variable.
const variables = "PNAGENT_"

// variable returns the name of the environment variable of a flag.
func variable(flag string) string {
	return variables + strings.NewReplacer("-", "_", ".", "_").Replace(strings.ToUpper(flag))
}

// lookUp returns the variable that is set for a flag, and its value.
func (v *values) lookUp(flag *kong.Flag) (name, value string, ok bool) {
	if v.env == nil {
		return "", "", false
	}
	for _, name := range append([]string{variable(flag.Name)}, flag.Envs...) {
		if value, ok := v.env(name); ok && !v.ofAction(name) {
			return name, value, true
		}
	}
	return "", "", false
}

// ofAction reports whether an engine sets a variable for the command of a transition, which
// may run pnagent.
func (v *values) ofAction(name string) bool {
	_, inAction := v.env("PNAGENT_ATTEMPT")
	return inAction && slices.Contains([]string{"PNAGENT_NET", "PNAGENT_SOURCE", "PNAGENT_INSTANCE", "PNAGENT_TRANSITION", "PNAGENT_ATTEMPT", "PNAGENT_KEY"}, name)
}

// serviceLink matches the variables that Kubernetes sets in each container for a Service whose
// name begins with pnagent.
var serviceLink = sync.OnceValue(func() *regexp.Regexp {
	return regexp.MustCompile(`^PNAGENT_(\w+_)?(SERVICE_HOST|SERVICE_PORT(_\w+)?|PORT(_\d+_(TCP|UDP|SCTP)(_PROTO|_PORT|_ADDR)?)?)$`)
})

// warnOfUnknown logs which variables of an environment look like those of pnagent and are not. known
// are the flags of the command; those of others are read only if they do not have all.
func (v *values) warnOfUnknown(environment []string, known []*kong.Flag, log *slog.Logger) {
	names := []string{variables + "SNMP_COMMUNITY"}
	add := func(flags []*kong.Flag) {
		for _, flag := range flags {
			names = append(append(names, variable(flag.Name)), flag.Envs...)
		}
	}
	add(known)
	unknown := func(entry string) bool {
		name, _, _ := strings.Cut(entry, "=")
		return strings.HasPrefix(name, variables) && !slices.Contains(names, name) && !serviceLink().MatchString(name) && !v.ofAction(name)
	}
	if !slices.ContainsFunc(environment, unknown) {
		return
	}
	all, err := kong.New(newCommandLine(), settings(&values{}))
	if err != nil {
		log.Warn("cannot check the names of environment variables", "err", err)
		return
	}
	for _, command := range all.Model.Leaves(false) {
		for _, flags := range command.AllFlags(false) {
			add(flags)
		}
	}
	var shorter []string
	for _, name := range names {
		shorter = append(shorter, strings.TrimPrefix(name, variables))
	}
	for _, entry := range environment {
		if unknown(entry) {
			name, _, _ := strings.Cut(strings.TrimPrefix(entry, variables), "=")
			log := log.With("name", variables+name)
			if near := nearest(name, shorter); near != "" {
				log = log.With("did_you_mean", variables+near)
			}
			log.Warn("environment variable of no flag")
		}
	}
}

// load reads the configuration file; "" is none.
func (v *values) load(name string) (err error) {
	if name == "" {
		return nil
	}
	v.file, err = cli.ReadFile(name, "the configuration", loadConfig)
	return err
}

// Resolve implements kong.Resolver.
func (v *values) Resolve(_ *kong.Context, _ *kong.Path, flag *kong.Flag) (any, error) {
	if name, value, ok := v.lookUp(flag); ok {
		v.from[flag.Name] = name
		return value, nil
	}
	if v.file != nil {
		return v.file.values[flag.Name], nil
	}
	return nil, nil
}

// Validate implements kong.Resolver. Flags override the file, but rules for alarms in both
// places are an error.
func (v *values) Validate(app *kong.Application) error {
	if v.file == nil || v.file.rules == nil {
		return nil
	}
	return kong.Visit(app, func(node kong.Visitable, next kong.Next) error {
		if flag, ok := node.(*kong.Flag); ok && flag.Name == alarmsFlag {
			if given, ok := flag.Target.Interface().(rulesFlag); ok && given.file != "" {
				return v.file.rules.at.Fault("rules for alarms here and in --%s %s; expected one of them", alarmsFlag, given.file)
			}
		}
		return next(nil)
	})
}

// place returns an error about flags with the place that has their values: a line of the
// configuration file, or an environment variable.
func (v *values) place(err error) error {
	if all, ok := err.(interface{ Unwrap() []error }); ok {
		var placed []error
		for _, one := range all.Unwrap() {
			placed = append(placed, v.place(one))
		}
		return errors.Join(placed...)
	}
	var wrong *cli.FlagError
	if !errors.As(err, &wrong) {
		return err
	}
	if name, ok := v.from[wrong.Flag]; ok {
		return fmt.Errorf("%s: %w", name, wrong.Err)
	}
	if v.file == nil {
		return err
	}
	if node, ok := v.file.at[wrong.Flag]; ok {
		return node.Fault("%s", wrong.Err)
	}
	return err
}
