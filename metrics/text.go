// SPDX-License-Identifier: Apache-2.0

package metrics

import (
	"slices"
	"strconv"
	"strings"

	dto "github.com/prometheus/client_model/go"
	"google.golang.org/protobuf/types/known/timestamppb"

	"github.com/pnagent/pnagent/stats"
)

// textForm writes families as text, octet for octet as package expfmt writes their messages,
// in a tenth of the time. What a series begins with, its name and labels, is kept between
// scrapes, and so is the text of a family of rows that have not changed.
//
// It relies on what Families promises: names need no quotes, names of counters end with
// _total, and histograms have labels.
type textForm struct {
	open    bool                  // OpenMetrics
	created bool                  // with _created lines
	heads   [][]byte              // by family: the lines HELP and TYPE
	bounds  [numBounds + 1][]byte // the label of each classic bucket, as it follows others, and its end

	buf    []byte // what is written
	start  int    // of the family in buf
	headed int    // end of its head
	before int    // end of buf before the last reading
	number int    // of the family
	name   string // of the family
	block  *textBlock
}

// The texts are escaped as in expfmt: those of a label, and those of a help line without
// OpenMetrics.
var (
	quoted   = strings.NewReplacer("\\", `\\`, "\n", `\n`, "\"", `\"`)
	unquoted = strings.NewReplacer("\\", `\\`, "\n", `\n`)
)

func newTextForm(families []Family, open, created bool) *textForm {
	t := &textForm{open: open, created: created && open}
	for i := range families {
		f := &families[i]
		name, help := f.Name, unquoted.Replace(f.Help)
		if open {
			help = quoted.Replace(f.Help)
			if f.Type == Counter {
				name = strings.TrimSuffix(name, "_total")
			}
		}
		t.heads = append(t.heads, []byte("# HELP "+name+" "+help+"\n# TYPE "+name+" "+f.Type.String()+"\n"))
	}
	for b, bucket := range newHistogram().Bucket[:numBounds+1] {
		t.bounds[b] = append(t.appendValue([]byte(`,le="`), bucket.GetUpperBound()), `"} `...)
	}
	return t
}

func (t *textForm) begin(family int) {
	t.number, t.start = family, len(t.buf)
	t.buf = append(t.buf, t.heads[family]...)
	t.headed = len(t.buf)
}

func (t *textForm) end() {
	if len(t.buf) == t.headed {
		t.buf = t.buf[:t.start]
	}
}

// read writes the text of the last reading again if it cannot have changed.
func (t *textForm) read(s *scrape, n *netSeries, f *Family) int {
	open := 0
	if t.open {
		open = 1
	}
	if n.text[open] == nil {
		n.text[open] = make([]textBlock, len(t.heads))
	}
	b := &n.text[open][t.number]
	t.before, t.name, t.block = len(t.buf), f.Name, b
	lasting := f.scope == ofRows && !f.ages
	if lasting && b.kept != nil && b.version == n.version {
		t.buf = append(t.buf, b.kept...)
		return b.n
	}
	b.n = 0
	s.readFamily(f)
	b.kept = nil
	if lasting && b.version == n.version { // a net that changes from scrape to scrape keeps nothing
		b.kept = slices.Clone(t.buf[t.before:])
	}
	b.version = n.version
	return b.n
}

func (t *textForm) drop() { t.buf = t.buf[:t.before] }

// sample writes a series of a gauge or counter family.
func (t *textForm) sample(value float64, since *timestamppb.Timestamp, labels []*dto.LabelPair) {
	series := t.block.next(t.name, labels)
	t.buf = append(t.buf, series...)
	if t.open {
		t.buf = append(appendOpen(t.buf, value), '\n')
	} else {
		t.buf = append(appendFloat(t.buf, value), '\n')
	}
	if t.created && since != nil {
		if name, is := strings.CutSuffix(t.name, "_total"); is {
			t.writeCreated(name, series, since)
		}
	}
}

// writeCreated writes the time since when a counter or a histogram counts.
func (t *textForm) writeCreated(name string, series []byte, since *timestamppb.Timestamp) {
	t.line(name, "_created", series)
	t.buf = append(t.appendValue(t.buf, unix(since.GetSeconds()*1e9+int64(since.GetNanos()))), '\n')
}

