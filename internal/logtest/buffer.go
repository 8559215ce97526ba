// SPDX-License-Identifier: Apache-2.0

// Package logtest has a log that tests read while a program or goroutines write it.
package logtest

import (
	"bytes"
	"sync"
)

// Buffer is a bytes.Buffer for several goroutines. The zero Buffer is ready.
type Buffer struct {
	mu   sync.Mutex
	text bytes.Buffer
}

// Write implements io.Writer. It never fails.
func (b *Buffer) Write(p []byte) (int, error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.text.Write(p)
}

// String returns what was written so far.
func (b *Buffer) String() string {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.text.String()
}
