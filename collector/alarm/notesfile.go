// SPDX-License-Identifier: Apache-2.0

package alarm

import (
	"bytes"
	"fmt"
	"hash/crc32"
	"slices"
	"strings"
	"time"
)

// The first lines of a file of notes, and of a page.
const (
	notesFileHead = "pnagent-notes 2"
	notesHead     = "pnagent-notes 1" // also of files of earlier versions, which have no alarms of acknowledgements
)

// anyKind is the kind of a selection of all kinds in a file of notes.
const anyKind = "any"

// File returns the text of a file of notes:
//
//	pnagent-notes 2
//	ack 7 1794744000000000 "ada" "the bank is informed" tokenStuck "orders" "paid" 1794743700000000
//	unack 8 1794744000000000 "ada" ""
//	silence 00c0ffee00c0ffee 1794744000000000 1794744000000000 1794747600000000 "ada" "upgrade" tokenStuck "orders" "" "" ""
//	silence 00c0ffee00c0fff0 1794744000000001 1794744000000000 1794747600000000 "ada" "" any "*" "" "" "" ended "eve"
//	cleared 5 tokenStuck minor 1794744000000000 1794743400000000 1794744600000000 3 "orders" "paid" "over after …" 0 "" ""
//	end 5 5f3a90c2
//
// ack and unack have the index of an alarm, the time, who it was and a comment, and if it is
// known the alarm: its kind, net, subject, and when it was raised. silence has
// an id, the time of its last change, from when and until when it holds, who made it, a
// comment, the kind of alarms or any, and patterns of nets, places, transitions and
// sources, and if it recurs, "recurs" with a cron expression, a time zone and how many seconds each
// time lasts. cleared has index, kind and severity of an alarm, when it was raised, since when
// its condition held, when it was cleared, how much it affected, its net, subject and
// text, and the time, name and comment of its acknowledgement. end has the number of lines
// between it and the first, and the CRC-32 (IEEE) of all bytes before it. Texts are quoted
// as in Go, times are microseconds since the Unix epoch. Sidecars of a pair exchange pages
// of the same form with 1 in the first line and without alarms of acknowledgements, which
// earlier versions read too.
func (n *Noted) File() []byte {
	return notesText(notesFileHead, n.lines(func(a *ackNote) string { return a.line() + a.alarm() }))
}

// text returns the notes as one page of any size.
func (n *Noted) text() []byte { return notesText(notesHead, n.lines((*ackNote).line)) }

func notesText(head string, lines []string) []byte {
	return notesEnded([]byte(strings.Join(slices.Concat([]string{head}, lines, []string{""}), "\n")))
}

// lines returns the lines of the notes. ack returns that of an acknowledgement.
func (n *Noted) lines(ack func(*ackNote) string) (lines []string) {
	for i := range n.acks {
		lines = append(lines, ack(&n.acks[i]))
	}
	for i := range n.silences {
		lines = append(lines, n.silences[i].line())
	}
	for i := range n.cleared {
		lines = append(lines, n.cleared[i].line())
	}
	return lines
}

func (a *ackNote) line() string {
	word := "ack"
	if a.withdrawn {
		word = "unack"
	}
	return fmt.Sprintf("%s %d %d %q %q", word, a.index, a.At, a.By, a.Comment)
}

// alarm returns what a file has of the alarm, after the line.
func (a *ackNote) alarm() string {
	if a.raised == 0 {
		return ""
	}
	return fmt.Sprintf(" %s %q %q %d", a.about.kind, a.about.net, a.about.subject, a.raised) + reasonWords(a.about.selects)
}

func (s *silenceNote) line() string {
	kind, recurs, ended := anyKind, "", ""
	if s.Recurs != (Recurrence{}) {
		recurs = fmt.Sprintf(" recurs %q %q %d", s.Recurs.Cron, s.Recurs.Zone, s.Recurs.For/time.Second)
	}
	if s.Kind != 0 {
		kind = s.Kind.String()
	}
	if s.endedBy != "" {
		ended = fmt.Sprintf(" ended %q", s.endedBy)
	}
	return fmt.Sprintf("silence %s %d %d %d %q %q %s %q %q %q %q%s%s%s", s.ID, s.at, s.From, s.Until, s.By, s.Comment, kind, s.Net, s.Place, s.Transition, s.Source, reasonWords(s.ForReason), recurs, ended)
}

func (c *ClearedAlarm) line() string {
	ack := c.Ack
	if ack == nil {
		ack = &Ack{}
	}
	return fmt.Sprintf("cleared %d %s %s %d %d %d %d %q %q %q %d %q %q", c.Index, c.Kind, c.Severity, c.Raised, c.Since, c.Cleared, c.Affected,
		c.Net, c.Subject, c.Text, ack.At, ack.By, ack.Comment) + reasonWords(c.Selects)
}

