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

// Bounds of a Checker.
const (
	MaxSources = 1000 // of all nets; messages of further sources are only counted
	MaxKinds   = 64   // of findings, of each source
)

const (
	askEvery    = int64(time.Second / time.Microsecond) // for an unanswered definition
	mostSkew    = int64(time.Minute / time.Microsecond) // between a source's clock and the listener's
	answerHello = int64(2 * time.Second / time.Microsecond)
)

// Checker checks messages. It is not safe for concurrent use. Times are
// microseconds since the Unix epoch by the listener's clock.
type Checker struct {
	subjects    telemetry.Subjects
	since       int64
	sources     map[sourceKey]*sourceState
	definitions map[defKey]*definition
	owners      map[regionKey]*owner // at most MaxSources
	beyond      uint64               // messages of sources beyond MaxSources
}

type sourceKey struct{ net, source string }

type defKey struct{ net, digest string }

// definition is one requested definition; net is nil until it is answered.
type definition struct {
	net   *petri.Net
	asked int64
	fault string // why there is no net
}

// sourceState is the state of one source and net.
type sourceState struct {
	messages, full uint64
	epoch          int64
	seq            uint64
	at             int64 // of the last message
	interval       time.Duration
	digest         string
	columns        stats.Columns
	bye            bool
	region         string // and, in since, when its counters began
	since          int64
	lost           bool                   // another source owns the region
	places         map[uint32]stats.Place // counters of each row, as last received in this epoch
	transitions    map[uint32]stats.Transition
	net            stats.NetRow
	refused        *stats.RefusedRequests
	refusedEpoch   int64
	tables         [2]table // of the last message, until they are compared with the definition
	said           map[string]*Finding
	findings       []*Finding
}

// New returns a Checker for the messages received from now on.
func New(subjects telemetry.Subjects, now int64) *Checker {
	return &Checker{subjects: subjects, since: now, sources: map[sourceKey]*sourceState{}, definitions: map[defKey]*definition{}, owners: map[regionKey]*owner{}}
}

