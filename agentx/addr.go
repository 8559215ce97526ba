// SPDX-License-Identifier: Apache-2.0

package agentx

import (
	"errors"
	"fmt"
	"net"
	"strconv"
	"strings"
)

// maxUnixPath is the longest path of a unix socket that every system accepts.
const maxUnixPath = 103

// address has the arguments of net.Dial.
type address struct {
	network, address string
}

// parseAddr reads unix:/path and tcp:host:port.
func parseAddr(text string) (address, error) {
	network, rest, ok := strings.Cut(text, ":")
	if !ok || network != "unix" && network != "tcp" {
		return address{}, fmt.Errorf("%q; expected unix:/path or tcp:host:port", text)
	}
	if network == "unix" {
		if rest == "" || len(rest) > maxUnixPath {
			return address{}, fmt.Errorf("%q: a path of %d bytes; expected 1 to %d", text, len(rest), maxUnixPath)
		}
		return address{network, rest}, nil
	}
	host, port, err := net.SplitHostPort(rest)
	if err != nil {
		return address{}, fmt.Errorf("%q; expected tcp:host:port: %w", text, errors.Unwrap(err))
	}
	if n, err := strconv.ParseUint(port, 10, 16); err != nil || n == 0 || host == "" {
		return address{}, fmt.Errorf("%q; expected a host and a port from 1 to 65535", text)
	}
	return address{network, rest}, nil
}

// String returns the form that parseAddr reads.
func (a address) String() string { return a.network + ":" + a.address }
