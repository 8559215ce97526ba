// SPDX-License-Identifier: Apache-2.0

package stream

import (
	"fmt"
	"strconv"
	"strings"

	"github.com/nats-io/nats.go/jetstream"
)

// Replicas of streams on older servers were seen to differ from each other.
const (
	replicatedMajor = 2
	replicatedMinor = 14
)

// answeredBy is the entry in a stream's metadata that names the version of the
// server that answered. Servers before 2.11 write none.
const answeredBy = "_nats.ver"

// checkServers refuses a stream with replicas if one of the servers that can be
// seen is too old for them: that of the connection, and the one that has answered
// about the stream. Other servers of a cluster do not say their versions.
func (l *Log) checkServers(c *jetstream.StreamConfig) error {
	if c.Replicas <= 1 {
		return nil
	}
	for _, version := range []string{l.config.Conn.ConnectedServerVersion(), c.Metadata[answeredBy]} {
		if version != "" && tooOld(version) {
			return fmt.Errorf("%w: %d replicas on nats-server %s; expected nats-server %d.%d or later, or 1 replica",
				ErrSettings, c.Replicas, version, replicatedMajor, replicatedMinor)
		}
	}
	return nil
}

// tooOld reports whether a version such as 2.9.25 or v2.14.0-RC.1 is older than
// replicas need. One that cannot be read is.
func tooOld(version string) bool {
	major, rest, _ := strings.Cut(strings.TrimPrefix(version, "v"), ".")
	minor, _, _ := strings.Cut(rest, ".")
	a, err := strconv.Atoi(major)
	b, failed := strconv.Atoi(minor)
	return err != nil || failed != nil || a < replicatedMajor || a == replicatedMajor && b < replicatedMinor
}
