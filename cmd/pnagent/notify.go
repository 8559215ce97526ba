// SPDX-License-Identifier: Apache-2.0

package main

import (
	"log/slog"

	"github.com/coreos/go-systemd/v22/daemon"
)

const (
	notifyReady    = daemon.SdNotifyReady
	notifyStopping = daemon.SdNotifyStopping
)

// notify tells systemd, if it asked to be told.
func notify(log *slog.Logger, state string) {
	if _, err := daemon.SdNotify(false, state); err != nil {
		log.Warn("telling systemd", "state", state, "error", err)
	}
}
