// SPDX-License-Identifier: Apache-2.0

package stats

import (
	"math/bits"
	"reflect"
	"strconv"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// The laws of Merge compare sums with sums, so they hold for a Merge that
// forgets a field. The tests of this file look at each field by itself: what
// becomes of it in a sum, in Equal and in Shift. A field that is added to a row
// and forgotten there fails them.

// fold is how one field of a sum comes from those of its parts, written without Merge.
type fold func(a, b any) any

func earliest(a, b any) any {
	x, y := a.(int64), b.(int64)
	if x == 0 || y == 0 {
		return x + y
	}
	return min(x, y)
}

func latest(a, b any) any { return max(a.(int64), b.(int64)) }

func either(a, b any) any { return a.(Columns) | b.(Columns) }

// folds are those of all fields that are no cumulative or present number;
// those, of type uint64, are added.
func folds() map[string]fold {
	return map[string]fold{
		"Place.Oldest": earliest, "Place.LastInjection": latest, "Place.Injected": foldTimeSums, "Place.Ages": foldLadders,
		"Place.Dwell": foldHistograms, "Place.Slowest": foldSlowest, "Place.Stuck": foldTokens, "Place.Groups": foldGroups,
		"Transition.EnabledSince": earliest, "Transition.RunningSince": earliest, "Transition.LastFiring": latest, "Transition.NextDue": earliest,
		"Transition.Duration": foldHistograms, "Transition.Slowest": foldSlowest,
		"Queue.Priority": func(a, _ any) any { return a }, "Queue.OldestSince": earliest, "Queue.UnservedSince": earliest,
		"Rows.Net": func(a, b any) any { return foldRow(a, b) }, "Rows.Columns": either,
		"Rows.Places": foldEach[Place], "Rows.Transitions": foldEach[Transition], "Rows.Blocks": foldBlocks, "Rows.Queues": foldQueues,
	}
}

func foldTimeSums(a, b any) any {
	x, y := a.(TimeSum), b.(TimeSum)
	return TimeSum{Sec: x.Sec + y.Sec + (x.Micro+y.Micro)/1e6, Micro: (x.Micro + y.Micro) % 1e6}
}

// foldLadders counts the slots of both by their start; both are cut for the same time.
func foldLadders(a, b any) any {
	x, y := a.(Ladder), b.(Ladder)
	n := map[int64]uint64{}
	for _, s := range append(append([]Slot{}, x.Slots...), y.Slots...) {
		n[s.Start] += s.N
	}
	out := Ladder{At: max(x.At, y.At)}
	for start := range out.At + 1 {
		if n[start] > 0 {
			out.Slots = append(out.Slots, Slot{start, n[start]})
		}
	}
	return out
}

// foldHistograms counts the buckets of both by their index; both are of schema 3 and few.
func foldHistograms(a, b any) any {
	x, y := a.(Histogram), b.(Histogram)
	n := map[int32]uint64{}
	for _, s := range append(append([]Bucket{}, x.Buckets...), y.Buckets...) {
		n[s.Index] += s.N
	}
	out := Histogram{Schema: max(x.Schema, y.Schema), Zero: x.Zero + y.Zero, Sum: x.Sum + y.Sum}
	for i := int32(firstIndex); i <= lastIndex; i++ {
		if n[i] > 0 {
			out.Buckets = append(out.Buckets, Bucket{i, n[i]})
		}
	}
	return out
}

func foldSlowest(a, b any) any {
	if a.(Slowest).Micros > b.(Slowest).Micros {
		return a
	}
	return b
}

// foldTokens has the older of two lists first: those of filled are of one time each.
func foldTokens(a, b any) any {
	x, y := a.([]Token), b.([]Token)
	if len(x) == 0 || len(y) > 0 && y[0].Injected < x[0].Injected {
		x, y = y, x
	}
	return append(append([]Token(nil), x...), y...)
}

// foldGroups adds up the groups of one reason each.
func foldGroups(a, b any) any {
	var out []Group
	for reason := range reasons {
		var sum Group
		for _, g := range append(append([]Group{}, a.([]Group)...), b.([]Group)...) {
			switch {
			case g.Reason != reason:
			case sum.Tokens == 0:
				sum = g
			default:
				sum.Tokens, sum.Due = sum.Tokens+g.Tokens, min(sum.Due, g.Due)
				if g.Oldest.Injected < sum.Oldest.Injected {
					sum.Oldest = g.Oldest
				}
			}
		}
		if sum.Tokens > 0 {
			out = append(out, sum)
		}
	}
	return out
}

func foldBlocks(a, b any) any {
	n := map[Block]uint64{}
	for _, x := range append(append([]Block{}, a.([]Block)...), b.([]Block)...) {
		n[Block{Transition: x.Transition, Place: x.Place, Reason: x.Reason}] += x.Instances
	}
	var out []Block
	for t := range int32(1000) {
		for k, instances := range n {
			if k.Transition == t {
				k.Instances = instances
				out = append(out, k)
			}
		}
	}
	return out
}

func foldQueues(a, b any) any {
	var out []Queue
	for p := range uint8(Priorities) {
		sum, found := Queue{Priority: p}, false
		for _, q := range append(append([]Queue{}, a.([]Queue)...), b.([]Queue)...) {
			if q.Priority == p {
				sum, found = foldRow(sum, q).(Queue), true
			}
		}
		if found {
			out = append(out, sum)
		}
	}
	return out
}

func foldEach[T any](a, b any) any {
	x, y := a.([]T), b.([]T)
	out := make([]T, len(x))
	for i := range x {
		out[i] = foldRow(x[i], y[i]).(T)
	}
	return out
}

// foldRow folds two rows of one type field by field.
func foldRow(a, b any) any {
	x, y, special := reflect.ValueOf(a), reflect.ValueOf(b), folds()
	out := reflect.New(x.Type()).Elem()
	for i := range x.NumField() {
		p, q := x.Field(i), y.Field(i)
		if how := special[x.Type().Name()+"."+x.Type().Field(i).Name]; how != nil {
			out.Field(i).Set(reflect.ValueOf(how(p.Interface(), q.Interface())))
		} else {
			out.Field(i).SetUint(p.Uint() + q.Uint()) // panics for a field that is no number and has no fold
		}
	}
	return out.Interface()
}

// filled returns a value of a type of which no two numbers are the same, from n on.
func filled(t reflect.Type, n *uint64) reflect.Value {
	v := reflect.New(t).Elem()
	*n++
	switch x := v.Addr().Interface().(type) {
	case *Ladder:
		*x = Ladder{At: 20, Slots: []Slot{{Start: 5 + int64(*n%8), N: *n}, {Start: 14, N: *n + 1}}}
	case *Histogram:
		*x = Histogram{Schema: MaxSchema, Zero: *n, Sum: *n + 1, Buckets: []Bucket{{Index: int32(*n % 50), N: *n + 2}, {Index: 60, N: *n + 3}}}
	case *[]Block:
		*x = []Block{{Transition: 3, Place: 1, Reason: ReasonMissing, Instances: *n}, {Transition: 4 + int32(*n%900), Reason: ReasonInhibited, Instances: *n + 1}}
	case *[]Group:
		at, same := int64(*n+20), func(i uint64) []Token { return filledAs[[]Token](*n + i) }
		*x = []Group{{ReasonEnabled, *n, at, same(1)[0]}, {ReasonRunning + Reason(*n%5), *n + 1, at + 1, same(2)[0]}}
	case *[]Queue:
		*x = []Queue{{*n, *n + 3, *n + 4, int64(*n + 1), int64(*n + 2), 1}, {*n + 5, *n + 8, *n + 9, int64(*n + 6), int64(*n + 7), 2 + uint8(*n%6)}}
	default:
		switch t.Kind() {
		case reflect.Struct:
			for i := range t.NumField() {
				v.Field(i).Set(filled(t.Field(i).Type, n))
			}
		case reflect.Slice:
			v = reflect.MakeSlice(t, 1, 1)
			v.Index(0).Set(filled(t.Elem(), n))
		case reflect.String:
			v.SetString("instance " + strconv.FormatUint(*n, 10))
		default:
			v.Set(reflect.ValueOf(*n % 97).Convert(t))
		}
		*n += 10
	}
	return v
}

func filledAs[T any](n uint64) T {
	return filled(reflect.TypeFor[T](), &n).Interface().(T)
}

// merged is a sum that begins with nothing.
func merged[T any, M interface {
	*T
	Merge(*T)
}](parts ...T) T {
	var sum T
	for i := range parts {
		M(&sum).Merge(&parts[i])
	}
	return sum
}

func TestASumHasEveryFieldOfItsParts(t *testing.T) {
	for _, n := range []uint64{1, 3, 77} {
		checkSum(t, merged[NetRow], filledAs[NetRow](n), filledAs[NetRow](n+500))
		checkSum(t, merged[Place], filledAs[Place](n), filledAs[Place](n+500))
		checkSum(t, merged[Transition], filledAs[Transition](n), filledAs[Transition](n+500))
		queue := filledAs[Queue](n + 500)
		queue.Priority = filledAs[Queue](n).Priority
		checkSum(t, merged[Queue], filledAs[Queue](n), queue)
		rows := func(parts ...Rows) Rows {
			sum := NewRows(1, 1)
			for i := range parts {
				sum.Merge(&parts[i])
			}
			return *sum
		}
		checkSum(t, rows, filledAs[Rows](n), filledAs[Rows](n+500))
	}
}

func checkSum[T any](t *testing.T, merge func(...T) T, a, b T) {
	t.Helper()
	clean := cmp.FilterPath(func(p cmp.Path) bool { return p.Last().String() == ".Priority" }, cmp.Ignore())
	if d := cmp.Diff(a, merge(a), clean); d != "" {
		t.Errorf("%T: a part added to nothing is not the part (-want +got):\n%s", a, d)
	}
	for name, got := range map[string]T{"a + b": merge(a, b), "b + a": merge(b, a)} {
		if d := cmp.Diff(foldRow(a, b), any(got), clean); d != "" {
			t.Errorf("%T: %s (-want +got):\n%s", a, name, d)
		}
	}
}

// leaves calls f with each number and text of a value that can be set.
func leaves(v reflect.Value, name string, f func(name string, leaf reflect.Value)) {
	switch v.Kind() {
	case reflect.Struct:
		for i := range v.NumField() {
			leaves(v.Field(i), name+"."+v.Type().Field(i).Name, f)
		}
	case reflect.Slice:
		for i := range v.Len() {
			leaves(v.Index(i), name+"["+strconv.Itoa(i)+"]", f)
		}
	default:
		f(name, v)
	}
}

func TestRowsDifferIfAnyFieldDiffers(t *testing.T) {
	checkEqual(t, (*Place).Equal)
	checkEqual(t, (*Transition).Equal)
}

func checkEqual[T any](t *testing.T, equal func(a, b *T) bool) {
	t.Helper()
	one, same := filledAs[T](1), filledAs[T](1)
	if !equal(&one, &same) {
		t.Fatalf("%T is not equal to another with the same fields", one)
	}
	leaves(reflect.ValueOf(&same).Elem(), reflect.TypeFor[T]().Name(), func(name string, leaf reflect.Value) {
		before := reflect.ValueOf(leaf.Interface())
		switch {
		case name == "Place.Ages.At": // when the ladder was cut, not what it counts
			return
		case leaf.Kind() == reflect.String:
			leaf.SetString("another")
		case leaf.CanInt():
			leaf.SetInt(leaf.Int() + 1)
		default:
			leaf.SetUint(leaf.Uint() + 1)
		}
		if equal(&one, &same) || equal(&same, &one) {
			t.Errorf("%s makes no difference", name)
		}
		leaf.Set(before)
	})
}

// Times are the fields of type int64, but for how long something took and what
// is counted in slots of time.
func TestShiftMovesEveryFieldThatIsATime(t *testing.T) {
	checkShift(t, (*Place).Shift)
	checkShift(t, (*Transition).Shift)
	checkShift(t, (*Queue).Shift)
}

func checkShift[T any](t *testing.T, shift func(*T, int64)) {
	t.Helper()
	const by = 7
	row, want := filledAs[T](1), filledAs[T](1)
	leaves(reflect.ValueOf(&want).Elem(), reflect.TypeFor[T]().Name(), func(name string, leaf reflect.Value) {
		switch {
		case name == "Place.Injected.Micro":
			leaf.SetUint(leaf.Uint() + by*filledAs[Place](1).Tokens)
		case leaf.Kind() == reflect.Int64 && name != "Place.Slowest.Micros" && name != "Transition.Slowest.Micros" && name[:min(10, len(name))] != "Place.Ages":
			leaf.SetInt(leaf.Int() + by)
		}
	})
	shift(&row, by)
	if d := cmp.Diff(want, row); d != "" {
		t.Errorf("%T (-want +got):\n%s", row, d)
	}
}

func TestAllColumnsAreThoseThatHaveANameAndNoOther(t *testing.T) {
	if n := bits.OnesCount32(uint32(AllColumns)); n != 21 || bits.Len32(uint32(AllColumns)) != 21 {
		t.Errorf("%b has %d columns, want the lowest 21", AllColumns, n)
	}
	for c := ColTokens; c <= ColGroups; c <<= 1 {
		if !AllColumns.Has(c) || (AllColumns &^ c).Has(c) || (AllColumns &^ c).Has(c|1<<21) {
			t.Errorf("column %b", c)
		}
	}
}

// present are the fields that are not counted but seen, and those that say which
// bucket or row it is. All others never fall.
func present(name string) bool {
	for _, end := range []string{".Tokens", ".Instances", ".Oldest", ".Active", ".Deadlocked", ".Enabled", ".EnabledSince", ".Running", ".RunningSince", ".NextDue",
		".Ready", ".OldestSince", ".UnservedSince", ".Waiting"} {
		if strings.HasSuffix(name, end) {
			return true
		}
	}
	for _, within := range []string{".Injected.", ".Ages.", ".Slowest.", ".Stuck[", ".Groups[", ".Blocks["} {
		if strings.Contains(name, within) {
			return true
		}
	}
	return false
}

func TestRaiseLiftsEveryCounterAndNothingElse(t *testing.T) {
	floor := filledAs[Rows](1)
	var names []string
	var all []reflect.Value
	leaves(reflect.ValueOf(&floor).Elem(), "Rows", func(name string, leaf reflect.Value) {
		for _, key := range []string{".Index", ".Schema", ".Priority"} {
			if strings.HasSuffix(name, key) {
				return
			}
		}
		names, all = append(names, name), append(all, leaf)
	})
	for i, leaf := range all {
		before := reflect.ValueOf(leaf.Interface())
		switch {
		case leaf.Kind() == reflect.String:
			leaf.SetString("another")
		case leaf.CanInt():
			leaf.SetInt(leaf.Int() + 1000)
		case leaf.Type() == reflect.TypeFor[Columns]():
			leaf.SetUint(leaf.Uint() | uint64(ColNextDue))
		default:
			leaf.SetUint(leaf.Uint() + 1000)
		}
		rows, want := filledAs[Rows](1), filledAs[Rows](1)
		if !present(names[i]) {
			want = floor
		}
		if raised := rows.Raise(&floor); raised == present(names[i]) {
			t.Errorf("%s: raised is %v", names[i], raised)
		}
		if d := cmp.Diff(want, rows); d != "" {
			t.Errorf("%s (-want +got):\n%s", names[i], d)
		}
		if again := cmp.Diff(want, rows); rows.Raise(&floor) || again != "" {
			t.Errorf("%s: raised twice %s", names[i], again)
		}
		low := filledAs[Rows](1)
		if high := floor; !present(names[i]) && (high.Raise(&low) || cmp.Diff(floor, high) != "") {
			t.Errorf("%s: raised to what is less", names[i])
		}
		leaf.Set(before)
	}
}
