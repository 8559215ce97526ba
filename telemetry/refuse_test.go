// SPDX-License-Identifier: Apache-2.0

package telemetry

import (
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/pnagent/pnagent/stats"
	"github.com/pnagent/pnagent/telemetry/wire"
)

// document is a message in JSON.
type document map[string]any

// goldenDocument returns the golden snapshot as a message: 2 places, 1 transition.
func goldenDocument(t *testing.T) document {
	t.Helper()
	s := regionGolden()
	text, err := new(Encoder).AppendJSON(nil, &s)
	if err != nil {
		t.Fatal(err)
	}
	m := document{}
	if err := json.Unmarshal(text, &m); err != nil {
		t.Fatal(err)
	}
	return m
}

// at returns what is at a path: names of fields and indices of lists, with dots between.
func (m document) at(path string) any {
	at := any(map[string]any(m))
	for step := range strings.SplitSeq(path, ".") {
		switch in := at.(type) {
		case map[string]any:
			at = in[step]
		case []any:
			i, err := strconv.Atoi(step)
			if err != nil {
				panic(err)
			}
			at = in[i]
		default:
			panic(path + ": there is no such field")
		}
	}
	return at
}

// set sets what is at a path; nil removes a field. Numbers are those of Go.
func (m document) set(path string, v any) {
	last := strings.LastIndexByte(path, '.')
	in, step := any(map[string]any(m)), path[last+1:]
	if last >= 0 {
		in = m.at(path[:last])
	}
	switch in := in.(type) {
	case map[string]any:
		in[step] = v
		if v == nil {
			delete(in, step)
		}
	case []any:
		i, err := strconv.Atoi(step)
		if err != nil {
			panic(err)
		}
		in[i] = v
	default:
		panic(path + ": its message is not there")
	}
}

// add adds to the number at a path.
func (m document) add(path string, by int64) {
	n, err := strconv.ParseInt(fmt.Sprint(m.at(path)), 10, 64)
	if err != nil {
		panic(err)
	}
	m.set(path, n+by)
}

// list returns the list at a path.
func (m document) list(path string) []any { return m.at(path).([]any) }

// payload returns the message in both lanes.
func (m document) payload(t *testing.T) (binary, text []byte) {
	t.Helper()
	text, err := json.Marshal(m)
	if err != nil {
		t.Fatal(err)
	}
	if binary, err = wire.FromJSON("Snapshot", text); err != nil {
		t.Fatal(err)
	}
	return binary, text
}

// object is a message of a document.
type object = map[string]any

func many[T any](n int, v T) []T {
	out := make([]T, n)
	for i := range out {
		out[i] = v
	}
	return out
}

// refusal is a message that breaks one rule.
type refusal struct {
	want  Reason
	spoil func(m document)
}

