// SPDX-License-Identifier: Apache-2.0

package collector

import (
	"sync/atomic"
	"time"
)

// ShareMode is how a collector receives its share.
type ShareMode int32

// The modes of a share.
const (
	ShareUnknown ShareMode = iota // no message has arrived yet
	ShareSifted                   // all messages arrive, and those of other shares are dropped
	ShareMapped                   // the server sends only messages of the share
)

// silence is the time without messages after which that is logged.
const silence = int64(10 * time.Second / time.Microsecond)

// shareFilter is the state of a collector's share.
type shareFilter struct {
	mode   atomic.Int32
	passed atomic.Uint64
	begun  int64 // of the goroutine that makes Views
	logged bool
}

// Passed returns how many messages were dropped because their sources are in
// another share.
func (c *Collector) Passed() uint64 { return c.sift.passed.Load() }

// mine reports whether a message is in the share, and replaces a mapped subject by
// the plain one.
func (c *Collector) mine(subject *string) bool {
	plain, mapped := c.cfg.Subjects.Plain(*subject)
	*subject = plain
	if c.cfg.Share.Count == 0 {
		return true
	}
	mode := ShareSifted
	if mapped {
		mode = ShareMapped
	}
	if ShareMode(c.sift.mode.Swap(int32(mode))) != mode {
		c.logMode(mode)
	}
	if c.cfg.Share.HasSubject(plain) {
		return true
	}
	c.sift.passed.Add(1)
	return false
}

// logSilence logs once if no message arrives, neither of this share nor of others.
func (c *Collector) logSilence(now int64) {
	if nats := c.nats(); c.sift.begun == 0 || nats != nil && !nats.Connected {
		c.sift.begun = now
	}
	if c.sift.logged || c.cfg.Share.Count == 0 || now-c.sift.begun < silence || ShareMode(c.sift.mode.Load()) != ShareUnknown {
		return
	}
	c.sift.logged = true
	c.cfg.Log.Warn("no message has arrived: no source runs, or the NATS server maps subjects to another number of shares",
		"share", c.cfg.Share.String(), "mappings", c.cfg.Subjects.Mappings(c.cfg.Share.Count, c.cfg.Share.ByNet))
}

func (c *Collector) logMode(mode ShareMode) {
	if mode == ShareMapped {
		c.cfg.Log.Info("the NATS server maps subjects to shares: only this share is received", "share", c.cfg.Share.String())
		return
	}
	c.cfg.Log.Info("the NATS server maps no subjects: all messages are received, and those of other shares are dropped",
		"share", c.cfg.Share.String(), "mappings", c.cfg.Subjects.Mappings(c.cfg.Share.Count, c.cfg.Share.ByNet))
}
