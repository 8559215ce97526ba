// SPDX-License-Identifier: Apache-2.0

package stream

import (
	"errors"
	"fmt"
	"strings"
)

const (
	streamPrefix  = "pnagent-log-"
	subjectPrefix = "pnagent.log."

	// maxEscaped keeps a stream's name, and the name of its snapshots' bucket
	// after "OBJ_", below the 255 bytes that a server and a file system allow.
	maxEscaped = 200

	hexDigits = "0123456789ABCDEF"
)

// ErrName is wrapped by the error about an invalid name of a log.
var ErrName = errors.New("invalid name of a log")

// NameOf returns the name of the stream that holds a log, which is also the
// name of its bucket of snapshots. It is "pnagent-log-" followed by the log's
// name, in which every byte except letters, digits and "-" is written as "_"
// and two hexadecimal digits: "orders/2" becomes pnagent-log-orders_2F2. If the
// name is empty, or longer than 200 bytes when escaped, the error wraps
// ErrName.
func NameOf(name string) (string, error) {
	escaped, err := escape(name)
	if err != nil {
		return "", err
	}
	return streamPrefix + escaped, nil
}

func escape(name string) (string, error) {
	var b strings.Builder
	for i := 0; i < len(name) && b.Len() <= maxEscaped; i++ {
		if c := name[i]; plain(c) {
			b.WriteByte(c)
		} else {
			b.Write([]byte{'_', hexDigits[c>>4], hexDigits[c&15]})
		}
	}
	if b.Len() == 0 || b.Len() > maxEscaped {
		return "", fmt.Errorf("name %.80q: expected 1 to %d bytes when escaped: %w", name, maxEscaped, ErrName)
	}
	return b.String(), nil
}

// plain reports whether a byte stays as it is in a stream's name.
func plain(c byte) bool {
	return 'a' <= c && c <= 'z' || 'A' <= c && c <= 'Z' || '0' <= c && c <= '9' || c == '-'
}
