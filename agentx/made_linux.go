// SPDX-License-Identifier: Apache-2.0

package agentx

import (
	"bytes"
	"encoding/binary"
	"os"
	"path/filepath"

	"golang.org/x/sys/unix"
)

// watchFile returns a channel that is closed when a file is made at a path, by inotify(7), and a
// function that ends that. A directory that cannot be watched is one in which none is made.
func watchFile(path string) (made <-chan struct{}, end func()) {
	fd, err := unix.InotifyInit1(unix.IN_CLOEXEC | unix.IN_NONBLOCK)
	if err != nil {
		return nil, func() {}
	}
	events := os.NewFile(uintptr(fd), "inotify")
	if _, err := unix.InotifyAddWatch(fd, filepath.Dir(path), unix.IN_CREATE|unix.IN_MOVED_TO); err != nil {
		_ = events.Close() // nothing was written
		return nil, func() {}
	}
	found, over := make(chan struct{}), make(chan struct{})
	go func() {
		defer close(over)
		buffer := make([]byte, 4096)
		for {
			n, err := events.Read(buffer)
			if err != nil { // as by end
				return
			}
			if names(buffer[:n], filepath.Base(path)) {
				close(found)
				return
			}
		}
	}()
	return found, func() { _ = events.Close(); <-over }
}

// names reports whether one of these events is about a file of this name, or whether events were
// lost.
func names(events []byte, name string) bool {
	for len(events) >= unix.SizeofInotifyEvent {
		mask, size := binary.NativeEndian.Uint32(events[4:]), binary.NativeEndian.Uint32(events[12:])
		of := events[unix.SizeofInotifyEvent:][:size]
		if mask&unix.IN_Q_OVERFLOW != 0 || string(bytes.TrimRight(of, "\x00")) == name {
			return true
		}
		events = events[unix.SizeofInotifyEvent+size:]
	}
	return false
}
