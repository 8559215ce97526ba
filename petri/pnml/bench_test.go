// SPDX-License-Identifier: Apache-2.0

package pnml

import (
	"bytes"
	"encoding/xml"
	"errors"
	"io"
	"testing"
	"time"

	"github.com/pnagent/pnagent/petri/xmlscan"
)

// BenchmarkRead reads an ordinary file of 5 MB. Its bases are the tokens alone of the same
// bytes, as the scanner and as encoding/xml read them. In turn with both it reports how
// fast it is for them, which other load on the machine does not change.
func BenchmarkRead(b *testing.B) {
	file, err := io.ReadAll(ordinary(9_000))
	if err != nil {
		b.Fatal(err)
	}
	works := []struct {
		name string
		do   func() error
	}{
		{"base: encoding-xml", func() error { return tokensOfXML(file) }},
		{"base: tokens only", func() error { return tokens(file) }},
		{"Read", func() error {
			_, err := Read(bytes.NewReader(file), "f", Limits{})
			return err
		}},
	}
	for _, work := range works {
		b.Run(work.name, func(b *testing.B) {
			b.SetBytes(int64(len(file)))
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

func tokens(file []byte) error {
	s := xmlscan.New(bytes.NewReader(file), "f", xmlscan.Limits{Bytes: 1 << 30, Token: 1 << 20, Depth: 200})
	for {
		_, err := s.Next()
		if errors.Is(err, io.EOF) {
			return nil
		}
		if err != nil {
			return err
		}
	}
}

func tokensOfXML(file []byte) error {
	dec := xml.NewDecoder(bytes.NewReader(file))
	for {
		_, err := dec.Token()
		if errors.Is(err, io.EOF) {
			return nil
		}
		if err != nil {
			return err
		}
	}
}

func BenchmarkWrite(b *testing.B) {
	f, err := Read(ordinary(9_000), "f", Limits{})
	if err != nil {
		b.Fatal(err)
	}
	b.ReportAllocs()
	for b.Loop() {
		if err := Write(io.Discard, f.Nets[0]); err != nil {
			b.Fatal(err)
		}
	}
}
