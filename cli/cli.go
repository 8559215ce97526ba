// SPDX-License-Identifier: Apache-2.0

// Package cli has what commands of pnagent share, those of the adapters in attach and those in
// cmd/pnagent: groups of flags and what they mean ([NATS], [Web], [Limits]), errors of usage,
// the version, and what a program that was built with the tag slim lacks ([FullOnly]).
//
// Flags are fields with the tags of kong. A parser of commands with them has [Settings].
package cli

import (
	"errors"
	"fmt"
	"reflect"
	"runtime"
	"runtime/debug"
	"strings"
	"time"

	"github.com/alecthomas/kong"

	"github.com/pnagent/pnagent/internal/duration"
	"github.com/pnagent/pnagent/petri"
)

// Arguments are those of the command line, without the program's name.
type Arguments []string

// Settings are those of every parser: how a duration is read, and what help texts name.
func Settings() kong.Option {
	return kong.OptionFunc(func(k *kong.Kong) error {
		vars := kong.Vars{"allowed_hosts": "Host names by which browsers reach this process, beside IP addresses, localhost, the name of this machine and that of the listen address: those of a proxy, for example. Requests for another name are refused if this flag is given or the listen address is a loopback address; see SECURITY.md."}
		if err := vars.Apply(k); err != nil {
			return err
		}
		return kong.TypeMapper(reflect.TypeFor[time.Duration](), kong.MapperFunc(decodeDuration)).Apply(k)
	})
}

// decodeDuration reads the duration of a flag.
func decodeDuration(ctx *kong.DecodeContext, target reflect.Value) error {
	var text string
	if err := ctx.Scan.PopValueInto("duration", &text); err != nil {
		return err
	}
	d, err := duration.Parse(text)
	target.SetInt(int64(d))
	return err
}

// usageError is an error in how a command was called.
type usageError struct{ error }

// Usage returns err as a mistake of the caller.
func Usage(err error) error { return usageError{err} }

// UsageIf returns err as a mistake of the caller if it wraps mistake.
func UsageIf(err, mistake error) error {
	if errors.Is(err, mistake) {
		return usageError{err}
	}
	return err
}

// IsUsage reports whether an error is a mistake of the caller.
func IsUsage(err error) bool { return errors.As(err, &usageError{}) }

// FlagError is an error about the value of a flag. The value may be in a configuration file or
// in the environment, which is where the user then looks for it.
type FlagError struct {
	Flag string
	Err  error
}

// OfFlag returns err as one about the value of a flag; nil for nil. A fault in a file that
// the flag names has its place already, and stays as it is.
func OfFlag(flag string, err error) error {
	if err == nil || errors.As(err, new(*petri.Fault)) || errors.As(err, new(*FlagError)) {
		return err
	}
	return &FlagError{flag, err}
}

// Wrong returns a mistake of the caller in the value of a flag.
func Wrong(flag, format string, args ...any) error {
	return OfFlag(flag, Usage(fmt.Errorf(format, args...)))
}

// Error implements error. It names the flag.
func (e *FlagError) Error() string {
	if strings.Contains(e.Err.Error(), "--"+e.Flag) {
		return e.Err.Error()
	}
	return "--" + e.Flag + ": " + e.Err.Error()
}

// Unwrap returns the error without the flag.
func (e *FlagError) Unwrap() error { return e.Err }

// Version is what was built, from what the Go linker notes in the binary.
type Version struct{ Version, Revision string }

// VersionOf returns the version of this program.
func VersionOf() Version {
	v := Version{"devel", "unknown"}
	info, ok := debug.ReadBuildInfo()
	if !ok {
		return v
	}
	if m := info.Main.Version; m != "" && m != "(devel)" {
		v.Version = m
	}
	for _, s := range info.Settings {
		if s.Key == "vcs.revision" {
			v.Revision = s.Value
		}
	}
	return v
}

// String returns the version and the revision, and of what the Go linker built it.
func (v Version) String() string {
	return fmt.Sprintf("%s (revision %s, %s, %s/%s)", v.Version, v.Revision, runtime.Version(), runtime.GOOS, runtime.GOARCH)
}
