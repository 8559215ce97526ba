// SPDX-License-Identifier: Apache-2.0

package stream

import (
	"cmp"
	"fmt"
	"strconv"
	"strings"

	"github.com/nats-io/nats.go/jetstream"
)

// The version that replicas need. Replicas on older servers can differ from
// each other.
const (
	replicatedMajor = 2
	replicatedMinor = 14
)

// answeredBy is the entry in a stream's metadata that names the version of the
// server that answered. Servers before 2.11 write none.
const answeredBy = "_nats.ver"

// checkConn rejects replicas if the server of the connection is too old for
// them.
func (l *Log) checkConn(replicas int) error {
	if version := l.config.Conn.ConnectedServerVersion(); replicas > 1 && version != "" && tooOld(version) {
		return tooOldFor(replicas, version)
	}
	return nil
}

// checkServers rejects a stream with replicas if a known server of it is too
// old for them. Known are the server of the connection, the one that answered
// about the stream, and those from which this process has read the stream
// before.
func (l *Log) checkServers(c *jetstream.StreamConfig) error {
	if c.Replicas <= 1 {
		return nil
	}
	if err := l.checkConn(c.Replicas); err != nil {
		return err
	}
	if version := c.Metadata[answeredBy]; tooOld(version) {
		return tooOldFor(c.Replicas, version)
	}
	if version, found := l.config.Servers.oldOf(l.name); found {
		return tooOldFor(c.Replicas, version)
	}
	return nil
}

// tooOldFor returns the error about a server that is too old for replicas.
func tooOldFor(replicas int, version string) error {
	return fmt.Errorf("%w: %d replicas on nats-server %s; expected nats-server %d.%d or later, or 1 replica",
		ErrSettings, replicas, cmp.Or(version, "before 2.11"), replicatedMajor, replicatedMinor)
}

// tooOld reports whether a version such as 2.9.25 or v2.14.0-RC.1 is too old
// for replicas. It returns true for an invalid version.
func tooOld(version string) bool {
	major, rest, _ := strings.Cut(strings.TrimPrefix(version, "v"), ".")
	minor, _, _ := strings.Cut(rest, ".")
	a, err := strconv.Atoi(major)
	b, failed := strconv.Atoi(minor)
	return err != nil || failed != nil || a < replicatedMajor || a == replicatedMajor && b < replicatedMinor
}
