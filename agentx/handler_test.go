// SPDX-License-Identifier: Apache-2.0

package agentx

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/pnagent/pnagent/agentx/pdu"
	"github.com/pnagent/pnagent/mib/smi"
)

func newHandler(tables func() *smi.Table) *handler {
	return &handler{contexts: newContexts(tables, defaultHold)}
}

// answerTo asks a fresh handler.
func answerTo(table *smi.Table, context string, body pdu.Body) *pdu.Response {
	h := newHandler(func() *smi.Table { return table })
	return h.answer(time.Unix(0, 0), pdu.PDU{Header: pdu.Header{Transaction: 1}, Context: context, Body: body})
}

// at is the range that starts at root.sub.
func at(sub ...uint32) pdu.SearchRange { return pdu.SearchRange{Start: root.Append(sub...)} }

func include(r pdu.SearchRange) pdu.SearchRange { r.Include = true; return r }

func until(r pdu.SearchRange, sub ...uint32) pdu.SearchRange { r.End = root.Append(sub...); return r }

func ranges(r ...pdu.SearchRange) []pdu.SearchRange { return r }

// show is a response as text: names relative to root, and the values.
func show(r *pdu.Response) []string {
	lines := []string{}
	if r.Error != pdu.NoError {
		lines = append(lines, fmt.Sprintf("%v at %d", r.Error, r.Index))
	}
	for _, v := range r.Variables {
		value := v.Value.String()
		if v.Value.Type == smi.TypeInteger {
			value = fmt.Sprint(v.Value.Int())
		}
		lines = append(lines, fmt.Sprintf("%v=%s", v.Name[min(len(root), len(v.Name)):], value))
	}
	return lines
}

// The table is 1.0=1 2.0=2 3.1.1.{1,2,3}=3,4,5 3.1.2.{1,2,3}=6,7,8 below root.
func TestRequests(t *testing.T) {
	for _, c := range []struct {
		rule string
		body pdu.Body
		want []string
	}{
		{"Get gives a value for each name, in order",
			&pdu.Get{Ranges: ranges(at(3, 1, 2, 3), at(1, 0), at(1, 0))},
			[]string{"3.1.2.3=8", "1.0=1", "1.0=1"}},
		{"Get of what is not there is an exception for that name only",
			&pdu.Get{Ranges: ranges(at(1, 0), at(1, 1), at(3, 1, 1, 4), at(4, 0), at(3, 1, 3, 1), at(2, 0))},
			[]string{"1.0=1", "1.1=noSuchInstance", "3.1.1.4=noSuchInstance", "4.0=noSuchObject", "3.1.3.1=noSuchObject", "2.0=2"}},
		{"Get of nothing is nothing", &pdu.Get{}, []string{}},
		{"Get knows no include and no end",
			&pdu.Get{Ranges: ranges(until(include(at(1, 0)), 1, 0))}, []string{"1.0=1"}},

		{"GetNext gives what follows", &pdu.GetNext{Ranges: ranges(at(), at(1, 0), at(2, 0), at(3, 1, 1, 3))},
			[]string{"1.0=1", "2.0=2", "3.1.1.1=3", "3.1.2.1=6"}},
		{"GetNext of a name that does not exist gives the next that does",
			&pdu.GetNext{Ranges: ranges(at(0), at(1), at(1, 0, 0), at(2, 7), at(3, 1, 1, 2, 9), at(3, 1, 1, 4294967295))},
			[]string{"1.0=1", "1.0=1", "2.0=2", "3.1.1.1=3", "3.1.1.3=5", "3.1.2.1=6"}},
		{"GetNext with include gives the name itself",
			&pdu.GetNext{Ranges: ranges(include(at(2, 0)), include(at(2)))}, []string{"2.0=2", "2.0=2"}},
		{"GetNext stops before the end of the range",
			&pdu.GetNext{Ranges: ranges(until(at(1, 0), 2, 0), until(at(1, 0), 2, 0, 0), until(include(at(2, 0)), 2, 0))},
			[]string{"1.0=endOfMibView", "2.0=2", "2.0=endOfMibView"}},
		{"GetNext at the end gives endOfMibView under the name asked for",
			&pdu.GetNext{Ranges: ranges(at(3, 1, 2, 3), at(9), at(1, 0))},
			[]string{"3.1.2.3=endOfMibView", "9=endOfMibView", "2.0=2"}},

		{"GetBulk repeats", &pdu.GetBulk{MaxRepetitions: 3, Ranges: ranges(at())},
			[]string{"1.0=1", "2.0=2", "3.1.1.1=3"}},
		{"GetBulk interleaves its ranges",
			&pdu.GetBulk{MaxRepetitions: 2, Ranges: ranges(at(3, 1, 1), at(3, 1, 2))},
			[]string{"3.1.1.1=3", "3.1.2.1=6", "3.1.1.2=4", "3.1.2.2=7"}},
		{"GetBulk gives non-repeaters once, first",
			&pdu.GetBulk{NonRepeaters: 2, MaxRepetitions: 2, Ranges: ranges(at(), at(1, 0), at(3, 1, 1))},
			[]string{"1.0=1", "2.0=2", "3.1.1.1=3", "3.1.1.2=4"}},
		{"GetBulk of more non-repeaters than ranges", &pdu.GetBulk{NonRepeaters: 9, MaxRepetitions: 2, Ranges: ranges(at())},
			[]string{"1.0=1"}},
		{"GetBulk without repetitions", &pdu.GetBulk{NonRepeaters: 1, Ranges: ranges(at(), at())}, []string{"1.0=1"}},
		{"GetBulk without ranges", &pdu.GetBulk{MaxRepetitions: 65535}, []string{}},
		{"GetBulk with include and end",
			&pdu.GetBulk{MaxRepetitions: 5, Ranges: ranges(until(include(at(2, 0)), 3, 1, 1, 2))},
			[]string{"2.0=2", "3.1.1.1=3", "3.1.1.1=endOfMibView"}},
		{"GetBulk repeats endOfMibView under the last name until every range has ended",
			&pdu.GetBulk{MaxRepetitions: 9, Ranges: ranges(at(3, 1, 2, 2), at(3, 1, 2, 1), at(9))},
			[]string{
				"3.1.2.3=8", "3.1.2.2=7", "9=endOfMibView",
				"3.1.2.3=endOfMibView", "3.1.2.3=8", "9=endOfMibView",
				"3.1.2.3=endOfMibView", "3.1.2.3=endOfMibView", "9=endOfMibView",
			}},

		{"TestSet is refused at its first variable",
			&pdu.TestSet{Variables: []smi.Variable{{Name: root, Value: smi.Null()}}}, []string{"notWritable at 1"}},
		{"TestSet of nothing is well", &pdu.TestSet{}, []string{}},
		{"CommitSet has nothing to commit", &pdu.CommitSet{}, []string{"commitFailed at 0"}},
		{"UndoSet has nothing to undo", &pdu.UndoSet{}, []string{}},
	} {
		t.Run(c.rule, func(t *testing.T) {
			if diff := cmp.Diff(c.want, show(answerTo(testTable(1), "", c.body))); diff != "" {
				t.Fatal(diff)
			}
		})
	}
}

