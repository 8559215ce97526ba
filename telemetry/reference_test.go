// SPDX-License-Identifier: Apache-2.0

package telemetry

import (
	"bytes"
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"google.golang.org/protobuf/encoding/protowire"
	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/reflect/protoreflect"
	"google.golang.org/protobuf/types/dynamicpb"

	"github.com/pnagent/pnagent/internal/seeds"
	"github.com/pnagent/pnagent/stats"
	"github.com/pnagent/pnagent/telemetry/wire"
)

// The slow obvious reference: messages of the protobuf library, by the definition of the wire.

// definitionOf returns the definition of a message of the wire.
func definitionOf(name protoreflect.Name) protoreflect.MessageDescriptor {
	return wire.Messages().ByName(name)
}

// values are the fields of a message that are there, by name: numbers as uint64, texts as
// string, lists as []any, messages as values.
type values map[string]any

// valuesOf returns what a message of the protobuf library holds.
func valuesOf(m protoreflect.Message) values {
	out := values{}
	m.Range(func(f protoreflect.FieldDescriptor, v protoreflect.Value) bool {
		if !f.IsList() {
			out[f.TextName()] = valueOf(f, v)
			return true
		}
		var list []any
		for i := range v.List().Len() {
			list = append(list, valueOf(f, v.List().Get(i)))
		}
		out[f.TextName()] = list
		return true
	})
	return out
}

func valueOf(f protoreflect.FieldDescriptor, v protoreflect.Value) any {
	switch f.Kind() {
	case protoreflect.MessageKind:
		return valuesOf(v.Message())
	case protoreflect.StringKind:
		return v.String()
	case protoreflect.BoolKind:
		return map[bool]uint64{true: 1}[v.Bool()]
	case protoreflect.EnumKind:
		return uint64(uint32(v.Enum()))
	case protoreflect.Uint32Kind, protoreflect.Uint64Kind:
		return v.Uint()
	}
	return uint64(v.Int())
}

// valuesOfFields returns what scan has read, cut to the types of the definition.
func valuesOfFields(t testing.TB, f fields, of protoreflect.MessageDescriptor) values {
	t.Helper()
	out := values{}
	for num := 1; num < len(f); num++ {
		at, d := &f[num], of.Fields().ByNumber(protowire.Number(num))
		var v any
		switch at.kind {
		case number:
			if n := cut(d, at.number); n != 0 || at.set && d.HasPresence() {
				v = n
			}
		case text:
			if len(at.bytes) > 0 {
				v = string(at.bytes)
			}
		case column:
			v = numbersOfColumn(t, at, d)
		case names:
			v = listOf(at.parts, func(b []byte) any { return string(b) })
		case list:
			v = listOf(at.parts, func(b []byte) any {
				if err := at.fields.read(b, outer); err != nil {
					t.Fatalf("%s: %v, but the whole was read", d.Name(), err)
				}
				return valuesOfFields(t, at.fields, d.Message())
			})
		case message:
			if at.set {
				v = valuesOfFields(t, at.fields, d.Message())
			}
		}
		if v != nil {
			out[d.TextName()] = v
		}
	}
	return out
}

func listOf(parts [][]byte, of func([]byte) any) any {
	if len(parts) == 0 {
		return nil
	}
	var list []any
	for _, b := range parts {
		list = append(list, of(b))
	}
	return list
}

func numbersOfColumn(t testing.TB, at *field, d protoreflect.FieldDescriptor) any {
	t.Helper()
	if at.count == 0 {
		return nil
	}
	var list []any
	into := make([]uint64, at.count)
	all, _ := readPacked(at.bytes, stripOf(into, func(v *uint64) *uint64 { return v }))
	want := uint64(0)
	for _, v := range into {
		want |= v
		list = append(list, cut(d, v))
	}
	if all != want {
		t.Fatalf("%s: bits %x, want %x", d.Name(), all, want)
	}
	return list
}

