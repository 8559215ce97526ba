// SPDX-License-Identifier: Apache-2.0

package mib

import (
	"bufio"
	"bytes"
	"errors"
	"fmt"
	"io"
	"strconv"
	"strings"
	"time"

	"github.com/pnagent/pnagent/petri"
)

// Bounds of a lock's text.
const (
	MaxLockBytes = 256 << 20
	maxLockLine  = 64 << 10
	maxID        = 8 << 10 // bytes; quoted, it still fits a line
)

const lockHeader = `# OID lock of pnagent: the number and the SMI descriptor of every net, place and transition.
# They never change, so commit this file, and never edit or remove a line.
#   net NUMBER "id" MODULE descriptor
#   prefix NET word
#   objects NET all|few|one
#   place NET.NUMBER "id" descriptor [obsolete]
#   transition NET.NUMBER "id" descriptor [obsolete]
#   revision NET DATE digest "what changed"
# A merge keeps the lines of both sides. Where that gives one number to two names, take
# out the lines of the one that was not published yet, and generate its module again.
`

// record is one parsed line of the text.
type record struct {
	kind     string
	net      uint32
	number   uint32 // of a place or transition
	id       string // or the text of a revision
	word     string // descriptor, prefix or level; date of a revision
	module   string // of a net; digest of a revision
	obsolete bool
	line     int
}

// ParseLock reads the text form of a lock. Lines are independent, so that two branches
// merge by keeping the lines of both sides, in any order:
//
//	net 1 "order" ORDER-PN-MIB order
//	prefix 1 ord
//	objects 1 all
//	place 1.3 "awaiting payment" awaitingPayment
//	transition 1.1 "ship" ship obsolete
//	revision 1 202611200000Z 5f1d… "First version."
//
// Ids are quoted as Go strings, so they can contain any bytes. Empty lines are skipped, and
// lines that begin with # kept. For a text that contradicts itself (the same number, id,
// module or descriptor twice, a place of an unknown net, a prefix that begins another one)
// the error wraps ErrLock and one *petri.Fault for each contradiction, which names both lines.
func ParseLock(r io.Reader, file string) (*Lock, error) {
	p := lockReader{file: file, lock: NewLock(), byNumber: map[uint32]*LockedNet{}}
	records := p.read(r)
	for rank := range 3 { // places may come before their net
		for _, rec := range records {
			if rec.rank() == rank {
				p.enter(rec)
			}
		}
	}
	if len(p.faults) > 0 {
		return nil, fmt.Errorf("%w: %w", ErrLock, errors.Join(p.faults...))
	}
	return p.lock, nil
}

// rank returns in which order records are entered: nets, what is said of whole nets, the rest.
func (rec *record) rank() int {
	switch rec.kind {
	case "net":
		return 0
	case "prefix", "objects":
		return 1
	}
	return 2
}

type lockReader struct {
	file     string
	lock     *Lock
	byNumber map[uint32]*LockedNet
	faults   []error
}

func (p *lockReader) fault(line, column int, format string, args ...any) {
	if len(p.faults) < petri.MaxFaults {
		p.faults = append(p.faults, &petri.Fault{File: p.file, Pos: petri.Pos{Line: line, Column: column}, Msg: fmt.Sprintf(format, args...)})
	}
}

func (p *lockReader) read(r io.Reader) []record {
	var records []record
	in := bufio.NewScanner(io.LimitReader(r, MaxLockBytes+1))
	in.Buffer(nil, maxLockLine)
	size, line := 0, 0
	for in.Scan() {
		line++
		size += len(in.Bytes()) + 1
		text := strings.TrimSuffix(in.Text(), "\r")
		switch {
		case len(records) >= 2*MaxLocked || size > MaxLockBytes:
			p.fault(line, 1, "more than %d lines or %d bytes; expected a smaller lock", 2*MaxLocked, MaxLockBytes)
			return nil
		case strings.TrimSpace(text) == "":
		case text[0] == '#':
			p.lock.comments = append(p.lock.comments, text)
		default:
			if rec, ok := p.line(text, line); ok {
				records = append(records, rec)
			}
		}
	}
	if err := in.Err(); err != nil {
		p.fault(line+1, 1, "cannot be read: %v", err)
	}
	return records
}