func TestWithoutATableEveryWalkEnds(t *testing.T) {
	got := show(answerTo(nil, "", &pdu.Get{Ranges: ranges(at(1, 0))}))
	if diff := cmp.Diff([]string{"1.0=noSuchObject"}, got); diff != "" {
		t.Error(diff)
	}
	got = show(answerTo(nil, "", &pdu.GetBulk{MaxRepetitions: 5, Ranges: ranges(at())}))
	if diff := cmp.Diff([]string{"=endOfMibView"}, got); diff != "" {
		t.Error(diff)
	}
}

func TestAContextThatIsNotServedIsRefused(t *testing.T) {
	for _, body := range []pdu.Body{&pdu.Get{Ranges: ranges(at(1, 0))}, &pdu.GetNext{Ranges: ranges(at())},
		&pdu.GetBulk{MaxRepetitions: 5, Ranges: ranges(at())}, &pdu.TestSet{}} {
		got := show(answerTo(testTable(1), "orders", body))
		if diff := cmp.Diff([]string{"unsupportedContext at 0"}, got); diff != "" {
			t.Errorf("answer to %v (-want +got): %s", pdu.TypeOf(body), diff)
		}
	}
}

func TestAGetBulkForEverythingIsCutShortNotRefused(t *testing.T) {
	table := rows(t, 20_000)
	answer := answerTo(table, "", &pdu.GetBulk{MaxRepetitions: 65535, Ranges: ranges(at())})
	size := 0
	for i, v := range answer.Variables {
		size += pdu.VariableSize(v)
		if v.Name.Compare(table.At(i).Name) != 0 {
			t.Fatalf("variable %d is %v", i, v)
		}
	}
	if size > maxBulk || size < maxBulk-100 || answer.Error != pdu.NoError {
		t.Fatalf("%d variables, %d bytes, %v", len(answer.Variables), size, answer.Error)
	}
}

func TestAnswersAllocateNothingForAVariable(t *testing.T) {
	h := newHandler(func() *smi.Table { return testTable(1) })
	bulk := pdu.PDU{Header: pdu.Header{Transaction: 1}, Body: &pdu.GetBulk{MaxRepetitions: 100, Ranges: ranges(at(), at(2))}}
	if n := testing.AllocsPerRun(100, func() { h.answer(time.Unix(0, 0), bulk) }); n != 0 {
		t.Fatalf("%v allocations", n)
	}
}