// refusals returns messages that each break one rule of a snapshot.
func refusals() map[string]refusal {
	return map[string]refusal{
		"no source":                 {BadName, func(m document) { m.set("source", "") }},
		"long source":               {BadName, func(m document) { m.set("source", strings.Repeat("*", 256)) }},
		"control character":         {BadName, func(m document) { m.set("source", "a\u0007") }},
		"no net":                    {BadName, func(m document) { m.set("net", "") }},
		"digest":                    {BadName, func(m document) { m.set("digest", "00") }},
		"long region":               {BadName, func(m document) { m.set("region", strings.Repeat("r", 256)) }},
		"long instance":             {BadName, func(m document) { m.set("places.stuck.0.tokens.0.instance", strings.Repeat("i", 256)) }},
		"long what":                 {BadName, func(m document) { m.set("places.stuck.0.tokens.0.waits.0.what", strings.Repeat("w", 201)) }},
		"what of two lines":         {BadName, func(m document) { m.set("places.stuck.0.tokens.0.waits.0.what", "a\nb") }},
		"no epoch":                  {BadValue, func(m document) { m.set("epoch", 0) }},
		"epoch in 2300":             {BadValue, func(m document) { m.set("epoch", MaxTime+1) }},
		"no seq":                    {BadValue, func(m document) { m.set("seq", 0) }},
		"no sent_at":                {BadValue, func(m document) { m.set("sent_at", 0) }},
		"no interval":               {BadValue, func(m document) { m.set("interval", 0) }},
		"interval of two days":      {BadValue, func(m document) { m.set("interval", 2*86400e6) }},
		"since 2300":                {BadValue, func(m document) { m.set("since", MaxTime+1) }},
		"since before 1970":         {BadValue, func(m document) { m.set("since", -1) }},
		"since of no region":        {BadValue, func(m document) { m.set("region", nil); m.set("region_state", nil) }},
		"since without fence":       {BadValue, func(m document) { m.set("fence", 0) }},
		"state of no region":        {BadValue, func(m document) { m.set("region", nil); m.set("since", nil) }},
		"position of 2^60":          {BadValue, func(m document) { m.set("region_state.position", 1<<60) }},
		"lag of 2^60":               {BadValue, func(m document) { m.set("region_state.lag", uint64(1<<60)) }},
		"refused requests of 2^60":  {BadValue, func(m document) { m.set("refused_requests", object{"size": 1 << 60}) }},
		"lost since 2300":           {BadValue, lost(object{"left": MaxTime + 1})},
		"silent since 2300":         {BadValue, lost(object{"silent_since": MaxTime + 1})},
		"tokens of the silent":      {BadValue, lost(object{"places": []uint32{0}})},
		"remnants that fall":        {BadIndex, lost(object{"fired": []uint32{1, 1}})},
		"remnants far out":          {BadIndex, lost(object{"left": 1, "enabled": []uint32{MaxRows}})},
		"a path of 17 names":        {TooMany, lost(object{"path": many(17, "a")})},
		"a path with no name":       {BadName, lost(object{"path": []string{"a", ""}})},
		"a path of two in one":      {BadName, lost(object{"path": []string{"a\x1fb"}})},
		"a lost region's name":      {BadName, lost(object{"region": strings.Repeat("r", 256)})},
		"an answer without a path":  {BadName, func(m document) { m.set("remnants", object{"answers": []any{object{}}}) }},
		"8193 remnants":             {TooMany, func(m document) { m.set("remnants", object{"lost": many(MaxRemnants+1, object{})}) }},
		"lag of no standby":         {BadValue, func(m document) { m.set("region_state.standbys", 0) }},
		"short column":              {BadColumns, func(m document) { m.set("places.tokens", m.list("places.tokens")[:1]) }},
		"long column":               {BadColumns, func(m document) { m.set("transitions.firings", []uint64{1, 2}) }},
		"half of a group":           {BadColumns, func(m document) { m.set("places.last_injection", nil) }},
		"half of a group of counts": {BadColumns, func(m document) { m.set("transitions.retries", nil) }},
		"since without running":     {BadColumns, func(m document) { m.set("transitions.running", nil) }},
		"ladder of other rows":      {BadColumns, func(m document) { m.set("places.ages.len", m.list("places.ages.len")[:1]) }},
		"ladder without len":        {BadColumns, func(m document) { m.set("places.ages.len", nil) }},
		"ladder's lens":             {BadColumns, func(m document) { m.add("places.ages.len.0", 1) }},
		"ladder's counts":           {BadColumns, func(m document) { m.set("places.ages.count", m.list("places.ages.count")[1:]) }},
		"lens that overflow":        {BadColumns, func(m document) { m.set("places.ages.len", []uint32{1 << 31, 1 << 31}) }},
		"histogram without len":     {BadColumns, func(m document) { m.set("places.dwell.len", nil) }},
		"histogram's schema":        {BadColumns, func(m document) { m.set("places.dwell.schema", m.list("places.dwell.schema")[:1]) }},
		"histogram's lens":          {BadColumns, func(m document) { m.set("transitions.duration.len.0", 7) }},
		"count beyond 2^53":         {BadValue, func(m document) { m.set("places.tokens.0", MaxCount+1) }},
		"time below zero":           {BadValue, func(m document) { m.set("places.oldest.0", -1) }},
		"time in 2300":              {BadValue, func(m document) { m.set("transitions.last_firing.0", MaxTime+1) }},
		"a million microseconds":    {BadValue, func(m document) { m.set("places.injected_us.0", 1e6) }},
		"net's count beyond 2^53":   {BadValue, func(m document) { m.set("row.active", MaxCount+1) }},
		"ladder's start falls":      {BadValue, func(m document) { m.set("places.ages.start.1", -1) }},
		"ladder's start off":        {BadValue, func(m document) { m.add("places.ages.start.0", 1) }},
		"ladder of the future":      {BadValue, func(m document) { m.add("places.ages.start.2", 1e9) }},
		"ladder counts none":        {BadValue, func(m document) { m.set("places.ages.count.0", 0) }},
		"ladder counts 2^60":        {BadValue, func(m document) { m.set("places.ages.count.0", 1<<60) }},
		"schema too fine":           {BadValue, func(m document) { m.set("places.dwell.schema.0", 8) }},
		"schema of 2^8":             {BadValue, func(m document) { m.set("places.dwell.schema.0", 256) }},
		"bucket too high":           {BadValue, func(m document) { m.set("places.dwell.index.0", 1e6) }},
		"bucket counts none":        {BadValue, func(m document) { m.set("places.dwell.count.0", 0) }},
		"token without time":        {BadValue, func(m document) { m.set("places.stuck.0.tokens.0.injected", 0) }},
		"wait until below zero":     {BadValue, func(m document) { m.set("places.stuck.0.tokens.0.waits.0.until", -1) }},
		"queue of 2^60":             {BadValue, func(m document) { m.set("queues.0.served", 1<<60) }},
		"queue of the past":         {BadValue, func(m document) { m.set("queues.1.oldest_since", -1) }},
		"queue of 2300":             {BadValue, func(m document) { m.set("queues.1.unserved_since", MaxTime+1) }},
		"2^60 pieces of work":       {BadValue, func(m document) { m.set("waiting", uint64(1<<60)) }},
		"late without timeouts":     {BadColumns, func(m document) { m.set("transitions.timeouts", nil) }},
		"slowest without dwell":     {BadColumns, func(m document) { m.set("places.dwell", nil) }},
		"slowest without duration":  {BadColumns, func(m document) { m.set("transitions.duration", nil) }},
		"slowest at no time":        {BadValue, func(m document) { m.set("places.slowest.0.at", 0) }},
		"slowest in 2300":           {BadValue, func(m document) { m.set("transitions.slowest.0.at", MaxTime+1) }},
		"slowest of 2^60":           {BadValue, func(m document) { m.set("places.slowest.0.duration", 1<<60) }},
		"long name of the slowest":  {BadName, func(m document) { m.set("transitions.slowest.0.instance", strings.Repeat("i", 256)) }},
		"slowest in no row":         {BadIndex, func(m document) { m.set("places.slowest.0.row", 2) }},
		"slowest twice in a row":    {BadIndex, func(m document) { m.set("places.slowest", append(m.list("places.slowest"), m.at("places.slowest.0"))) }},
		"block of 2^60":             {BadValue, func(m document) { m.set("blocks.0.instances", 1<<60) }},
		"full with index":           {BadIndex, func(m document) { m.set("places.index", []uint32{0, 1}) }},
		"index falls": {BadIndex, func(m document) {
			m.set("full", false)
			m.set("places.index", []uint32{1, 0})
			m.set("transitions.index", []uint32{0})
		}},
		"index twice": {BadIndex, func(m document) {
			m.set("full", false)
			m.set("places.index", []uint32{1, 1})
			m.set("transitions.index", []uint32{0})
		}},
		"index beyond MaxRows": {BadIndex, func(m document) {
			m.set("full", false)
			m.set("places.index", []uint32{1, MaxRows})
			m.set("transitions.index", []uint32{0})
		}},
		"sparse without index": {BadColumns, func(m document) { m.set("full", false) }},
		"stuck in no row":      {BadIndex, func(m document) { m.set("places.stuck.0.place", 2) }},
		"stuck rows fall":      {BadIndex, func(m document) { m.set("places.stuck", append(m.list("places.stuck"), m.at("places.stuck.0"))) }},
		"wait beyond MaxRows":  {BadIndex, func(m document) { m.set("places.stuck.0.tokens.0.waits.0.place", MaxRows+1) }},
		"block beyond MaxRows": {BadIndex, func(m document) { m.set("blocks.0.transition", MaxRows) }},
		"priorities fall":      {BadIndex, func(m document) { slices.Reverse(m.list("queues")) }},
		"priority eight":       {BadIndex, func(m document) { m.set("queues.1.priority", 8) }},
		"priority of 2^8":      {BadIndex, func(m document) { m.set("queues.1.priority", 256) }},
		"nine queues":          {TooMany, func(m document) { m.set("queues", many(9, object{})) }},
		"eleven tokens": {TooMany, func(m document) {
			m.set("places.stuck.0.tokens", many(stats.MaxStuck+1, m.at("places.stuck.0.tokens.0")))
		}},
		"many waits":  {TooMany, func(m document) { m.set("places.stuck.0.tokens.0.waits", many(MaxWaits+1, object{})) }},
		"many rows":   {TooMany, func(m document) { m.set("places", object{"tokens": make([]uint64, MaxRows+1)}) }},
		"many blocks": {TooMany, func(m document) { m.set("blocks", many(MaxBlocks+1, object{})) }},
		"many buckets": {TooMany, func(m document) {
			m.set("transitions.duration.len.0", 161)
			m.set("transitions.duration.index", many(161, 1))
			m.set("transitions.duration.count", many(161, 1))
		}},
	}
}

