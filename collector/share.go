// SPDX-License-Identifier: Apache-2.0

package collector

import (
	"errors"
	"fmt"
	"hash/fnv"
	"strconv"
	"strings"
	"sync/atomic"
	"time"

	"github.com/pnagent/pnagent/telemetry"
)

// MaxShares is into how many shares, at most, the sources can be divided.
const MaxShares = 1 << 12

// ErrShare says that a text is no share.
var ErrShare = errors.New("no share; expected I/N with I from 1 to N, such as 2/8")

// Share is one of Count parts into which the sources of all nets are divided,
// for as many collectors; Index is from 1 to Count. The zero Share is all
// sources.
//
// The division is that of NATS' partition(Count,1,2) over the tokens of the net
// and of the source in a subject (nats-server, getHashPartition: 32-bit FNV-1a
// over the tokens one behind the other, modulo the count), so it makes no
// difference whether the server divides or the collector. With ByNet it is
// partition(Count,1), over the net alone: then all sources of a net are in one
// share, which they must be where regions of it move from one to the other.
type Share struct {
	Index, Count int
	ByNet        bool
}

// ParseShare reads "2/8". The error wraps ErrShare.
func ParseShare(text string) (Share, error) {
	a, b, _ := strings.Cut(text, "/")
	index, errIndex := strconv.Atoi(a)
	count, errCount := strconv.Atoi(b)
	s := Share{Index: index, Count: count}
	if errIndex != nil || errCount != nil || index < 1 || index > count || count > MaxShares || s.String() != text {
		return Share{}, fmt.Errorf("%q: %w, and N at most %d", text, ErrShare, MaxShares)
	}
	return s, nil
}

// String returns the share as ParseShare reads it, and how it is divided if not
// by net and source.
func (s Share) String() string {
	if s.ByNet {
		return fmt.Sprintf("%d/%d by net", s.Index, s.Count)
	}
	return fmt.Sprintf("%d/%d", s.Index, s.Count)
}

// Has reports whether a source of a net is in the share.
func (s Share) Has(net, source string) bool {
	return s.hasTokens(telemetry.Escape(net), telemetry.Escape(source))
}

func (s Share) hasTokens(net, source string) bool {
	if s.Count <= 1 {
		return true
	}
	h := fnv.New32a()
	_, _ = h.Write([]byte(net)) // never fails
	if !s.ByNet {
		_, _ = h.Write([]byte(source))
	}
	return h.Sum32()%uint32(s.Count) == uint32(s.Index-1)
}

// hasSubject reports whether a Snapshot or Bye subject is of the share, and true
// for what is no such subject: that is for the decoder to say.
func (s Share) hasSubject(subject string) bool {
	last := strings.LastIndexByte(subject, '.')
	if last < 0 {
		return true
	}
	return s.hasTokens(subject[strings.LastIndexByte(subject[:last], '.')+1:last], subject[last+1:])
}

// subjects returns what to subscribe to. Where the server maps subjects to
// shares, messages come by the mapped ones alone, where it does not by the plain
// ones alone.
func (s Share) subjects(space telemetry.Subjects) []string {
	return []string{space.Snapshots(), space.Byes(), space.Shared(s.Index, s.Count, s.ByNet)}
}

// ShareMode is how a collector comes by its share.
type ShareMode int32

// The modes of a share.
const (
	ShareUnheard ShareMode = iota // nothing was heard yet
	ShareSifted                   // all messages come, and those of others are passed over
	ShareMapped                   // the server sends no others
)

// silence is after how long it is told that nothing was heard.
const silence = int64(10 * time.Second / time.Microsecond)

// sift is what a collector notes of its share.
type sift struct {
	mode   atomic.Int32
	passed atomic.Uint64
	begun  int64 // of the goroutine that makes Views
	told   bool
}

// Passed returns how many messages were passed over because their sources are
// in another share.
func (c *Collector) Passed() uint64 { return c.sift.passed.Load() }

// mine reports whether a message is of the share, and gives a message that the
// server mapped its plain subject.
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
		c.tellMode(mode)
	}
	if c.cfg.Share.hasSubject(plain) {
		return true
	}
	c.sift.passed.Add(1)
	return false
}

// tellSilence tells once if nothing is heard, neither of the share nor of others.
func (c *Collector) tellSilence(now int64) {
	if nats := c.nats(); c.sift.begun == 0 || nats != nil && !nats.Connected {
		c.sift.begun = now
	}
	if c.sift.told || c.cfg.Share.Count == 0 || now-c.sift.begun < silence || ShareMode(c.sift.mode.Load()) != ShareUnheard {
		return
	}
	c.sift.told = true
	c.cfg.Log.Warn("nothing is heard: no source runs, or the NATS server maps subjects to another number of shares",
		"share", c.cfg.Share.String(), "mappings", c.cfg.Subjects.Mappings(c.cfg.Share.Count, c.cfg.Share.ByNet))
}

func (c *Collector) tellMode(mode ShareMode) {
	if mode == ShareMapped {
		c.cfg.Log.Info("the NATS server maps subjects to shares: only our share comes", "share", c.cfg.Share.String())
		return
	}
	c.cfg.Log.Info("the NATS server maps no subjects: everything comes, and what is not of our share is passed over",
		"share", c.cfg.Share.String(), "mappings", c.cfg.Subjects.Mappings(c.cfg.Share.Count, c.cfg.Share.ByNet))
}
