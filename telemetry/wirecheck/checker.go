// SPDX-License-Identifier: Apache-2.0

package wirecheck

import (
	"bytes"
	"fmt"
	"time"

	"github.com/pnagent/pnagent/petri"
	"github.com/pnagent/pnagent/petri/pnml"
	"github.com/pnagent/pnagent/stats"
	"github.com/pnagent/pnagent/telemetry"
)

// What a Checker keeps.
const (
	MaxSources = 1000 // of all nets; what others say is counted only
	MaxKinds   = 64   // of findings, of each source
)

const (
	askEvery    = int64(time.Second / time.Microsecond) // a definition that nobody answered
	mostSkew    = int64(time.Minute / time.Microsecond) // a clock that is more off is not believed
	answerHello = int64(2 * time.Second / time.Microsecond)
)

// Checker hears messages and judges them. It is not safe for concurrent use.
// Times are microseconds since the Unix epoch by the listener's clock.
type Checker struct {
	subjects    telemetry.Subjects
	since       int64
	sources     map[sourceKey]*heard
	definitions map[defKey]*definition
	owners      map[regionKey]*owner // at most MaxSources
	beyond      uint64               // messages of sources beyond MaxSources
}

type sourceKey struct{ net, source string }

type defKey struct{ net, digest string }

// definition is what is known of one; net is nil while it is not had.
type definition struct {
	net   *petri.Net
	asked int64
	fault string // why it is not had
}

// heard is what one source said.
type heard struct {
	messages, full uint64
	epoch          int64
	seq            uint64
	at             int64 // of the last message
	interval       time.Duration
	digest         string
	columns        stats.Columns
	bye            bool
	region         string // that it speaks for, and since when its counters are counted
	since          int64
	lost           bool                   // another one has the region
	places         map[uint32]stats.Place // counters of each row, as said last in this epoch
	transitions    map[uint32]stats.Transition
	net            stats.Net
	tables         [2]table // of the message that came last, until they are judged
	said           map[string]*Finding
	findings       []*Finding
}

// New returns a Checker that listens from now on.
func New(subjects telemetry.Subjects, now int64) *Checker {
	return &Checker{subjects: subjects, since: now, sources: map[sourceKey]*heard{}, definitions: map[defKey]*definition{}, owners: map[regionKey]*owner{}}
}

// wrong notes a finding. Of a kind the first text stays, and how often it came.
func (h *heard) wrong(kind, format string, args ...any) {
	if f := h.said[kind]; f != nil {
		f.Times++
		return
	}
	if len(h.findings) >= MaxKinds {
		return
	}
	f := &Finding{What: fmt.Sprintf(format, args...), Times: 1}
	h.said[kind] = f
	h.findings = append(h.findings, f)
}

// Hear judges one message on a subject: what it decodes to, or why it does not.
// It reports whether the message's definition is to be asked for and told with
// Defined. It keeps nothing of s.
func (c *Checker) Hear(subject string, s *telemetry.Snapshot, err error, now int64) (ask bool) {
	h := c.source(subject, s, err)
	if h == nil {
		return false
	}
	h.messages++
	if err != nil {
		reason := telemetry.ReasonOf(err)
		h.wrong(string(reason), "a message is refused: %s. %s", err, advice(reason))
		h.at = now
		return false
	}
	h.order(s)
	h.timing(s, now)
	c.regions(h, s)
	h.interval, h.digest, h.columns, h.bye, h.at = s.Interval, s.Digest, h.columns|s.Rows.Columns, s.Bye, now
	if s.Full {
		h.full++
	}
	h.numbers(s, c.define(s))
	return c.ask(s, now)
}

// source returns who said it: what is inside of the message, or else the subject.
func (c *Checker) source(subject string, s *telemetry.Snapshot, err error) *heard {
	var k sourceKey
	if err == nil {
		k = sourceKey{s.Net, s.Source}
	} else if net, source, bad := c.subjects.ParseSnapshot(subject); bad == nil {
		k = sourceKey{net, source}
	} else {
		k = sourceKey{"", subject}
	}
	return c.keep(k)
}

// keep returns what is kept of a source; nil beyond MaxSources.
func (c *Checker) keep(k sourceKey) *heard {
	h := c.sources[k]
	if h == nil && len(c.sources) >= MaxSources {
		c.beyond++
		return nil
	}
	if h == nil {
		h = &heard{said: map[string]*Finding{}}
		c.sources[k] = h
	}
	return h
}