// slowNext is GetNext in the words of the RFC: the first of all names that
// comes after the start and before the end.
func slowNext(table *smi.Table, r pdu.SearchRange) smi.Variable {
	for i := range table.Len() {
		v := table.At(i)
		c := v.Name.Compare(r.Start)
		if (c > 0 || c == 0 && r.Include) && (len(r.End) == 0 || v.Name.Compare(r.End) < 0) {
			return v
		}
	}
	return smi.Variable{Name: r.Start, Value: smi.EndOfMibView()}
}

// slowBulk is GetBulk as GetNext done again and again.
func slowBulk(table *smi.Table, b *pdu.GetBulk) []smi.Variable {
	var got []smi.Variable
	single := min(int(b.NonRepeaters), len(b.Ranges))
	for _, r := range b.Ranges[:single] {
		got = append(got, slowNext(table, r))
	}
	repeated := slices.Clone(b.Ranges[single:])
	for range b.MaxRepetitions {
		ended := true
		for i := range repeated {
			v := slowNext(table, repeated[i])
			got = append(got, v)
			if v.Value.Type != smi.TypeEndOfMibView {
				ended = false
				repeated[i].Start, repeated[i].Include = v.Name, false
			}
		}
		if ended {
			break
		}
	}
	return got
}

func TestAnswersAgreeWithTheSlowReference(t *testing.T) {
	rng := rand.New(rand.NewPCG(3, 4))
	random := func(n int) smi.OID {
		oid := make(smi.OID, rng.IntN(n))
		for i := range oid {
			oid[i] = uint32(rng.IntN(3))
		}
		return oid
	}
	for range 2000 {
		table := randomTable(t, rng, func() smi.OID { return random(5).Append(uint32(rng.IntN(3))) })
		var asked []pdu.SearchRange
		for range rng.IntN(5) {
			asked = append(asked, pdu.SearchRange{Start: random(6), Include: rng.IntN(2) == 0, End: random(4)})
		}
		bulk := &pdu.GetBulk{NonRepeaters: uint16(rng.IntN(4)), MaxRepetitions: uint16(rng.IntN(6)), Ranges: asked}
		got := answerTo(table, "", bulk)
		if diff := cmp.Diff(show(&pdu.Response{Variables: slowBulk(table, bulk)}), show(got)); diff != "" {
			t.Fatalf("answer to %+v (-want +got): %s", bulk, diff)
		}
		var want pdu.Response
		for _, r := range asked {
			want.Variables = append(want.Variables, slowNext(table, r))
		}
		if diff := cmp.Diff(show(&want), show(answerTo(table, "", &pdu.GetNext{Ranges: asked}))); diff != "" {
			t.Fatalf("answer to GetNext of %+v (-want +got): %s", asked, diff)
		}
	}
}

func randomTable(t *testing.T, rng *rand.Rand, name func() smi.OID) *smi.Table {
	t.Helper()
	var names []smi.OID
	for range rng.IntN(20) {
		names = append(names, name())
	}
	slices.SortFunc(names, smi.OID.Compare)
	names = slices.CompactFunc(names, func(a, b smi.OID) bool { return a.Compare(b) == 0 })
	layout, err := smi.NewLayout(names, nil)
	if err != nil {
		t.Fatal(err)
	}
	values := make([]smi.Value, len(names))
	for i := range values {
		values[i] = smi.Integer(int32(i))
	}
	return smi.NewTable(layout, values)
}

// rows is a table of n variables in eight columns below root, as wide as the
// tables of a net are.
func rows(tb testing.TB, n int) *smi.Table {
	tb.Helper()
	const columns = 8
	var subs []uint32
	for row := range uint32(n / columns) {
		subs = append(subs, 1+row/1000, 1+row%1000)
	}
	index, err := smi.NewRows(2, subs)
	if err != nil {
		tb.Fatal(err)
	}
	var blocks []smi.Block
	for column := range uint32(columns) {
		blocks = append(blocks, smi.Block{Prefix: root.Append(3, 1, column+1), Rows: index})
	}
	below, err := smi.NewRows(1, []uint32{1, 2, 3, 4, 5, 6, 7, 8})
	if err != nil {
		tb.Fatal(err)
	}
	layout, err := smi.Compose(blocks, []smi.Block{{Prefix: root.Append(3, 1), Rows: below}})
	if err != nil {
		tb.Fatal(err)
	}
	values := make([]smi.Value, layout.Len())
	for i := range values {
		values[i] = smi.Counter64(uint64(i) << 20)
	}
	return smi.NewTable(layout, values)
}
