// SPDX-License-Identifier: Apache-2.0

package top

import (
	"bytes"
	"encoding/json"
	"fmt"
	"testing"

	"github.com/pnagent/pnagent/web/api"
)

// large returns a View of 100 nets with 100 places each.
func large(second int) *api.View {
	v := scripted(second)
	line := v.Nets[0]
	v.Nets = nil
	for i := range 100 {
		n := line
		n.ID, n.Places = fmt.Sprint("net", i), nil
		for j := range 100 {
			p := line.Places[j%len(line.Places)]
			p.ID = fmt.Sprint("place", j)
			n.Places = append(n.Places, p)
		}
		v.Nets = append(v.Nets, n)
	}
	return v
}

// BenchmarkReceiveAndDraw takes a View of 10,000 places a second and draws twice.
// Its base is BenchmarkDecode, what reading that View costs anyway.
func BenchmarkReceiveAndDraw(b *testing.B) {
	m := New(Options{Tab: Places, Now: begun()})
	views := []*api.View{large(0), large(1), large(2), large(3)}
	for i := 0; b.Loop(); i++ {
		m.Update(views[i%len(views)], nil, begun())
		_ = m.Frame()
		_ = m.Frame()
	}
}

func BenchmarkDecode(b *testing.B) {
	text, err := json.Marshal(large(0))
	if err != nil {
		b.Fatal(err)
	}
	b.SetBytes(int64(len(text)))
	for b.Loop() {
		if _, err := api.Decode[api.View](bytes.NewReader(text)); err != nil {
			b.Fatal(err)
		}
	}
}
