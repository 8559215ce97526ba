// SPDX-License-Identifier: Apache-2.0

package collector

import (
	"encoding/json"
	"time"

	"github.com/pnagent/pnagent/collector/merge"
	"github.com/pnagent/pnagent/stats"
	"github.com/pnagent/pnagent/telemetry"
)

const (
	// maxNotices is how many different notices are logged in noticePeriod.
	maxNotices   = 1000
	noticePeriod = int64(time.Hour / time.Microsecond)
)

// notices records what was logged, so that a source that repeats a fault every
// second does not fill the disk. Its memory is bounded.
type notices struct {
	seen  map[string]bool
	since int64
}

// notice is whether to log.
type notice uint8

const (
	noticeSeen  notice = iota // logged before, or maxNotices was reached
	noticeFirst               // not logged yet
	noticeLast                // not logged yet, and the last one of the period
)

func (n *notices) first(key string, now int64) notice {
	if n.seen == nil || now-n.since > noticePeriod {
		n.seen, n.since = make(map[string]bool), now
	}
	if n.seen[key] || len(n.seen) >= maxNotices {
		return noticeSeen
	}
	n.seen[key] = true
	if len(n.seen) == maxNotices {
		return noticeLast
	}
	return noticeFirst
}

// sendNotice sends a source the notice that its messages are refused. The source
// logs each notice; the collector logs the first one.
func (c *Collector) sendNotice(a merge.Ask) {
	payload, err := json.Marshal(a.Notice)
	if err == nil {
		err = c.cfg.Conn.Publish(c.cfg.Subjects.Notice(a.Net, a.Source), payload)
	}
	if err != nil {
		c.cfg.Log.Debug("send a notice", "net", a.Net, "source", a.Source, "err", err)
	}
	if c.notices.first("refused "+a.Notice.Reason+" "+a.Net+" "+a.Source, time.Now().UnixMicro()) != noticeSeen {
		c.cfg.Log.Warn("source refused", "net", a.Net, "source", a.Source, "reason", a.Notice.Text)
	}
}

// notice logs an error if it is the first one of its reason and origin in
// noticePeriod.
func (c *Collector) notice(err error, from string, now int64) {
	switch reason := telemetry.ReasonOf(err); c.notices.first(string(reason)+" "+from, now) {
	case noticeFirst:
		c.cfg.Log.Warn("message not taken", "from", from, "err", err)
	case noticeLast:
		c.cfg.Log.Warn("message not taken; more of them are only counted for the next hour", "from", from, "err", err)
	case noticeSeen:
	}
}

// logSaturated logs each net with a saturated sum once.
func (c *Collector) logSaturated() {
	for net, of := range c.merger.Saturated() {
		c.cfg.Log.Warn("a sum reached its maximum and no longer increases", "net", net, "of", of, "at", uint64(stats.MaxSum))
	}
}