// line parses one line by the pattern of its kind.
func (p *lockReader) line(text string, line int) (record, bool) {
	rec := record{line: line}
	f := fields{rest: text}
	rec.kind = f.word()
	switch rec.kind {
	case "net":
		rec.net = f.number()
		rec.id = f.quoted()
		rec.module = f.checked("a module name, capitals and hyphens ending in -MIB", validModule)
		rec.word = f.checked("a descriptor", validDescriptor)
	case "place", "transition":
		rec.net, rec.number = f.pair()
		rec.id = f.quoted()
		rec.word = f.checked("a descriptor", validDescriptor)
		rec.obsolete = f.optional("obsolete")
	case "prefix":
		rec.net = f.number()
		rec.word = f.checked("a prefix, a small letter and then 1 to 7 of them or digits", validPrefix)
	case "objects":
		rec.net = f.number()
		rec.word = f.checked("all, few or one", validLevel)
	case "revision":
		rec.net = f.number()
		rec.word = f.checked("a date YYYYMMDDHHMMZ", validDate)
		rec.module = f.checked("a digest", validDigest)
		rec.id = f.quoted()
	default:
		f.read = 0
		f.fail("%q; expected net, prefix, objects, place, transition or revision", cut(rec.kind, 40))
	}
	f.end()
	if f.wrong != "" {
		p.fault(line, f.at, "%s", f.wrong)
	}
	return rec, f.wrong == ""
}

// enter adds a record to the lock, or reports the line that it contradicts.
func (p *lockReader) enter(rec record) {
	if rec.kind == "net" {
		p.enterNet(rec)
		return
	}
	net := p.byNumber[rec.net]
	switch {
	case net == nil:
		p.fault(rec.line, 1, "%s of net %d, which has no line; expected a net with that number", rec.kind, rec.net)
	case rec.kind == "prefix":
		p.enterPrefix(net, rec)
	case rec.kind == "objects":
		if net.level != "" {
			p.fault(rec.line, 1, "objects of net %d is also at line %d; expected it once", rec.net, net.levelLine)
			return
		}
		net.level, net.levelLine = Level(rec.word), rec.line
	case rec.kind == "place":
		p.enterNode(net, &net.places, rec)
	case rec.kind == "transition":
		p.enterNode(net, &net.transitions, rec)
	default:
		for _, r := range net.revisions {
			if r.date == rec.word {
				p.fault(rec.line, 1, "revision %s of net %d is also at line %d; expected it once", r.date, rec.net, r.line)
				return
			}
		}
		net.addRevision(revision{date: rec.word, digest: rec.module, text: rec.id, line: rec.line})
	}
}

func (p *lockReader) enterNet(rec record) {
	n := &LockedNet{ID: rec.id, Number: rec.net, Module: rec.module, Descriptor: rec.word, line: rec.line}
	if first := p.byNumber[rec.net]; first != nil {
		p.fault(rec.line, 5, "number %d of net %q is that of net %q at line %d; expected every number once", rec.net, rec.id, first.ID, first.line)
		return
	}
	if first := p.lock.nets[rec.id]; first != nil {
		p.fault(rec.line, 1, "net %q is also at line %d; expected every net once", rec.id, first.line)
		return
	}
	if line, dup := p.lock.modules[rec.module]; dup {
		p.fault(rec.line, 1, "module %s of net %q is also that of line %d; expected every module once", rec.module, rec.id, line)
		return
	}
	p.lock.modules[rec.module] = rec.line
	if line, dup := p.lock.names.clash(rec.word); dup {
		p.fault(rec.line, 1, "descriptor %s of net %q makes the same names as that of line %d; expected other ones", rec.word, rec.id, line)
		return
	}
	p.lock.names.take(rec.word, rec.line)
	p.lock.add(n)
	p.byNumber[rec.net] = n
}

func (p *lockReader) enterPrefix(net *LockedNet, rec record) {
	if net.Prefix != "" {
		p.fault(rec.line, 1, "prefix of net %d is also at line %d; expected it once", rec.net, p.lock.prefixes.lines[net.Prefix])
		return
	}
	if other, line, found := p.lock.prefixes.clash(rec.word); found {
		if line == 0 {
			p.fault(rec.line, 1, "prefix %s of net %d begins as names of PETRINET-MIB or is a keyword (%s); expected another", rec.word, rec.net, other)
			return
		}
		p.fault(rec.line, 1, "prefix %s of net %d and prefix %s of line %d begin alike; expected that none begins another", rec.word, rec.net, other, line)
		return
	}
	p.lock.prefixes.take(rec.word, rec.line)
	p.lock.begin(net, rec.word, rec.line)
}

func (p *lockReader) enterNode(net *LockedNet, k *kindLock, rec record) {
	if first := k.byID[rec.id]; first != nil {
		p.fault(rec.line, 1, "%s %q of net %d is also at line %d; expected it once", rec.kind, rec.id, rec.net, first.line)
		return
	}
	if line, dup := k.used[rec.number]; dup {
		p.fault(rec.line, len(rec.kind)+2, "number %d.%d of %s %q is also that of line %d; expected every number once",
			rec.net, rec.number, rec.kind, rec.id, line)
		return
	}
	k.used[rec.number] = rec.line
	if line, dup := net.names.clash(rec.word); dup {
		p.fault(rec.line, 1, "descriptor %s of %s %q makes the same names as that of line %d; expected other ones", rec.word, rec.kind, rec.id, line)
		return
	}
	if p.lock.size >= MaxLocked {
		p.fault(rec.line, 1, "more than %d names; expected fewer", MaxLocked)
		return
	}
	net.names.take(rec.word, rec.line)
	k.add(&Locked{ID: rec.id, Number: rec.number, Descriptor: rec.word, Obsolete: rec.obsolete, line: rec.line})
	p.lock.size++
}

