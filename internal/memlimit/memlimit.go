// SPDX-License-Identifier: Apache-2.0

// Package memlimit sets the soft memory limit of the Go runtime from the control
// group of the process: version 1 or 2, the group itself or one above it.
package memlimit

import (
	"bytes"
	"io/fs"
	"math"
	"os"
	"path"
	"runtime/debug"
	"slices"
	"strconv"
	"strings"
)

// Set sets the limit of the Go runtime to nine tenths of that of the control group.
// The rest is for what the runtime does not count. It does nothing without a limit,
// or if the environment has GOMEMLIMIT.
func Set() {
	if os.Getenv("GOMEMLIMIT") != "" {
		return
	}
	if limit := ofGroup(os.DirFS("/")); limit != math.MaxInt64 {
		debug.SetMemoryLimit(limit / 10 * 9)
	}
}

// quarterHeap is by how many percent the heap of KeepSmall grows until it is collected.
const quarterHeap = 25

// KeepSmall makes the garbage collector run after the heap has grown by a quarter, not when it has
// doubled: for a process whose heap is large and long-lived, so that the collector takes little
// of its time. It does nothing if the environment has GOGC.
func KeepSmall() {
	if os.Getenv("GOGC") == "" {
		debug.SetGCPercent(quarterHeap)
	}
}

// Trim returns to the system what the start of a process needed: free memory of the heap, which the
// runtime keeps while the process rests, and the pages of the program's own code and constants, of
// which a start uses nearly all.
func Trim() {
	debug.FreeOSMemory()
	unmap()
}

// Limit returns the limit of the Go runtime, in bytes; math.MaxInt64 is none.
func Limit() int64 { return debug.SetMemoryLimit(-1) }

// ofGroup returns the smallest limit of the control groups of the process;
// math.MaxInt64 is none. root has the files of the whole system.
func ofGroup(root fs.FS) int64 {
	limit := int64(math.MaxInt64)
	groups, err := fs.ReadFile(root, "proc/self/cgroup")
	mounts, err2 := fs.ReadFile(root, "proc/self/mountinfo")
	if err != nil || err2 != nil {
		return limit
	}
	for line := range strings.Lines(string(groups)) { // such as 4:memory:/shop or 0::/shop
		fields := strings.SplitN(strings.TrimSuffix(line, "\n"), ":", 3)
		if len(fields) < 3 {
			continue
		}
		kind, controller, files := "cgroup", "memory", []string{"memory.limit_in_bytes"}
		if fields[1] == "" {
			kind, controller, files = "cgroup2", "", []string{"memory.max", "memory.high"}
		} else if !slices.Contains(strings.Split(fields[1], ","), controller) {
			continue
		}
		top, group, ok := mounted(string(mounts), kind, controller, fields[2])
		for ok {
			for _, file := range files {
				limit = min(limit, read(root, path.Join(top, group, file)))
			}
			if ok = group != "/"; ok {
				group = path.Dir(group)
			}
		}
	}
	return limit
}

// mounted returns where a hierarchy is mounted, without the first slash, and the
// path of a group below it.
func mounted(mounts, kind, controller, group string) (top, below string, ok bool) {
	for line := range strings.Lines(mounts) { // see proc_pid_mountinfo(5)
		before, after, _ := strings.Cut(line, " - ")
		place, system := strings.Fields(before), strings.Fields(after)
		if len(place) < 5 || len(system) < 3 || system[0] != kind ||
			controller != "" && !slices.Contains(strings.Split(system[2], ","), controller) {
			continue
		}
		below, inside := strings.CutPrefix(path.Clean("/"+group), strings.TrimSuffix(place[3], "/"))
		if !inside || !strings.HasPrefix(below, "/") { // a container sees only its own group
			below = "/"
		}
		return strings.TrimPrefix(place[4], "/"), below, true
	}
	return "", "", false
}

// read returns the limit in a file; math.MaxInt64 is none. Version 1 writes none
// as the largest multiple of a page.
func read(root fs.FS, file string) int64 {
	text, err := fs.ReadFile(root, file)
	if err != nil {
		return math.MaxInt64
	}
	limit, err := strconv.ParseInt(string(bytes.TrimSpace(text)), 10, 64)
	if err != nil || limit <= 0 || limit >= 1<<62 {
		return math.MaxInt64
	}
	return limit
}