// cut returns a number of the bytes as a number of its type.
func cut(d protoreflect.FieldDescriptor, v uint64) uint64 {
	switch d.Kind() {
	case protoreflect.BoolKind:
		return min(v, 1)
	case protoreflect.EnumKind, protoreflect.Uint32Kind:
		return uint64(uint32(v))
	case protoreflect.Sint32Kind:
		return uint64(int64(zigzag32(v)))
	case protoreflect.Sint64Kind:
		return uint64(protowire.DecodeZigZag(v))
	}
	return v
}

// scan reads the same as the protobuf library, with one exception: texts that are
// not UTF-8 are rejected later.
func FuzzScan(f *testing.F) {
	addSeeds(f)
	f.Add(unpacked())
	of := definitionOf("Snapshot")
	other := remnantsGolden()
	dirty, err := new(Encoder).Append(nil, &other)
	if err != nil {
		f.Fatal(err)
	}
	f.Fuzz(func(t *testing.T, payload []byte) {
		got := snapshotFields()
		if err := got.scan(dirty, exact); err != nil { // data of the previous message must not remain
			t.Fatal(err)
		}
		got.reset()
		err := got.scan(payload, exact)
		lax := snapshotFields()
		if laxErr := lax.scan(payload, outer); err == nil && laxErr != nil {
			t.Fatalf("scan: %v, but all is valid", laxErr)
		}
		want := dynamicpb.NewMessage(of)
		wantErr := proto.UnmarshalOptions{DiscardUnknown: true}.Unmarshal(payload, want)
		if err == nil && wantErr != nil && strings.Contains(wantErr.Error(), "UTF-8") {
			return
		}
		if (err == nil) != (wantErr == nil) {
			t.Fatalf("scan: %v, reference: %v", err, wantErr)
		}
		if err != nil {
			return
		}
		if d := cmp.Diff(valuesOf(want), valuesOfFields(t, got, of)); d != "" {
			t.Fatalf("(-reference +got):\n%s", d)
		}
	})
}

// An encoder writes what the protobuf library writes of the same message, byte by byte.
func TestEncodeWritesAsTheLibraryDoes(t *testing.T) {
	var enc Encoder
	of := definitionOf("Snapshot")
	for i := range seeds.Of(20, 200, 84, 140) {
		r := rand.New(rand.NewPCG(4, i))
		s := snapshotOf(randomRows(r, now0, [2]int{1 + r.IntN(40), 1 + r.IntN(40)}))
		if i%2 == 0 {
			s = sparse(r, s)
		}
		if i%3 == 0 {
			s.Rows.Columns &= stats.Columns(r.Uint32()) | stats.ColTokens
		}
		if i%4 == 0 {
			s.Remnants = randomRemnants(r)
		}
		got, err := enc.Append([]byte("before"), &s)
		if err != nil {
			t.Fatal(err)
		}
		got = got[len("before"):]
		m := dynamicpb.NewMessage(of)
		if err := proto.Unmarshal(got, m); err != nil {
			t.Fatal(err)
		}
		want, err := proto.MarshalOptions{Deterministic: true}.Marshal(m)
		if err != nil {
			t.Fatal(err)
		}
		if len(m.GetUnknown()) > 0 || !bytes.Equal(want, got) {
			t.Fatalf("seed %d: %d bytes, the library writes %d", i, len(got), len(want))
		}
		checkRows(t, valuesOf(m), &s)
	}
}

// checkRows compares the numbers in a message with rows, by their names.
func checkRows(t testing.TB, m values, s *Snapshot) {
	t.Helper()
	checkTable(t, m["places"], stats.PlaceTable, s.Rows.Places, s.Rows.Columns)
	checkTable(t, m["transitions"], stats.TransitionTable, s.Rows.Transitions, s.Rows.Columns)
	if s.Rows.Columns.Has(stats.ColInstances) {
		checkRow(t, m["row"], stats.NetTable, &s.Rows.Net)
	}
	if queues, _ := m["queues"].([]any); s.Rows.Columns.Has(stats.ColQueues) {
		for i := range s.Rows.Queues {
			checkRow(t, queues[i], stats.QueueTable, &s.Rows.Queues[i])
		}
	}
}

