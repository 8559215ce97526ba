// SPDX-License-Identifier: Apache-2.0

package main

import (
	"fmt"
	"net"

	"github.com/coreos/go-systemd/v22/activation"

	"github.com/pnagent/pnagent/cli"
)

// handedOver is the one socket that systemd opened for this process.
func handedOver() (net.Listener, error) {
	sockets, err := activation.Listeners()
	if err != nil {
		return nil, fmt.Errorf("taking the socket of systemd: %w", err)
	}
	if len(sockets) != 1 || sockets[0] == nil {
		return nil, cli.Usage(fmt.Errorf("--web.systemd-socket: %d sockets were handed over; expected one that listens for TCP, as a .socket unit opens", len(sockets)))
	}
	return sockets[0], nil
}