// order judges epoch and seq, and forgets the rows of a process before.
func (h *heard) order(s *telemetry.Snapshot) {
	switch {
	case h.epoch == 0:
	case s.Epoch < h.epoch:
		h.wrong("epoch", "the epoch fell from %d to %d: it is the start of the process in microseconds, and a later process has a later one", h.epoch, s.Epoch)
	case s.Epoch > h.epoch:
		if !h.bye && h.since == 0 { // the owner of a region may hand it over and have it again
			h.wrong("no bye", "a process with a later epoch came, and the one before had said no bye: unless it crashed, publish a last snapshot on petrinet.v1.bye.<net>.<source>")
		}
		h.seq = 0
	case h.bye:
		h.wrong("after bye", "a message came after the bye of the same epoch")
	}
	if s.Epoch != h.epoch {
		if h.continues(s) {
			h.epoch, h.seq = s.Epoch, s.Seq
			return
		}
		h.places, h.transitions, h.net = map[uint32]stats.Place{}, map[uint32]stats.Transition{}, stats.Net{}
	} else if s.Seq <= h.seq {
		h.wrong("seq", "seq %d came after %d: it counts 1, 2, 3 … for each net, and a message that was told already is not taken", s.Seq, h.seq)
	} else if s.Seq > h.seq+1 {
		h.wrong("gap", "%d messages are missing before seq %d: seq counts 1, 2, 3 … for each net", s.Seq-h.seq-1, s.Seq)
	}
	h.epoch, h.seq = s.Epoch, s.Seq
}

// timing judges the clock and the interval.
func (h *heard) timing(s *telemetry.Snapshot, now int64) {
	if off := now - s.SentAt; max(off, -off) > mostSkew {
		h.wrong("clock", "sent_at is %s off: the clock of this source is wrong, or sent_at is not in microseconds since 1970", seconds(off))
	}
	if s.Epoch > s.SentAt {
		h.wrong("epoch ahead", "the epoch %d is after sent_at %d: both are microseconds since 1970", s.Epoch, s.SentAt)
	}
	if h.at > 0 && h.interval > 0 && now-h.at > 3*h.interval.Microseconds() && !h.bye && !h.lost {
		h.late(now)
	}
}

func (h *heard) late(now int64) {
	h.wrong("late", "nothing was heard for %s, and the interval is %s: after three of them the source is stale", seconds(now-h.at), h.interval)
}

// conclude judges what can be judged at the end only.
func (c *Checker) conclude(net string, h *heard, now int64) {
	if h.interval > 0 && !h.bye && !h.lost && now-h.at > 3*h.interval.Microseconds() {
		h.late(now)
	}
	if h.interval > 0 && h.full == 0 && now-c.since > answerHello {
		h.wrong("hello", "no full snapshot came, although petrinet.v1.hello asked for one: a collector that starts later shows nothing of this source")
	}
	d := c.definitions[defKey{net, h.digest}]
	h.fits(d)
	if d != nil && d.net == nil && d.fault != "" {
		h.wrong("definition", "%s", d.fault)
	}
}

// ask reports whether the definition is to be asked for.
func (c *Checker) ask(s *telemetry.Snapshot, now int64) bool {
	d := c.define(s)
	if d == nil || d.net != nil || d.asked > 0 && now-d.asked < askEvery {
		return false
	}
	d.asked = now
	return true
}

func (c *Checker) define(s *telemetry.Snapshot) *definition {
	k := defKey{s.Net, s.Digest}
	d := c.definitions[k]
	if d == nil && len(c.definitions) < MaxSources {
		d = &definition{}
		c.definitions[k] = d
	}
	return d
}

// Defined tells what a request for a definition gave.
func (c *Checker) Defined(net, digest string, text []byte, err error) {
	d := c.definitions[defKey{net, digest}]
	if d == nil || d.net != nil {
		return
	}
	where := c.subjects.Definition(net, digest)
	if err != nil {
		d.fault = fmt.Sprintf("nobody answers on %s with the definition, or not with the bytes of this digest, so rows have no names: %v", where, err)
		return
	}
	file, err := pnml.Read(bytes.NewReader(text), "definition", pnml.DefaultLimits())
	if err != nil {
		d.fault = fmt.Sprintf("the definition that is answered on %s cannot be read: %v", where, err)
		return
	}
	for _, n := range file.Nets {
		if n.ID == net {
			d.net = n
			return
		}
	}
	d.fault = fmt.Sprintf("the definition that is answered on %s has no net with the id %q", where, net)
}

// advice says what an author can do about a message that is refused.
func advice(r telemetry.Reason) string {
	switch r {
	case telemetry.NotProtobuf:
		return "If it is meant to be JSON, publish it with the header Content-Type: application/json."
	case telemetry.NotJSON:
		return "Every field is named and typed as in petrinet_telemetry_v1.proto; counts are 0 or more."
	case telemetry.TooLarge:
		return "Cut it into several sparse messages, each with a seq of its own."
	case telemetry.TooMany:
		return "The bounds are in telemetry/README.md."
	case telemetry.BadName:
		return "Names are 1 to 255 bytes of UTF-8; a digest is the first 16 bytes of SHA-256 in lower-case hex."
	case telemetry.BadSubject:
		return "The subject is petrinet.v1.snapshot.<net>.<source>, or bye if bye is set, with the names of the message, escaped."
	case telemetry.BadColumns:
		return "Every column of a table has one value for each row, and columns of a group come together."
	case telemetry.BadIndex:
		return "The index lists the rows of a sparse message, rising."
	case telemetry.BadValue:
		return "Times and durations are microseconds; ladders and histograms are cut as telemetry/README.md says."
	}
	return ""
}
