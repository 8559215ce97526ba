// SPDX-License-Identifier: Apache-2.0

package alarm

import (
	"bufio"
	"bytes"
	"errors"
	"fmt"
	"hash/crc32"
	"io"
	"strconv"
	"strings"

	"github.com/pnagent/pnagent/stats"
)

// ErrState is wrapped by the error of a page that was not written by a sidecar, or was changed
// since.
var ErrState = errors.New("damaged alarm state")

// MaxStateSize bounds a state file, in bytes.
const MaxStateSize = 64 << 20

// stateHead is the first line of a page.
const stateHead = "pnagent-alarms 2"

// The last words of lines of alarms that end otherwise than the others.
const (
	unshownWord = "unshown" // see Alarm.Unshown
	reasonWord  = "reason"  // before the reason that the rule of an alarm selects
	lostWord    = "lost"    // before the origins of an alarm
)

// phaseWords are the last words of lines of alarms of which a notification may not have been sent.
var phaseWords = map[Phase]string{Raising: "raising", Unsent: "unsent", Clearing: "clearing"}

// clearedWord begins the line of cleared indices.
const clearedWord = "cleared"

// Text returns a page, which sidecars of a pair exchange. A state file has one of any size:
//
//	pnagent-alarms 2
//	last 7 1794744000000000
//	alarm 6 tokenStuck 1794744000000000 1794743400000000 3 "orders" "paid" "tokens in place …"
//	alarm 7 tokenStuck 1794744000000000 1794743400000000 3 "orders" "sent" "tokens in place …" raising
//	alarm 8 tokenStuck 1794744000000000 1794743400000000 3 "orders" "done" "unknown …" lost "engine-7" ""
//	cleared 5 2
//	end 3 5f3a90c2
//
// last has the largest index ever used and the time of the last change. alarm has the
// fields of Alarm in order, then, after reason, the one that its rule selects, and, if a notification may not have been sent, raising, unsent
// (neither was) or clearing; then unshown if no rows of its source were ever shown; then, after lost, each of Alarm.Lost with its region. cleared
// has the indices of alarms that are over. end has the
// number of alarms and the CRC-32 (IEEE) of all bytes before its line, which detects a
// torn page. Texts are quoted as in Go, times are microseconds since the Unix epoch.
func (s *Saved) Text() []byte {
	var b bytes.Buffer
	fmt.Fprintf(&b, "%s\nlast %d %d\n", stateHead, s.Last, s.LastChange)
	for i := range s.Alarms {
		e := &s.Alarms[i]
		fmt.Fprintf(&b, "alarm %d %s %d %d %d %q %q %q%s", e.Index, e.Kind, e.Raised, e.Since, e.Affected, e.Net, e.Subject, e.Text, reasonWords(e.Selects))
		if word := phaseWords[e.Phase]; word != "" {
			b.WriteString(" " + word)
		}
		if e.Unshown && e.Phase.open() {
			b.WriteString(" " + unshownWord)
		}
		for k, o := range e.Lost.All() {
			if k == 0 {
				b.WriteString(" " + lostWord)
			}
			fmt.Fprintf(&b, " %q %q", o.Source, o.Region)
		}
		b.WriteByte('\n')
	}
	if len(s.Cleared) > 0 {
		b.WriteString(clearedWord)
		for _, index := range s.Cleared {
			fmt.Fprintf(&b, " %d", index)
		}
		b.WriteByte('\n')
	}
	return ended(b.Bytes())
}

// reasonWords returns the words of an alarm whose rule selects a reason.
func reasonWords(r stats.Reason) string {
	if r == stats.ReasonUnknown {
		return ""
	}
	return " " + reasonWord + " " + r.String()
}

// reason reads what reasonWords writes, if it is there.
func (f *fields) reason() stats.Reason {
	if !f.has(reasonWord) {
		return stats.ReasonUnknown
	}
	got := f.next()
	r := stats.ReasonNamed(got)
	if r == stats.ReasonUnknown {
		f.fail("found %.20q; expected a reason", got)
	}
	return r
}

// lost reads the origins of an alarm, if they are there.
func (f *fields) lost() (lost []Origin) {
	if !f.has(lostWord) {
		return nil
	}
	if f.rest == "" {
		f.fail("no source behind %q", lostWord)
	}
	for f.rest != "" && f.err == nil && len(lost) <= maxLost {
		o := Origin{f.text(), f.text()}
		if n := len(lost); n > 0 && lost[n-1].compare(o) >= 0 {
			f.fail("source %.40q is out of order", o.Source)
		}
		lost = append(lost, o)
	}
	return lost
}

// ended appends the last line.
func ended(body []byte) []byte {
	return fmt.Appendf(body, "end %d %08x\n", bytes.Count(body, []byte("\nalarm ")), crc32.ChecksumIEEE(body))
}

// ParseSaved reads a page of any size. Its errors wrap ErrState and name the line.
func ParseSaved(text []byte) (Saved, error) {
	var s Saved
	if err := readLines(text, ended, "alarms", 2, s.line); err != nil {
		return Saved{}, err
	}
	return s, nil
}