// notesEnded appends the last line.
func notesEnded(body []byte) []byte {
	return fmt.Appendf(body, "end %d %08x\n", bytes.Count(body, []byte("\n"))-1, crc32.ChecksumIEEE(body))
}

// ParseNoted reads the content of a file of notes, or a page. Its errors wrap ErrState and
// name the line.
func ParseNoted(text []byte) (Noted, error) {
	var n Noted
	if err := readLines(text, notesEnded, "lines", 1, n.line); err != nil {
		return Noted{}, err
	}
	return n, nil
}

// line reads one line of a file of notes.
func (n *Noted) line(at int, line string) error {
	word, rest, _ := strings.Cut(line, " ")
	r := fields{rest: rest}
	switch {
	case at == 1 && (line == notesHead || line == notesFileHead):
		return nil
	case at > 1 && (word == "ack" || word == "unack"):
		a := ackNote{index: r.index(), Ack: r.ack(), withdrawn: word == "unack"}
		if r.rest != "" {
			a.about, a.raised = keyOf(r.kind(), r.text(), r.text()), r.time()
			a.about.selects = r.reason()
		}
		n.acks = append(n.acks, a)
	case at > 1 && word == "silence":
		n.silences = append(n.silences, r.silence())
	case at > 1 && word == "cleared":
		n.cleared = append(n.cleared, r.cleared())
	default:
		return fmt.Errorf("%.40q; expected %q or %q, and then ack, unack, silence or cleared", line, notesFileHead, notesHead)
	}
	return r.end()
}

// ack reads who acknowledged an alarm and when.
func (f *fields) ack() Ack {
	a := Ack{At: f.time(), By: f.text(), Comment: f.text()}
	if len(a.By) > MaxBy || len(a.Comment) > MaxComment {
		f.fail("a name of %d bytes and a comment of %d; expected at most %d and %d", len(a.By), len(a.Comment), MaxBy, MaxComment)
	}
	return a
}

func (f *fields) silence() silenceNote {
	var s silenceNote
	s.ID, s.at, s.From, s.Until = f.id(), f.time(), f.time(), f.time()
	s.By, s.Comment = f.text(), f.text()
	if !f.has(anyKind) {
		s.Kind = f.kind()
	}
	s.Net, s.Place, s.Transition, s.Source = f.text(), f.text(), f.text(), f.text()
	s.ForReason = f.reason()
	if f.has("recurs") {
		s.Recurs = Recurrence{Cron: f.text(), Zone: f.text(), For: time.Duration(f.number(uint64(maxWindow/time.Second))) * time.Second}
		if err := s.Recurs.fault(); err != nil {
			f.fail("%v", err)
		}
	}
	if f.rest != "" {
		f.word("ended")
		if s.endedBy = f.text(); s.endedBy == "" {
			f.fail("no name of who ended it; expected one")
		}
	}
	if s.Until <= s.From || s.Until-s.From > s.longest().Microseconds() {
		f.fail("from %d until %d; expected at most %s", s.From, s.Until, s.longest())
	}
	if max(len(s.By), len(s.endedBy)) > MaxBy || len(s.Comment) > MaxComment || max(len(s.Net), len(s.Place), len(s.Transition), len(s.Source)) > maxPattern {
		f.fail("a text is too long; expected names of at most %d bytes, comments of %d and patterns of %d", MaxBy, MaxComment, maxPattern)
	}
	return s
}

func (f *fields) cleared() ClearedAlarm {
	c := ClearedAlarm{Alarm: Alarm{Index: f.index(), Kind: f.kind(), Severity: f.severity(), Raised: f.time(), Since: f.time()}, Cleared: f.time()}
	c.Affected, c.Net, c.Subject, c.Text = f.number(1<<64-1), f.text(), f.text(), f.text()
	if ack := f.ack(); ack != (Ack{}) {
		c.Ack = &ack
	}
	c.Selects = f.reason()
	return c
}

func (f *fields) id() string {
	id := f.next()
	if len(id) != idLength || strings.Trim(id, "0123456789abcdef") != "" {
		f.fail("found %.20q; expected %d hex digits", id, idLength)
	}
	return id
}

func (f *fields) severity() Severity {
	got := f.next()
	s, ok := SeverityNamed(got)
	if !ok {
		f.fail("found %.20q; expected a severity", got)
	}
	return s
}

// Pages returns the notes as pages.
func (n *Noted) Pages() (out [][]byte) {
	lines := n.lines((*ackNote).line)
	for len(lines) > 0 {
		count := 0
		for size := 0; size < pageSize && count < len(lines); count++ {
			size += len(lines[count]) + 1
		}
		out, lines = append(out, notesText(notesHead, lines[:count])), lines[count:]
	}
	return out
}
