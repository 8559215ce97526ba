// SPDX-License-Identifier: Apache-2.0

package bpmn

import (
	"errors"
	"io"
	"strings"
	"testing"

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

// BenchmarkScan reads only the XML tokens; it is the base of BenchmarkRead.
func BenchmarkScan(b *testing.B) {
	text := line(1000)
	b.SetBytes(int64(len(text)))
	for b.Loop() {
		s := xmlscan.New(strings.NewReader(text), "f", xmlscan.Limits{Bytes: 1 << 30, Token: 1 << 20, Depth: 200})
		var err error
		for err == nil {
			_, err = s.Next()
		}
		if !errors.Is(err, io.EOF) {
			b.Fatal(err)
		}
	}
}

// BenchmarkRead reads the same text as a net.
func BenchmarkRead(b *testing.B) {
	text := line(1000)
	b.SetBytes(int64(len(text)))
	for b.Loop() {
		if _, err := Read(strings.NewReader(text), "f", Limits{}); err != nil {
			b.Fatal(err)
		}
	}
}
