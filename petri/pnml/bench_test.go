// SPDX-License-Identifier: Apache-2.0

package pnml

import (
	"bytes"
	"encoding/xml"
	"errors"
	"io"
	"testing"
)

// BenchmarkRead reads an ordinary file of 5 MB. Its base is the XML decoder
// alone over the same bytes; memory is stated per byte of the file.
func BenchmarkRead(b *testing.B) {
	file, err := io.ReadAll(ordinary(9_000))
	if err != nil {
		b.Fatal(err)
	}
	b.Run("base: tokens only", func(b *testing.B) {
		b.SetBytes(int64(len(file)))
		b.ReportAllocs()
		for b.Loop() {
			dec := xml.NewDecoder(bytes.NewReader(file))
			for {
				if _, err := dec.Token(); errors.Is(err, io.EOF) {
					break
				} else if err != nil {
					b.Fatal(err)
				}
			}
		}
	})
	b.Run("Read", func(b *testing.B) {
		b.SetBytes(int64(len(file)))
		b.ReportAllocs()
		for b.Loop() {
			if _, err := Read(bytes.NewReader(file), "f", Limits{}); err != nil {
				b.Fatal(err)
			}
		}
	})
	f, err := Read(bytes.NewReader(file), "f", Limits{})
	if err != nil {
		b.Fatal(err)
	}
	b.Run("Write", func(b *testing.B) {
		b.SetBytes(int64(len(file)))
		b.ReportAllocs()
		for b.Loop() {
			if err := Write(io.Discard, f.Nets[0]); err != nil {
				b.Fatal(err)
			}
		}
	})
}