// readLines passes the lines of a page to take, with their numbers from 1. The last line,
// which end appends, holds the number of what, and is not passed. A page of fewer lines than
// least is refused. Errors wrap ErrState and name the line.
func readLines(text []byte, end func(body []byte) []byte, what string, least int, take func(n int, line string) error) error {
	if len(text) > MaxStateSize {
		return fmt.Errorf("%w: more than %d bytes", ErrState, MaxStateSize)
	}
	body := text[:bytes.LastIndexByte(bytes.TrimSuffix(text, []byte("\n")), '\n')+1]
	if !bytes.Equal(text, end(bytes.Clone(body))) {
		return fmt.Errorf("%w: torn or changed; expected a last line with the number of %s and the checksum", ErrState, what)
	}
	lines := bufio.NewScanner(bytes.NewReader(body))
	lines.Buffer(nil, MaxStateSize)
	n := 0
	for lines.Scan() {
		n++
		if err := take(n, lines.Text()); err != nil {
			return fmt.Errorf("%w: line %d: %w", ErrState, n, err)
		}
	}
	if err := lines.Err(); err != nil || n < least {
		return fmt.Errorf("%w: it ends after line %d: %w", ErrState, n, errors.Join(err, io.ErrUnexpectedEOF))
	}
	return nil
}

// line reads one line of a page.
func (s *Saved) line(n int, line string) error {
	switch {
	case n == 1 && line == stateHead:
		return nil
	case n == 2:
		r := fields{rest: line}
		r.word("last")
		s.Last, s.LastChange = uint32(r.number(maxIndex)), r.time()
		return r.end()
	case n > 2 && s.Cleared == nil && strings.HasPrefix(line, clearedWord+" "):
		return s.parseCleared(line)
	case n > 2 && s.Cleared == nil && len(s.Alarms) < 2*MaxActive:
		return s.parseAlarm(line)
	}
	return fmt.Errorf("%.40q; expected %q, at most %d alarms, and then the cleared indices", line, stateHead, 2*MaxActive)
}

// parseAlarm reads the line of an alarm. Indices grow from line to line.
func (s *Saved) parseAlarm(line string) error {
	r := fields{rest: line}
	r.word("alarm")
	e := Entry{Alarm{Index: r.index(), Kind: r.kind(), Raised: r.time(), Since: r.time(), Affected: r.number(1<<64 - 1),
		Net: r.text(), Subject: r.text(), Text: r.text(), Selects: r.reason()}, Raised}
	if n := len(s.Alarms); e.Index > s.Last || n > 0 && e.Index <= s.Alarms[n-1].Index {
		r.fail("index %d is out of order", e.Index)
	}
	for phase, word := range phaseWords {
		if r.has(word) {
			e.Phase = phase
			break
		}
	}
	e.Unshown = r.has(unshownWord) && e.Phase.open()
	e.Lost = originsOf(r.lost())
	s.Alarms = append(s.Alarms, e)
	return r.end()
}

// parseCleared reads the line of cleared indices.
func (s *Saved) parseCleared(line string) error {
	r := fields{rest: strings.TrimPrefix(line, clearedWord+" ")}
	for r.rest != "" && len(s.Cleared) < maxCleared && r.err == nil {
		index := r.index()
		if index > s.Last {
			r.fail("index %d is out of order", index)
		}
		s.Cleared = append(s.Cleared, index)
	}
	return r.end()
}

// fields reads a line word by word, up to the first fault.
type fields struct {
	rest string
	err  error
}

func (f *fields) fail(format string, args ...any) {
	if f.err == nil {
		f.err = fmt.Errorf(format, args...)
	}
}

func (f *fields) next() string {
	word, rest, _ := strings.Cut(f.rest, " ")
	f.rest = rest
	return word
}

// has reports whether the next word is this one, and then reads it.
func (f *fields) has(word string) bool {
	got, rest, _ := strings.Cut(f.rest, " ")
	if got == word {
		f.rest = rest
	}
	return got == word
}

func (f *fields) word(want string) {
	if got := f.next(); got != want {
		f.fail("found %.20q; expected %q", got, want)
	}
}

func (f *fields) number(most uint64) uint64 {
	got := f.next()
	v, err := strconv.ParseUint(got, 10, 64)
	if err != nil || v > most {
		f.fail("found %.20q; expected a number up to %d", got, most)
	}
	return v
}

func (f *fields) index() uint32 {
	index := uint32(f.number(maxIndex))
	if index == 0 {
		f.fail("index 0; expected 1 or more")
	}
	return index
}

func (f *fields) time() int64 { return int64(f.number(1 << 62)) }

func (f *fields) kind() Kind {
	got := f.next()
	k, ok := KindNamed(got)
	if !ok {
		f.fail("found %.20q; expected a kind of alarm", got)
	}
	return k
}

func (f *fields) text() string {
	quoted, err := strconv.QuotedPrefix(f.rest)
	if err != nil {
		f.fail("found %.20q; expected a quoted text", f.rest)
		return ""
	}
	f.rest = strings.TrimPrefix(f.rest[len(quoted):], " ")
	text, _ := strconv.Unquote(quoted) // a quoted prefix can be unquoted
	return text
}

func (f *fields) end() error {
	if f.rest != "" {
		f.fail("found %.20q; expected the end of the line", f.rest)
	}
	return f.err
}
