// SPDX-License-Identifier: Apache-2.0

package dipen

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"strconv"
	"strings"

	"github.com/pnagent/pnagent/attach/dipen/replica"
	"github.com/pnagent/pnagent/internal/atomicfile"
)

// journal is a text file for the data that etcd does not keep. Its lines are:
//
//	pnagent-dipen 1 CLUSTER "PREFIX"
//	mark REVISION AT SINCE
//	published REVISION EPOCH
//
// Lines are appended without waiting for the disk; a line cut off by a crash is
// skipped. When there are many lines, the file is replaced by one with the
// lines that are still needed. A nil journal stores nothing.
type journal struct {
	path  string
	file  *os.File
	lines int
}

const (
	journalWord = "pnagent-dipen 1"
	maxJournal  = 256 << 20 // bytes that are read
)

// kept is the content of a journal.
type kept struct {
	cluster   string
	prefix    string
	marks     []replica.Mark
	published int64 // revision; 0 for none
	epoch     int64
	bad       int // invalid lines
}

// readJournal reads a journal; a missing file is an empty one.
func readJournal(path string) (kept, error) {
	f, err := os.Open(path)
	if errors.Is(err, fs.ErrNotExist) {
		return kept{}, nil
	}
	if err != nil {
		return kept{}, fmt.Errorf("reading the state: %w", err)
	}
	defer f.Close()
	k, err := parseJournal(io.LimitReader(f, maxJournal))
	if err != nil {
		return k, fmt.Errorf("reading the state %s: %w", path, err)
	}
	return k, nil
}

// parseJournal parses a journal. An invalid first line is an error, since the
// file may be of another program; other invalid lines are counted.
func parseJournal(r io.Reader) (kept, error) {
	var k kept
	s := bufio.NewScanner(r)
	for first := true; s.Scan(); first = false {
		switch line := s.Text(); {
		case first:
			rest, ok := strings.CutPrefix(line, journalWord+" ")
			cluster, prefix, found := strings.Cut(rest, " ")
			p, err := strconv.Unquote(prefix)
			if !ok || !found || err != nil {
				return k, fmt.Errorf("line 1 is %.80q; expected %q, a cluster's id and a prefix", line, journalWord)
			}
			k.cluster, k.prefix = cluster, p
		default:
			if !k.line(line) {
				k.bad++
			}
		}
	}
	if err := s.Err(); errors.Is(err, bufio.ErrTooLong) {
		k.bad++
	} else if err != nil {
		return k, err
	}
	return k, nil
}

func (k *kept) line(text string) bool {
	words := strings.Split(text, " ")
	var n [3]int64
	if len(words) < 2 || len(words) > 4 {
		return false
	}
	for i, w := range words[1:] {
		v, err := strconv.ParseInt(w, 10, 64)
		if err != nil || v < 0 {
			return false
		}
		n[i] = v
	}
	switch {
	case words[0] == "mark" && len(words) == 4:
		k.marks = append(k.marks, replica.Mark{Revision: n[0], At: n[1], Since: n[2]})
	case words[0] == "published" && len(words) == 3 && n[0] > 0:
		k.published, k.epoch = n[0], max(n[1], k.epoch)
	default:
		return false
	}
	return true
}

func markLine(m replica.Mark) string {
	return fmt.Sprintf("mark %d %d %d\n", m.Revision, m.At, m.Since)
}

func publishedLine(revision, epoch int64) string {
	return fmt.Sprintf("published %d %d\n", revision, epoch)
}

func (j *journal) append(line string) error {
	if j == nil || j.file == nil {
		return nil
	}
	j.lines++
	if _, err := j.file.WriteString(line); err != nil {
		return fmt.Errorf("writing the state: %w", err)
	}
	return nil
}

// full reports whether the journal should be rewritten with fewer lines.
func (j *journal) full(room int) bool { return j != nil && j.lines > 2*room }

// rewrite replaces the journal and opens it for further lines.
func (j *journal) rewrite(cluster, prefix string, marks []replica.Mark, published, epoch int64) error {
	if j == nil {
		return nil
	}
	text := fmt.Appendf(nil, "%s %s %q\n", journalWord, cluster, prefix)
	for _, m := range marks {
		text = append(text, markLine(m)...)
	}
	if published > 0 {
		text = append(text, publishedLine(published, epoch)...)
	}
	if err := atomicfile.Replace(j.path, text, 0o600); err != nil {
		return fmt.Errorf("writing the state: %w", err)
	}
	f, err := os.OpenFile(j.path, os.O_APPEND|os.O_WRONLY, 0)
	if err != nil {
		return fmt.Errorf("writing the state: %w", err)
	}
	if j.file != nil {
		_ = j.file.Close() // it is replaced
	}
	j.file, j.lines = f, len(marks)+1
	return nil
}

func (j *journal) close() error {
	if j == nil || j.file == nil {
		return nil
	}
	return j.file.Close()
}
