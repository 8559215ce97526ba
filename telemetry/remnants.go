// SPDX-License-Identifier: Apache-2.0

package telemetry

import (
	"fmt"

	"google.golang.org/protobuf/encoding/protowire"

	"github.com/pnagent/pnagent/stats"
)

// Remnants are what a process that publishes sums over other sources knows of those that do
// not report what they last held.
type Remnants struct {
	Lost    []Remnant
	Answers []Answer
}

// Remnant is what a source last held and does not report any more: nothing says that it is over.
type Remnant struct {
	// Path has the names of the processes below the one that publishes which lead to the
	// source, and its own. It is empty for further sources, which may have held any row.
	Path        []string
	Region      string   // that the source had; "" for none
	Left        int64    // when it left the sums; 0: it is in them, and grows old
	SilentSince int64    // 0: messages of the source arrive
	Places      []uint32 // that held tokens, strictly rising; nil if Left is 0
	Enabled     []uint32 // transitions, likewise
	Fired       []uint32 // transitions that have fired or are to, strictly rising
	Deadlocked  bool     // instances of it were; false if Left is 0
}

// Answer is a source that came back, or said goodbye, in the last minutes.
type Answer struct {
	Path    []string
	Region  string
	Bye     bool
	Columns stats.Columns // of those in answerColumns
}

// answerColumns are the columns that an Answer may have, in the order of its fields.
var answerColumns = [...]stats.Columns{stats.ColOldest, stats.ColEnabled | stats.ColLastFiring, stats.ColInstances, stats.ColFirings, stats.ColFailures}

// fieldRemnants is the field of a snapshot with the remnants.
const fieldRemnants = 21

// readRemnants sets the remnants.
func (d *Decoder) readRemnants(f *field, into *Snapshot) error {
	into.Remnants = nil
	if !f.set {
		return nil
	}
	lost, answers := &f.fields[1], &f.fields[2]
	if n := len(lost.parts) + len(answers.parts); n > MaxRemnants {
		return fmt.Errorf("%w: %d, of at most %d", TooMany, n, MaxRemnants)
	}
	r := &Remnants{}
	for _, b := range lost.parts {
		one, err := d.readLost(lost.fields, b)
		if err != nil {
			return err
		}
		r.Lost = append(r.Lost, one)
	}
	for _, b := range answers.parts {
		one, err := d.readAnswer(answers.fields, b)
		if err != nil {
			return err
		}
		r.Answers = append(r.Answers, one)
	}
	into.Remnants = r
	return nil
}

func (d *Decoder) readLost(f fields, b []byte) (Remnant, error) {
	err := f.read(b, outer)
	if err != nil {
		return Remnant{}, err
	}
	one := Remnant{Path: d.path(&f[1]), Region: d.name(&f[2]), Left: int64(f[3].number), SilentSince: int64(f[4].number),
		Places: d.indices(&f[5]), Enabled: d.indices(&f[6]), Fired: d.indices(&f[7]), Deadlocked: f[8].number != 0}
	return one, one.check()
}

func (d *Decoder) readAnswer(f fields, b []byte) (Answer, error) {
	err := f.read(b, outer)
	if err != nil {
		return Answer{}, err
	}
	one := Answer{Path: d.path(&f[1]), Region: d.name(&f[2]), Bye: f[3].number != 0}
	for i, columns := range answerColumns {
		if f[4+i].number != 0 {
			one.Columns |= columns
		}
	}
	if len(one.Path) == 0 {
		return one, fmt.Errorf("%w: an answer without a path", BadName)
	}
	return one, checkPath(one.Path, one.Region)
}

func (d *Decoder) path(list *field) (path []string) {
	for _, name := range list.parts {
		path = append(path, d.shared(name))
	}
	return path
}

// indices returns a column in memory of its own.
func (d *Decoder) indices(f *field) (index []uint32) {
	for _, v := range d.unpacked(0, f) {
		index = append(index, uint32(v))
	}
	return index
}

func checkPath(path []string, region string) error {
	if len(path) > MaxPath {
		return fmt.Errorf("%w: a path of %d names, of at most %d", TooMany, len(path), MaxPath)
	}
	for _, name := range path {
		if err := CheckName(name); err != nil {
			return err
		}
	}
	return checkText(region, MaxName)
}

func (r *Remnant) check() error {
	for _, index := range [...][]uint32{r.Places, r.Enabled, r.Fired} {
		for i, x := range index {
			if x >= MaxRows || i > 0 && x <= index[i-1] {
				return fmt.Errorf("%w: row %d at %d: indices rise and are below %d", BadIndex, x, i, MaxRows)
			}
		}
	}
	switch {
	case r.Left < 0 || r.Left > MaxTime || r.SilentSince < 0 || r.SilentSince > MaxTime:
		return fmt.Errorf("%w: left at %d, silent since %d", BadValue, r.Left, r.SilentSince)
	case r.Left == 0 && (len(r.Places)+len(r.Enabled) > 0 || r.Deadlocked):
		return fmt.Errorf("%w: tokens, enabled transitions or deadlocks of a source that did not leave the sums", BadValue)
	}
	return checkPath(r.Path, r.Region)
}

func (e *Encoder) appendRemnants(b []byte, r *Remnants) []byte {
	if r == nil {
		return b
	}
	b, start := beginField(b, fieldRemnants)
	for i := range r.Lost {
		b = e.appendLost(b, &r.Lost[i])
	}
	for i := range r.Answers {
		b = e.appendAnswer(b, &r.Answers[i])
	}
	return endField(b, start)
}

func (e *Encoder) appendLost(b []byte, l *Remnant) []byte {
	b, start := beginField(b, 1)
	for _, name := range l.Path {
		b = e.name(b, 1, name)
	}
	b = e.text(b, 2, l.Region)
	b = appendNumber(b, 3, l.Left)
	b = appendNumber(b, 4, l.SilentSince)
	b = appendIndex(b, 5, l.Places)
	b = appendIndex(b, 6, l.Enabled)
	b = appendIndex(b, 7, l.Fired)
	return endField(appendTrue(b, 8, l.Deadlocked), start)
}

func (e *Encoder) appendAnswer(b []byte, a *Answer) []byte {
	b, start := beginField(b, 2)
	for _, name := range a.Path {
		b = e.name(b, 1, name)
	}
	b = e.text(b, 2, a.Region)
	b = appendTrue(b, 3, a.Bye)
	for i, columns := range answerColumns {
		b = appendTrue(b, protowire.Number(4+i), a.Columns.Has(columns))
	}
	return endField(b, start)
}

// appendIndex appends a column of indices of rows.
func appendIndex(b []byte, num protowire.Number, index []uint32) []byte {
	if len(index) == 0 {
		return b
	}
	b, start := beginField(b, num)
	for _, row := range index {
		b = appendVarint(b, uint64(row))
	}
	return endField(b, start)
}
