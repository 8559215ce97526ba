// SPDX-License-Identifier: Apache-2.0

package region

import "github.com/nats-io/nats.go"

// NewWritten is the log of an owner.
func NewWritten(log Log, conn *nats.Conn) Log { return newWritten(log, conn, make(chan struct{}, 1)) }
