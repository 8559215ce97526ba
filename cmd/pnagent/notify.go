// SPDX-License-Identifier: Apache-2.0

package main

import (
	"fmt"
	"log/slog"
	"net"

	"github.com/coreos/go-systemd/v22/activation"
	"github.com/coreos/go-systemd/v22/daemon"
)

const (
	notifyReady     = daemon.SdNotifyReady
	notifyReloading = daemon.SdNotifyReloading
	notifyStopping  = daemon.SdNotifyStopping
)

// notify notifies systemd, if it requested that.
func notify(log *slog.Logger, state string) {
	if _, err := daemon.SdNotify(false, state); err != nil {
		log.Warn("notifying systemd", "state", state, "err", err)
	}
}

// handedOver is the one socket that systemd opened for this process.
func handedOver() (net.Listener, error) {
	sockets, err := activation.Listeners()
	if err != nil {
		return nil, fmt.Errorf("taking the socket of systemd: %w", err)
	}
	if len(sockets) != 1 || sockets[0] == nil {
		return nil, usageError{fmt.Errorf("--web.systemd-socket: %d sockets were handed over; expected one that listens for TCP, as a .socket unit opens", len(sockets))}
	}
	return sockets[0], nil
}