// Both lanes reject a message for the same reason.
func TestDecodeRejects(t *testing.T) {
	for rule, c := range refusals() {
		m := goldenDocument(t)
		c.spoil(m)
		payload, text := m.payload(t)
		var into Snapshot
		if err := new(Decoder).Decode(payload, &into); !errors.Is(err, c.want) {
			t.Errorf("%s: %v, want %v", rule, err, c.want)
		}
		if err := new(Decoder).DecodeJSON(text, &into); !errors.Is(err, c.want) && len(text) <= MaxMessage {
			t.Errorf("%s, json: %v, want %v", rule, err, c.want)
		}
	}
}

// Differences that other implementations are allowed are normalized.
func TestDecodePutsInOrder(t *testing.T) {
	m := goldenDocument(t)
	late := object{"instance": "b", "injected": now0 - 1}
	early := object{"instance": "a", "injected": now0 - 2, "waits": []any{object{"reason": 99}}}
	m.set("places.stuck", []any{object{"place": 1, "tokens": []any{late, early}}})
	m.set("places.dwell.schema.1", 3) // without a bucket
	m.set("blocks", []any{object{"place": 2, "reason": 5, "instances": 1}, object{"place": 1, "reason": 5, "instances": 2},
		object{"place": 2, "reason": 5, "instances": 3}})
	payload, _ := m.payload(t)
	var got Snapshot
	if err := new(Decoder).Decode(payload, &got); err != nil {
		t.Fatal(err)
	}
	wantStuck := []stats.Token{
		{Instance: "a", Injected: now0 - 2, Waits: []stats.Wait{{Reason: stats.ReasonUnknown, Place: stats.NoPlace}}},
		{Instance: "b", Injected: now0 - 1},
	}
	if d := cmp.Diff(wantStuck, got.Rows.Places[1].Stuck, same); d != "" {
		t.Errorf("tokens, oldest first (-want +got):\n%s", d)
	}
	wantBlocks := []stats.Block{{Place: 0, Reason: stats.ReasonMissing, Instances: 2}, {Place: 1, Reason: stats.ReasonMissing, Instances: 4}}
	if d := cmp.Diff(wantBlocks, got.Rows.Blocks); d != "" {
		t.Errorf("blocks, each condition once (-want +got):\n%s", d)
	}
	if h := got.Rows.Places[1].Dwell; h.Schema != 0 {
		t.Errorf("schema %d of an empty histogram", h.Schema)
	}
}