func checkTable[R any](t testing.TB, message any, table *stats.Table[R], rows []R, given stats.Columns) {
	t.Helper()
	m, _ := message.(values)
	check := func(name string, column stats.Columns, of func(*R) uint64) {
		var want []any
		for i := range rows {
			want = append(want, of(&rows[i]))
		}
		got, _ := m[name].([]any)
		if !given.Has(column) {
			want = nil
		}
		if d := cmp.Diff(want, got); d != "" {
			t.Errorf("%s (-rows +message):\n%s", name, d)
		}
	}
	for _, c := range table.Counts {
		check(c.Name, c.Column, func(r *R) uint64 { return *c.Of(r) })
	}
	for _, m := range table.Moments {
		check(m.Name, m.Column, func(r *R) uint64 { return uint64(*m.Of(r)) })
	}
}

func checkRow[R any](t testing.TB, message any, table *stats.Table[R], r *R) {
	t.Helper()
	m, _ := message.(values)
	number := func(name string) uint64 {
		v, _ := m[name].(uint64)
		return v
	}
	for _, c := range table.Counts {
		if number(c.Name) != *c.Of(r) {
			t.Errorf("%s: %d in the row, %d in the message", c.Name, *c.Of(r), number(c.Name))
		}
	}
	for _, c := range table.Moments {
		if number(c.Name) != uint64(*c.Of(r)) {
			t.Errorf("%s: %d in the row, %d in the message", c.Name, *c.Of(r), number(c.Name))
		}
	}
}

// What a decoder reads into rows is what the library reads.
func TestDecodeReadsAsTheLibraryDoes(t *testing.T) {
	var enc Encoder
	var dec Decoder
	var got Snapshot
	of := definitionOf("Snapshot")
	for i := range seeds.Of(20, 200, 84, 140) {
		r := rand.New(rand.NewPCG(5, i))
		s := snapshotOf(randomRows(r, now0, [2]int{1 + r.IntN(40), 1 + r.IntN(40)}))
		for p := range s.Rows.Places { // numbers of all lengths
			s.Rows.Places[p].Tokens, s.Rows.Places[p].Arrivals = r.Uint64()>>(11+r.IntN(53)), r.Uint64()>>(11+r.IntN(53))
		}
		if i%2 == 0 {
			s = sparse(r, s)
		}
		payload, err := enc.Append(nil, &s)
		if err != nil {
			t.Fatal(err)
		}
		if err := dec.Decode(payload, &got); err != nil {
			t.Fatal(err)
		}
		m := dynamicpb.NewMessage(of)
		if err := proto.Unmarshal(payload, m); err != nil {
			t.Fatal(err)
		}
		checkRows(t, valuesOf(m), &got)
	}
}

// The fields that a Decoder reads are those of the definition, and so are the numbers and
// names of the columns.
func TestFieldsAreThoseOfTheDefinition(t *testing.T) {
	checkFields(t, snapshotFields(), definitionOf("Snapshot"))
	checkFields(t, oldestFields(), definitionOf("OldestTokens"))
	checkNumbers(t, placeNumbers, definitionOf("Places"))
	checkNumbers(t, transitionNumbers, definitionOf("Transitions"))
	checkNumbers(t, netNumbers, definitionOf("NetRow"))
	checkNumbers(t, queueNumbers, definitionOf("Queue"))
	for num, name := range map[protowire.Number]protoreflect.Name{fieldSource: "source", fieldEpoch: "epoch", fieldSeq: "seq", fieldSentAt: "sent_at",
		fieldInterval: "interval", fieldNet: "net", fieldDigest: "digest", fieldRegion: "region", fieldFence: "fence", fieldFull: "full",
		fieldPlaces: "places", fieldTransitions: "transitions", fieldRow: "row", fieldBlocks: "blocks", fieldBye: "bye", fieldQueues: "queues",
		fieldWaiting: "waiting", fieldSince: "since", fieldState: "region_state", fieldRefused: "refused_requests", fieldRemnants: "remnants"} {
		if got := definitionOf("Snapshot").Fields().ByNumber(num).Name(); got != name {
			t.Errorf("field %d is %s, want %s", num, got, name)
		}
	}
}

