// SPDX-License-Identifier: Apache-2.0

package telemetry

import (
	"cmp"
	"fmt"
	"net/url"
	"slices"
	"strings"
)

// DefaultPrefix is the subject space that engines use by default. A collector
// that publishes its sums as a source uses another one.
const DefaultPrefix = "petrinet.v1"

// Subjects are the subject names of one subject space; the zero value is that of DefaultPrefix.
type Subjects struct {
	prefix string
}

// NewSubjects returns the subjects below a prefix: one or more tokens of
// [A-Za-z0-9_-] with dots between.
func NewSubjects(prefix string) (Subjects, error) {
	for token := range strings.SplitSeq(prefix, ".") {
		if token == "" || strings.ContainsFunc(token, func(r rune) bool { return r > 0x7f || !plain(byte(r)) }) {
			return Subjects{}, fmt.Errorf("subject prefix %q: every token must be one or more of A-Z a-z 0-9 _ -", prefix)
		}
	}
	return Subjects{prefix: prefix}, nil
}

// Prefix returns the beginning of every subject, without the dot.
func (s Subjects) Prefix() string { return cmp.Or(s.prefix, DefaultPrefix) }

func (s Subjects) join(kind, a, b string) string {
	return s.Prefix() + "." + kind + "." + a + "." + b
}

// Snapshot is where a source publishes the rows of a net.
func (s Subjects) Snapshot(net, source string) string {
	return s.join("snapshot", Escape(net), Escape(source))
}

// Snapshots matches every Snapshot subject.
func (s Subjects) Snapshots() string { return s.join("snapshot", "*", "*") }

// Bye is where a source publishes its last snapshot of a net.
func (s Subjects) Bye(net, source string) string { return s.join("bye", Escape(net), Escape(source)) }

// Byes matches every Bye subject.
func (s Subjects) Byes() string { return s.join("bye", "*", "*") }

// Hello is where a collector asks every source for full snapshots of all its
// nets. The message is empty, or a Pace that asks for something else.
func (s Subjects) Hello() string { return s.Prefix() + ".hello" }

// Full is where a collector asks one source for a full snapshot of one net.
// The message is empty; the answer comes on the Snapshot subject.
func (s Subjects) Full(net, source string) string { return s.join("full", Escape(net), Escape(source)) }

// Definition is where a net's definition is requested.
func (s Subjects) Definition(net, digest string) string {
	return s.join("net", Escape(net), Escape(digest))
}

// Instances is where the oldest tokens of a place of a source are requested.
func (s Subjects) Instances(net, source string) string {
	return s.join("instances", Escape(net), Escape(source))
}

// Notice is where a collector reports, as a JSON Notice, that it rejects messages of a source.
func (s Subjects) Notice(net, source string) string {
	return s.join("notice", Escape(net), Escape(source))
}

// Notices matches every Notice subject.
func (s Subjects) Notices() string { return s.join("notice", "*", "*") }

// Sidecars is where the sidecars of a group send each other heartbeats. See package standby.
func (s Subjects) Sidecars(group string) string { return s.Prefix() + ".sidecars." + Escape(group) }

// ParseSnapshot returns the net and the source that a Snapshot or Bye subject
// names. The error is BadSubject.
func (s Subjects) ParseSnapshot(subject string) (net, source string, err error) {
	return s.parse(subject, "a snapshot's", "snapshot", "bye")
}

// ParseNotice returns the net and the source that a Notice subject names. The
// error is BadSubject.
func (s Subjects) ParseNotice(subject string) (net, source string, err error) {
	return s.parse(subject, "a notice's", "notice")
}

func (s Subjects) parse(subject, what string, kinds ...string) (net, source string, err error) {
	rest, ok := strings.CutPrefix(subject, s.Prefix()+".")
	kind, rest, _ := strings.Cut(rest, ".")
	a, b, two := strings.Cut(rest, ".")
	if !ok || !two || !slices.Contains(kinds, kind) {
		return "", "", fmt.Errorf("%w: %q is not %s", BadSubject, subject, what)
	}
	if net, err = Unescape(a); err != nil {
		return "", "", fmt.Errorf("net in %q: %w", subject, err)
	}
	if source, err = Unescape(b); err != nil {
		return "", "", fmt.Errorf("source in %q: %w", subject, err)
	}
	return net, source, nil
}

// Escape returns a name as one subject token: A-Z a-z 0-9 _ - stand for
// themselves, every other byte is =XX in upper-case hex, and the empty name is
// a single =. Different names give different tokens. A token has at most three
// times the bytes of its name.
func Escape(name string) string {
	return string(appendEscaped(make([]byte, 0, len(name)+8), name))
}

func appendEscaped(dst []byte, name string) []byte {
	if name == "" {
		return append(dst, '=')
	}
	const digits = "0123456789ABCDEF"
	for i := range len(name) {
		if c := name[i]; plain(c) {
			dst = append(dst, c)
		} else {
			dst = append(dst, '=', digits[c>>4], digits[c&15])
		}
	}
	return dst
}

// Unescape is the inverse of Escape for names of up to MaxName bytes. The error
// is BadSubject for a token that Escape does not return.
func Unescape(token string) (string, error) {
	if token == "=" {
		return "", nil
	}
	name, err := url.PathUnescape(strings.ReplaceAll(token, "=", "%"))
	if err != nil || len(name) > MaxName || Escape(name) != token {
		return "", fmt.Errorf("%w: %.100q is not an escaped name of at most %d bytes", BadSubject, token, MaxName)
	}
	return name, nil
}

// plain reports whether a byte stands for itself in a token.
func plain(c byte) bool {
	return c >= 'A' && c <= 'Z' || c >= 'a' && c <= 'z' || c >= '0' && c <= '9' || c == '_' || c == '-'
}