// wrong records a finding: the first text of a kind, and the number of times.
func (h *sourceState) wrong(kind, format string, args ...any) {
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

// Receive checks one message on a subject: the snapshot, or the error of
// decoding it. It reports whether the caller should request the message's
// definition and pass it to Defined. It keeps no reference to s.
func (c *Checker) Receive(subject string, s *telemetry.Snapshot, err error, now int64) (ask bool) {
	h := c.source(subject, s, err)
	if h == nil {
		return false
	}
	h.messages++
	if err != nil {
		reason := telemetry.ReasonOf(err)
		h.wrong(string(reason), "a message is rejected: %s. %s", err, advice(reason))
		h.at = now
		return false
	}
	h.order(s)
	h.timing(s, now)
	c.regions(h, s)
	h.interval = s.Interval
	h.digest = s.Digest
	h.columns = h.columns | s.Rows.Columns
	h.bye = s.Bye
	h.at = now
	if s.Full {
		h.full++
	}
	h.numbers(s, c.define(s))
	return c.ask(s, now)
}

// source returns the state of the source that a message names, or else its subject.
func (c *Checker) source(subject string, s *telemetry.Snapshot, err error) *sourceState {
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

// keep returns the state of a source; nil beyond MaxSources.
func (c *Checker) keep(k sourceKey) *sourceState {
	h := c.sources[k]
	if h == nil && len(c.sources) >= MaxSources {
		c.beyond++
		return nil
	}
	if h == nil {
		h = &sourceState{said: map[string]*Finding{}}
		c.sources[k] = h
	}
	return h
}

// order checks epoch and seq, and drops the rows of an earlier process.
func (h *sourceState) order(s *telemetry.Snapshot) {
	switch {
	case h.epoch == 0:
	case s.Epoch < h.epoch:
		h.wrong("epoch", "the epoch fell from %d to %d: it is the start of the process in microseconds, and a later process has a later one", h.epoch, s.Epoch)
	case s.Epoch > h.epoch:
		if !h.bye && h.since == 0 { // the owner of a region may hand it over and own it again
			h.wrong("no bye", "a process with a later epoch started, and the one before sent no bye: unless it crashed, publish a last snapshot on petrinet.v1.bye.<net>.<source>")
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
		h.places, h.transitions, h.net = map[uint32]stats.Place{}, map[uint32]stats.Transition{}, stats.NetRow{}
	} else if s.Seq <= h.seq {
		h.wrong("seq", "seq %d came after %d: it counts 1, 2, 3 … for each net, and a repeated message is rejected", s.Seq, h.seq)
	} else if s.Seq > h.seq+1 {
		h.wrong("gap", "%d messages are missing before seq %d: seq counts 1, 2, 3 … for each net", s.Seq-h.seq-1, s.Seq)
	}
	h.epoch, h.seq = s.Epoch, s.Seq
}

// timing checks the clock and the interval.
func (h *sourceState) timing(s *telemetry.Snapshot, now int64) {
	if off := now - s.SentAt; max(off, -off) > mostSkew {
		h.wrong("clock", "sent_at is %s off: the clock of this source is wrong, or sent_at is not in microseconds since 1970", seconds(off))
	}
	if s.Epoch > s.SentAt {
		h.wrong("epoch ahead", "the epoch %d is after sent_at %d: both are microseconds since 1970", s.Epoch, s.SentAt)
	}
	h.late(now)
}

// late checks the time since the last message.
func (h *sourceState) late(now int64) {
	if h.interval > 0 && !h.bye && !h.lost && now-h.at > 3*h.interval.Microseconds() {
		h.wrong("late", "no message came for %s, and the interval is %s: after three intervals the source is stale", seconds(now-h.at), h.interval)
	}
}

// conclude checks what can only be checked at the end.
func (c *Checker) conclude(net string, h *sourceState, now int64) {
	h.late(now)
	if h.interval > 0 && h.full == 0 && now-c.since > answerHello {
		h.wrong("hello", "no full snapshot came, although petrinet.v1.hello asked for one: a collector that starts later shows nothing of this source")
	}
	d := c.definitions[defKey{net, h.digest}]
	h.fits(d)
	if d != nil && d.net == nil && d.fault != "" {
		h.wrong("definition", "%s", d.fault)
	}
}

// ask reports whether the definition should be requested.
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

// Defined receives the answer to a request for a definition.
func (c *Checker) Defined(net, digest string, text []byte, err error) {
	d := c.definitions[defKey{net, digest}]
	if d == nil || d.net != nil {
		return
	}
	where := c.subjects.Definition(net, digest)
	if err != nil {
		d.fault = fmt.Sprintf("no source answers on %s with the definition of this digest, so rows have no names: %v", where, err)
		return
	}
	file, err := pnml.Read(bytes.NewReader(text), "definition", pnml.DefaultLimits())
	if err != nil {
		d.fault = fmt.Sprintf("the definition answered on %s cannot be read: %v", where, err)
		return
	}
	for _, n := range file.Nets {
		if n.ID == net {
			d.net = n
			return
		}
	}
	d.fault = fmt.Sprintf("the definition answered on %s has no net with the id %q", where, net)
}

// advice returns what an author can do about a rejected message.
func advice(r telemetry.Reason) string {
	return map[telemetry.Reason]string{
		telemetry.NotProtobuf: "If it is meant to be JSON, publish it with the header Content-Type: application/json.",
		telemetry.NotJSON:     "Every field is named and typed as in petrinet_telemetry_v1.proto; counts are 0 or more.",
		telemetry.TooLarge:    "Cut it into several sparse messages, each with a seq of its own.",
		telemetry.TooMany:     "The bounds are in telemetry/README.md.",
		telemetry.BadName:     "Names are 1 to 255 bytes of UTF-8; a digest is the first 16 bytes of SHA-256 in lower-case hex.",
		telemetry.BadSubject:  "The subject is petrinet.v1.snapshot.<net>.<source>, or bye if bye is set, with the names of the message, escaped.",
		telemetry.BadColumns:  "Every column of a table has one value for each row, and columns of a group come together.",
		telemetry.BadIndex:    "The index lists the rows of a sparse message, rising.",
		telemetry.BadValue:    "Times and durations are microseconds; ladders and histograms are cut as telemetry/README.md says.",
	}[r]
}