func checkFields(t *testing.T, f fields, of protoreflect.MessageDescriptor) {
	t.Helper()
	if len(f) != 1+of.Fields().Len() {
		t.Errorf("%s: %d fields, of %d", of.Name(), len(f)-1, of.Fields().Len())
	}
	for i := range of.Fields().Len() {
		d := of.Fields().Get(i)
		want := number
		switch {
		case d.IsList() && d.Kind() == protoreflect.MessageKind:
			want = list
		case d.IsList() && d.Kind() == protoreflect.StringKind:
			want = names
		case d.IsList():
			want = column
		case d.Kind() == protoreflect.MessageKind:
			want = message
		case d.Kind() == protoreflect.StringKind:
			want = text
		}
		at := &f[d.Number()]
		if at.kind != want {
			t.Errorf("%s is of kind %c, want %c", d.FullName(), at.kind, want)
		}
		if at.kind == list || at.kind == message {
			checkFields(t, at.fields, d.Message())
		}
	}
}

func checkNumbers[R any](t *testing.T, of *numbers[R], d protoreflect.MessageDescriptor) {
	t.Helper()
	seen := map[string]bool{}
	var row R
	for _, n := range of.written {
		f := d.Fields().ByNumber(n.field)
		if f == nil || f.TextName() != n.name {
			t.Errorf("%s: %s is not field %d", d.Name(), n.name, n.field)
		}
		at := fmt.Sprintf("%p", n.of(&row))
		if seen[at] || stripOf([]R{row}, n.of).n != 1 {
			t.Errorf("%s: %s has the value of another", d.Name(), n.name)
		}
		seen[at] = true
	}
	if len(of.written) != len(of.checked) {
		t.Errorf("%s: %d numbers are written, %d are read", d.Name(), len(of.written), len(of.checked))
	}
}

// Columns of numbers of all lengths, with one that is longer than a number can be.
func TestNumbersOfAllLengths(t *testing.T) {
	r := rand.New(rand.NewPCG(6, 1))
	for range 2000 {
		var b []byte
		want := make([]uint64, r.IntN(30))
		wide, pairs, bits := 1+r.IntN(64), r.IntN(3) == 0, uint64(0)
		for i := range want {
			want[i] = r.Uint64() >> (63 - r.IntN(wide))
			if r.IntN(9) == 0 {
				want[i] = 0
			}
			if pairs && r.IntN(30) != 0 { // two bytes
				want[i] = 1<<7 + r.Uint64N(1<<14-1<<7)
			}
			bits |= want[i]
			b = protowire.AppendVarint(b, want[i])
			if pairs {
				continue
			}
			if n := protowire.SizeVarint(want[i]); r.IntN(9) == 0 && n < 10 { // with bytes that add nothing
				b[len(b)-1] |= 0x80
				b = append(append(b, bytes.Repeat([]byte{0x80}, r.IntN(10-n))...), 0)
			}
		}
		n, err := countNumbers(b)
		if err != nil || n != len(want) {
			t.Fatalf("%d numbers, %v; want %d in %x", n, err, len(want), b)
		}
		got := make([]uint64, n)
		all, ok := readPacked(b, stripOf(got, func(v *uint64) *uint64 { return v }))
		if !ok || all != bits {
			t.Fatalf("%x: all bits %x, want %x; each number fits: %t", b, all, bits, ok)
		}
		if d := cmp.Diff(want, got); d != "" {
			t.Fatalf("%x (-want +got):\n%s", b, d)
		}
		for _, bad := range [][]byte{{0x80}, bytes.Repeat([]byte{0xff}, 9), append(bytes.Repeat([]byte{0xff}, 9), 2), append(bytes.Repeat([]byte{0x80}, 10), 0)} {
			after := r.IntN(20)
			all := append(append(bytes.Repeat([]byte{1}, r.IntN(20)), bad...), bytes.Repeat([]byte{0x80}, after)...)
			_, want := countEach(all)
			n, err := countNumbers(all)
			if err == nil {
				if _, ok := readPacked(all, stripOf(make([]uint64, n), func(v *uint64) *uint64 { return v })); ok {
					t.Fatalf("%x is read, want %v", all, want)
				}
			} else if want == nil || err.Error() != want.Error() {
				t.Fatalf("%x: %v, want %v", all, err, want)
			}
		}
	}
}