func TestEveryReasonIsListedOnce(t *testing.T) {
	reasons := Reasons()
	slices.Sort(reasons)
	if len(slices.Compact(reasons)) != 9 || slices.Contains(reasons, "") {
		t.Errorf("%q", reasons)
	}
	if got := ReasonOf(errors.New("other")); got != "" {
		t.Errorf("reason %q of an error without a reason", got)
	}
}

// A decoder of sums accepts counts above the limit of one source, up to the
// largest sum. It rejects everything else that any decoder rejects.
func TestDecoderOfSums(t *testing.T) {
	for _, path := range []string{"places.arrivals.0", "places.dwell.count.0", "places.dwell.zero.0", "transitions.firings.0",
		"transitions.duration.count.0", "row.created", "queues.0.served"} {
		for _, c := range []struct {
			n         uint64
			one, sums bool
		}{{MaxCount, true, true}, {MaxCount + 1, false, true}, {stats.MaxSum, false, true}, {stats.MaxSum + 1, false, false}} {
			m := goldenDocument(t)
			m.set(path, c.n)
			payload, _ := m.payload(t)
			var into Snapshot
			if err := new(Decoder).Decode(payload, &into); (err == nil) != c.one || !c.one && !errors.Is(err, BadValue) {
				t.Errorf("%s of %d: %v", path, c.n, err)
			}
			if err := (&Decoder{Sums: true}).Decode(payload, &into); (err == nil) != c.sums || !c.sums && !errors.Is(err, BadValue) {
				t.Errorf("%s with a total of %d: %v", path, c.n, err)
			}
		}
	}
}

