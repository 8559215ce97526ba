// SPDX-License-Identifier: Apache-2.0

package bpmn

import (
	"encoding/xml"
	"errors"
	"io"
	"strings"
	"testing"
	"time"

	"github.com/pnagent/pnagent/petri/xmlscan"
)

// line returns a process of n user tasks in sequence.
func line(n int) string {
	var b strings.Builder
	b.WriteString(`<startEvent id="t0"/>`)
	for i := range n {
		from, to := "t"+itoa(i), "t"+itoa(i+1)
		b.WriteString(`<userTask id="` + to + `" name="Task"><incoming>f` + itoa(i) + `</incoming></userTask><sequenceFlow id="f` + itoa(i) + `" sourceRef="` + from + `" targetRef="` + to + `"/>`)
	}
	return process(b.String())
}

// BenchmarkRead reads such a process. Its bases are the tokens alone of the same bytes, as
// the scanner and as encoding/xml read them. In turn with both it reports how fast it is
// for them, which other load on the machine does not change.
func BenchmarkRead(b *testing.B) {
	text := line(1000)
	works := []struct {
		name string
		do   func() error
	}{
		{"base: encoding-xml", func() error {
			dec := xml.NewDecoder(strings.NewReader(text))
			return allOf(func() error { _, err := dec.Token(); return err })
		}},
		{"base: tokens only", func() error {
			s := xmlscan.New(strings.NewReader(text), "f", xmlscan.Limits{Bytes: 1 << 30, Token: 1 << 20, Depth: 200})
			return allOf(func() error { _, err := s.Next(); return err })
		}},
		{"Read", func() error {
			_, err := Read(strings.NewReader(text), "f", Limits{})
			return err
		}},
	}
	for _, work := range works {
		b.Run(work.name, func(b *testing.B) {
			b.SetBytes(int64(len(text)))
			b.ReportAllocs()
			for b.Loop() {
				if err := work.do(); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
	b.Run("in turn", func(b *testing.B) {
		var took [3]time.Duration
		for b.Loop() {
			for i, work := range works {
				begin := time.Now()
				if err := work.do(); err != nil {
					b.Fatal(err)
				}
				took[i] += time.Since(begin)
			}
		}
		b.ReportMetric(float64(took[0])/float64(took[2]), "of-encoding-xml")
		b.ReportMetric(float64(took[1])/float64(took[2]), "of-tokens-only")
	})
}

// allOf calls next until io.EOF.
func allOf(next func() error) error {
	for {
		err := next()
		if errors.Is(err, io.EOF) {
			return nil
		}
		if err != nil {
			return err
		}
	}
}
