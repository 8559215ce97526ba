// SPDX-License-Identifier: Apache-2.0

package coloured

import (
	"reflect"
	"testing"

	"github.com/pnagent/pnagent/engine/internal/shard"
)

// What is written is read again, field by field, and no more of the text is read than that.
func TestOperationsAreReadAsTheyWereWritten(t *testing.T) {
	token := func(id uint64, data string) Placed {
		return Placed{Place: 1, Token: Token{ID: id, Injected: 7, Data: []byte(data)}}
	}
	at := held{lot{id: 3, data: []byte("x"), n: 2}, spot{1, 4}}
	for _, want := range []op{
		{kind: opInject, held: at},
		{kind: opInject, held: held{lot{id: 3, n: 2}, spot{1, 4}}},
		{kind: opRest, rest: failed},
		{kind: opLate, transition: 2},
		{kind: opStart, flag: true, held: held{lot: lot{id: 9}}, run: &run{transition: 2, frame: 4, since: 8, era: 6, attempt: 2, contested: true, data: []byte{},
			taken: []Placed{{Place: 1, Token: Token{ID: 5}}}, read: []Placed{token(6, "a"), token(7, "")}}},
		{kind: opEnd, transition: 2, flag: true, held: held{lot: lot{id: 9}}},
		{kind: opOpen, scope: 1, up: 3, turn: 3, flag: true, held: held{spot: spot{frame: 4}}},
		{kind: opClock, transition: 2, time: 5, due: 6, held: held{lot{id: 1<<64 - 1}, spot{frame: 4}}},
		{kind: opLoop, scope: 1, begun: 3, ended: 2, texts: [][]byte{[]byte("1"), nil}, held: held{lot{n: 3, data: []byte("[1,2]")}, spot{frame: 4}}},
		{kind: opOver, flag: true, held: held{spot: spot{frame: 4}}},
		{kind: opOwn, held: held{lot{data: []byte("{}")}, spot{frame: 4}}},
		{kind: opAfresh},
		{kind: opIs, turn: 2, rest: finished, order: []uint16{5, 4}, held: held{lot{id: 9, n: 8}, spot{frame: 4}}},
		{kind: opPile, held: held{spot: spot{1, 4}}, lots: []lot{{id: 3, injected: 7, n: 2}, {id: 9, injected: 7, data: []byte("x"), n: 1}}},
	} {
		c := codec{rules: 3, places: 2, scopes: 2, orders: 2, turns: 3, scoped: true}
		want.number = 300
		written := want
		c.op(&written)
		for cut := range len(c.text) { // it ends too early everywhere
			r := c
			r.from = &shard.Reader{Left: c.text[:cut]}
			r.op(&op{})
			if r.from.Err == nil {
				t.Errorf("kind %d: %d of %d bytes are enough", want.kind, cut, len(c.text))
			}
		}
		c.from = &shard.Reader{Left: append(c.text, "rest"...)}
		got := op{}
		c.op(&got)
		if c.from.Err != nil || string(c.from.Left) != "rest" || !reflect.DeepEqual(got, want) {
			t.Errorf("kind %d: %+v, %v, left %q; want %+v", want.kind, got, c.from.Err, c.from.Left, want)
		}
	}
}
