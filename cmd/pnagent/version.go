// SPDX-License-Identifier: Apache-2.0

package main

import (
	"fmt"
	"runtime"
	"runtime/debug"
)

type versionCmd struct{}

// version is what was built, from what the Go linker notes in the binary.
type version struct{ Version, Revision string }

func versionOf() version {
	v := version{"devel", "unknown"}
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
func (v version) String() string {
	return fmt.Sprintf("%s (revision %s, %s, %s/%s)", v.Version, v.Revision, runtime.Version(), runtime.GOOS, runtime.GOARCH)
}

// Run prints the version.
func (*versionCmd) Run(s streams) error {
	_, err := fmt.Fprintf(s.out, "pnagent %s\n", versionOf())
	return err
}