func lost(r object) func(document) {
	return func(m document) { m.set("remnants", object{"lost": []any{r}}) }
}

// What is not protobuf is rejected as that, wherever it is in a message.
func TestWhatIsNotProtobufIsRejectedWhereverItIs(t *testing.T) {
	payloads := map[string][]byte{}
	for name, s := range map[string]Snapshot{"remnants": remnantsGolden(), "groups": groupsGolden()} {
		payload, err := new(Encoder).Append(nil, &s)
		if err != nil {
			t.Fatal(err)
		}
		payloads[name] = payload
	}
	s := groupsGolden()
	text, err := new(Encoder).AppendJSON(nil, &s)
	if err != nil {
		t.Fatal(err)
	}
	m := document{}
	if err := json.Unmarshal(text, &m); err != nil {
		t.Fatal(err)
	}
	m.set("places.stuck.0.groups.0.oldest", 1) // so that its token is not read
	text, err = json.Marshal(m)
	if err == nil {
		payloads["a token that is not read"], err = wire.FromJSON("Snapshot", text)
	}
	if err != nil {
		t.Fatal(err)
	}
	for name, payload := range payloads {
		var d Decoder
		var into Snapshot
		if err := d.Decode(payload, &into); err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		changed, bad := slices.Clone(payload), 0
		for i, was := range payload {
			for _, to := range []byte{0x00, 0x07, 0x80, 0xff, was ^ 1, was + 8} {
				changed[i] = to
				if snapshotFields().scan(changed, exact) == nil {
					continue
				}
				bad++
				if err := d.Decode(changed, &into); !errors.Is(err, NotProtobuf) {
					t.Fatalf("%s: byte %d is %#x instead of %#x: %v", name, i, to, was, err)
				}
			}
			changed[i] = was
		}
		if bad < len(payload)/2 {
			t.Errorf("%s: %d of %d bytes", name, bad, len(payload))
		}
	}
}
