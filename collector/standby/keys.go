// SPDX-License-Identifier: Apache-2.0

package standby

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"os"
	"runtime"
)

// Limits of a key file.
const (
	MinKey     = 32   // bytes of a key
	MaxKeyFile = 4096 // bytes
	maxKeys    = 2
)

// Keys are the secrets that the members of a group share, of MinKey bytes at least. The
// first signs, every one verifies. A group without keys has none.
type Keys [][]byte

// String returns the number of keys and nothing of them, so that no log has a secret.
func (k Keys) String() string { return fmt.Sprintf("%d keys", len(k)) }

// GoString is String.
func (k Keys) GoString() string { return k.String() }

// ErrKeys is wrapped by the errors of ReadKeys for a file that has no valid keys.
var ErrKeys = errors.New("invalid key file")

// ReadKeys reads one or two keys from a file: each line is one, without the white space
// around it. Empty lines and those that begin with # are left out. The file must not be
// accessible to others than its owner and its group, nor writable by the group; Windows
// has no such modes. No error has a part of a key.
func ReadKeys(path string) (Keys, error) {
	f, err := os.Open(path)
	if err != nil {
		return nil, fmt.Errorf("read the key file of sidecars: %w", err)
	}
	defer f.Close()
	info, err := f.Stat()
	if err != nil {
		return nil, fmt.Errorf("read the key file of sidecars: %w", err)
	}
	if mode := info.Mode().Perm(); mode&0o027 != 0 && runtime.GOOS != "windows" {
		return nil, fmt.Errorf("%s: %w: mode %#o; expected 0600, 0400 or 0440", path, ErrKeys, mode)
	}
	text, err := io.ReadAll(io.LimitReader(f, MaxKeyFile+1))
	if err != nil {
		return nil, fmt.Errorf("read the key file of sidecars: %w", err)
	}
	keys, err := parseKeys(text)
	if err != nil {
		return nil, fmt.Errorf("%s:%w", path, err)
	}
	return keys, nil
}

// parseKeys reads the text of a key file. An error begins with a line and a column.
func parseKeys(text []byte) (Keys, error) {
	if len(text) > MaxKeyFile {
		return nil, fmt.Errorf("1:1: %w: more than %d bytes", ErrKeys, MaxKeyFile)
	}
	var keys Keys
	n := 0
	for line := range bytes.Lines(text) {
		n++
		key := bytes.TrimSpace(line)
		switch {
		case len(key) == 0 || key[0] == '#':
		case len(key) < MinKey:
			return nil, fmt.Errorf("%d:1: %w: a key of %d bytes; expected at least %d", n, ErrKeys, len(key), MinKey)
		case len(keys) == maxKeys:
			return nil, fmt.Errorf("%d:1: %w: more than %d keys", n, ErrKeys, maxKeys)
		default:
			keys = append(keys, bytes.Clone(key))
		}
	}
	if len(keys) == 0 {
		return nil, fmt.Errorf("1:1: %w: no key; expected a line of at least %d bytes", ErrKeys, MinKey)
	}
	return keys, nil
}
