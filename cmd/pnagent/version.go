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

// Run prints the version.
func (*versionCmd) Run(s streams) error {
	v := versionOf()
	_, err := fmt.Fprintf(s.out, "pnagent %s (revision %s, %s, %s/%s)\n", v.Version, v.Revision, runtime.Version(), runtime.GOOS, runtime.GOARCH)
	return err
}