// line begins a line of a series that has another name than the family.
func (t *textForm) line(name, suffix string, series []byte) {
	t.buf = append(append(append(t.buf, name...), suffix...), series[len(t.name):]...)
}

// unix returns nanoseconds in seconds.
func unix(nanos int64) float64 { return float64(nanos) / 1e9 }

// histogram writes a series of a histogram family: its classic buckets, and in OpenMetrics
// the slowest instance as an exemplar.
func (t *textForm) histogram(h *stats.Histogram, slowest *stats.Slowest, since *timestamppb.Timestamp, labels []*dto.LabelPair) {
	series := t.block.next(t.name, labels)
	within, count := classic(h)
	took := seconds(slowest.Micros)
	marked := !t.open || slowest.At == 0 // whether the exemplar is written
	for b := range t.bounds {
		n := count
		if b < numBounds {
			n = within[b]
		}
		t.line(t.name, "_bucket", series[:len(series)-len("} ")])
		t.buf = t.appendCount(append(t.buf, t.bounds[b]...), n)
		if !marked && (b == numBounds || took <= bound(b)) {
			marked = true
			t.writeExemplar(slowest)
		}
		t.buf = append(t.buf, '\n')
	}
	t.line(t.name, "_sum", series)
	t.buf = append(t.appendValue(t.buf, seconds(h.Sum)), '\n')
	t.line(t.name, "_count", series)
	t.buf = append(t.appendCount(t.buf, count), '\n')
	if since != nil && t.created {
		t.writeCreated(t.name, series, since)
	}
}

func (t *textForm) writeExemplar(s *stats.Slowest) {
	t.buf = append(t.buf, " # {"+ExemplarLabel+`="`...)
	t.buf = append(t.buf, quoted.Replace(exemplarName(s.Instance))...)
	t.buf = t.appendValue(append(t.buf, `"} `...), seconds(s.Micros))
	t.buf = t.appendValue(append(t.buf, ' '), unix(s.At*1e3))
}

// appendCount appends a number of a histogram.
func (t *textForm) appendCount(dst []byte, n uint64) []byte {
	if t.open {
		return strconv.AppendUint(dst, n, 10)
	}
	return t.appendValue(dst, float64(n))
}

// appendValue appends a number as the format has it.
func (t *textForm) appendValue(dst []byte, f float64) []byte {
	if t.open {
		return appendOpen(dst, f)
	}
	return appendFloat(dst, f)
}

// textBlock is what is kept of one family of one net.
type textBlock struct {
	labels  []*dto.LabelPair // of each series, one after the other
	series  []byte           // what each series begins with: its name, its labels and a space
	ends    []int            // where each ends in series
	n       int              // series of the last reading
	kept    []byte           // the text of the last two readings, if it was the same; else nil
	version uint64           // netSeries.version of the last reading
}

// next returns what the next series begins with. All series of a family have the same number
// of labels.
func (b *textBlock) next(name string, labels []*dto.LabelPair) []byte {
	i, start := b.n, 0
	b.n++
	if i > 0 {
		start = b.ends[i-1]
	}
	if i < len(b.ends) && same(b.labels[i*len(labels):], labels) {
		return b.series[start:b.ends[i]]
	}
	return b.add(i, start, name, labels)
}

// same reports whether the kept labels begin with these ones.
func same(kept, labels []*dto.LabelPair) bool {
	return slices.Equal(kept[:len(labels)], labels)
}

// add makes what the i-th series begins with, at start, and forgets those from there on.
func (b *textBlock) add(i, start int, name string, labels []*dto.LabelPair) []byte {
	b.labels = append(b.labels[:i*len(labels)], labels...)
	b.series = append(b.series[:start], name...)
	separator := byte('{')
	for _, l := range labels {
		b.series = append(append(append(b.series, separator), l.GetName()...), `="`...)
		b.series = append(append(b.series, quoted.Replace(l.GetValue())...), '"')
		separator = ','
	}
	if len(labels) > 0 {
		b.series = append(b.series, '}')
	}
	b.series = append(b.series, ' ')
	b.ends = append(b.ends[:i], len(b.series))
	return b.series[start:]
}