// fields reads one line from left to right and keeps the first fault with its column.
type fields struct {
	rest  string
	read  int
	at    int
	wrong string
}

func (f *fields) fail(format string, args ...any) {
	if f.wrong == "" {
		f.wrong, f.at = fmt.Sprintf(format, args...), f.read+1
	}
}

func (f *fields) skip(n int) {
	f.rest, f.read = f.rest[n:], f.read+n
	trimmed := strings.TrimLeft(f.rest, " ")
	f.read += len(f.rest) - len(trimmed)
	f.rest = trimmed
}

func (f *fields) word() string {
	w, _, _ := strings.Cut(f.rest, " ")
	if f.wrong == "" {
		f.skip(len(w))
	}
	return w
}

func (f *fields) checked(what string, valid func(string) bool) string {
	w, _, _ := strings.Cut(f.rest, " ")
	if w == "" || !valid(w) {
		f.fail("%q; expected %s", cut(w, 80), what)
		return ""
	}
	return f.word()
}

func validDate(s string) bool {
	_, err := time.Parse(dateLayout, s)
	return err == nil && len(s) == len(dateLayout)
}

func validDigest(s string) bool {
	return len(s) <= 64 && strings.Trim(s, "0123456789abcdef") == ""
}

func isNumber(s string) bool {
	n, err := strconv.ParseUint(s, 10, 32)
	return err == nil && n > 0 && n <= maxNumber && s[0] != '0' && s[0] != '+'
}

func parseNumber(s string) uint32 {
	n, _ := strconv.ParseUint(s, 10, 32) // isNumber was true
	return uint32(n)
}

func (f *fields) number() uint32 {
	return parseNumber(f.checked("a number from 1 to 2147483647", isNumber))
}

func (f *fields) pair() (net, number uint32) {
	w := f.checked("a net's number, a dot and a number", func(s string) bool {
		a, b, _ := strings.Cut(s, ".")
		return isNumber(a) && isNumber(b)
	})
	a, b, _ := strings.Cut(w, ".")
	return parseNumber(a), parseNumber(b)
}

func (f *fields) quoted() string {
	if f.wrong != "" {
		return ""
	}
	if !strings.HasPrefix(f.rest, `"`) {
		f.fail("no quoted text; expected one in double quotes")
		return ""
	}
	q, err := strconv.QuotedPrefix(f.rest)
	if err != nil {
		f.fail("a quoted text that does not end or has a wrong escape; expected one as Go writes it")
		return ""
	}
	f.skip(len(q))
	s, _ := strconv.Unquote(q) // QuotedPrefix has checked it
	return s
}

func (f *fields) optional(word string) bool {
	if f.wrong == "" && f.rest == word {
		f.skip(len(word))
		return true
	}
	return false
}

func (f *fields) end() {
	if f.rest != "" {
		f.fail("%q; expected the end of the line", cut(f.rest, 40))
	}
}

// Text returns the lock in the form that ParseLock reads, net by net, with the places,
// transitions and revisions of each.
func (l *Lock) Text() []byte {
	var b bytes.Buffer
	if len(l.comments) == 0 {
		b.WriteString(lockHeader)
	}
	for _, c := range l.comments {
		b.WriteString(c + "\n")
	}
	for _, n := range l.Nets() {
		writeNet(&b, n)
	}
	return b.Bytes()
}

func writeNet(b *bytes.Buffer, n *LockedNet) {
	fmt.Fprintf(b, "net %d %s %s %s\n", n.Number, strconv.Quote(n.ID), n.Module, n.Descriptor)
	if n.Prefix != "" {
		fmt.Fprintf(b, "prefix %d %s\n", n.Number, n.Prefix)
	}
	if n.level != "" {
		fmt.Fprintf(b, "objects %d %s\n", n.Number, n.level)
	}
	writeLocked(b, "place", n.Number, n.Places())
	writeLocked(b, "transition", n.Number, n.Transitions())
	for _, r := range n.revisions {
		fmt.Fprintf(b, "revision %d %s %s %s\n", n.Number, r.date, r.digest, strconv.Quote(r.text))
	}
}

func writeLocked(b *bytes.Buffer, kind string, net uint32, all []*Locked) {
	for _, e := range all {
		fmt.Fprintf(b, "%s %d.%d %s %s", kind, net, e.Number, strconv.Quote(e.ID), e.Descriptor)
		if e.Obsolete {
			b.WriteString(" obsolete")
		}
		b.WriteByte('\n')
	}
}
