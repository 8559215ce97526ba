// SPDX-License-Identifier: Apache-2.0

package memlimit

import (
	"os"
	"strconv"
	"strings"

	"golang.org/x/sys/unix"
)

// unmap gives up the pages of the program's file that nothing writes to. One that is used again is
// mapped again from the page cache. Where memory is short, the system takes the others first.
func unmap() {
	program, err := os.Executable()
	if err != nil {
		return
	}
	maps, err := os.ReadFile("/proc/self/maps")
	if err != nil {
		return
	}
	for line := range strings.Lines(string(maps)) { // such as 00400000-01107000 r-xp 00000000 fe:00 131101 /usr/bin/pnagent
		fields := strings.Fields(line)
		if len(fields) != 6 || fields[5] != program || !strings.HasPrefix(fields[1], "r-") {
			continue
		}
		first, last, _ := strings.Cut(fields[0], "-")
		from, err := strconv.ParseUint(first, 16, 64)
		to, err2 := strconv.ParseUint(last, 16, 64)
		if err == nil && err2 == nil {
			_, _, _ = unix.Syscall(unix.SYS_MADVISE, uintptr(from), uintptr(to-from), unix.MADV_DONTNEED) // without it they stay
		}
	}
}
