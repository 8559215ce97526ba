// SPDX-License-Identifier: Apache-2.0

package telemetry

import (
	"errors"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"google.golang.org/protobuf/encoding/protojson"
	"google.golang.org/protobuf/proto"

	"github.com/pnagent/pnagent/stats"
	"github.com/pnagent/pnagent/telemetry/wire"
)

// goldenWire returns the golden snapshot as a message: 2 places, 1 transition.
func goldenWire(t *testing.T) *wire.Snapshot {
	t.Helper()
	s := regionGolden()
	payload, err := new(Encoder).Append(nil, &s)
	if err != nil {
		t.Fatal(err)
	}
	m := &wire.Snapshot{}
	if err := proto.Unmarshal(payload, m); err != nil {
		t.Fatal(err)
	}
	return m
}

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
	spoil func(m *wire.Snapshot)
}

// refusals returns messages that each break one rule of a snapshot.
func refusals() map[string]refusal {
	return map[string]refusal{
		"no source":                 {BadName, func(m *wire.Snapshot) { m.Source = "" }},
		"long source":               {BadName, func(m *wire.Snapshot) { m.Source = strings.Repeat("*", 256) }},
		"control character":         {BadName, func(m *wire.Snapshot) { m.Source = "a\u0007" }},
		"no net":                    {BadName, func(m *wire.Snapshot) { m.Net = "" }},
		"digest":                    {BadName, func(m *wire.Snapshot) { m.Digest = "00" }},
		"long region":               {BadName, func(m *wire.Snapshot) { m.Region = strings.Repeat("r", 256) }},
		"long instance":             {BadName, func(m *wire.Snapshot) { m.Places.Stuck[0].Tokens[0].Instance = strings.Repeat("i", 256) }},
		"long what":                 {BadName, func(m *wire.Snapshot) { m.Places.Stuck[0].Tokens[0].Waits[0].What = strings.Repeat("w", 201) }},
		"what of two lines":         {BadName, func(m *wire.Snapshot) { m.Places.Stuck[0].Tokens[0].Waits[0].What = "a\nb" }},
		"no epoch":                  {BadValue, func(m *wire.Snapshot) { m.Epoch = 0 }},
		"epoch in 2300":             {BadValue, func(m *wire.Snapshot) { m.Epoch = MaxTime + 1 }},
		"no seq":                    {BadValue, func(m *wire.Snapshot) { m.Seq = 0 }},
		"no sent_at":                {BadValue, func(m *wire.Snapshot) { m.SentAt = 0 }},
		"no interval":               {BadValue, func(m *wire.Snapshot) { m.Interval = 0 }},
		"interval of two days":      {BadValue, func(m *wire.Snapshot) { m.Interval = 2 * 86400e6 }},
		"since 2300":                {BadValue, func(m *wire.Snapshot) { m.Since = MaxTime + 1 }},
		"since before 1970":         {BadValue, func(m *wire.Snapshot) { m.Since = -1 }},
		"since of no region":        {BadValue, func(m *wire.Snapshot) { m.Region, m.RegionState = "", nil }},
		"since without fence":       {BadValue, func(m *wire.Snapshot) { m.Fence = 0 }},
		"state of no region":        {BadValue, func(m *wire.Snapshot) { m.Region, m.Since = "", 0 }},
		"position of 2^60":          {BadValue, func(m *wire.Snapshot) { m.RegionState.Position = 1 << 60 }},
		"lag of 2^60":               {BadValue, func(m *wire.Snapshot) { m.RegionState.Lag = proto.Uint64(1 << 60) }},
		"refused requests of 2^60":  {BadValue, func(m *wire.Snapshot) { m.RefusedRequests = &wire.RefusedRequests{Size: 1 << 60} }},
		"lost since 2300":           {BadValue, lost(&wire.Remnant{Left: MaxTime + 1})},
		"silent since 2300":         {BadValue, lost(&wire.Remnant{SilentSince: MaxTime + 1})},
		"tokens of the silent":      {BadValue, lost(&wire.Remnant{Places: []uint32{0}})},
		"remnants that fall":        {BadIndex, lost(&wire.Remnant{Fired: []uint32{1, 1}})},
		"remnants far out":          {BadIndex, lost(&wire.Remnant{Left: 1, Enabled: []uint32{MaxRows}})},
		"a path of 17 names":        {TooMany, lost(&wire.Remnant{Path: slices.Repeat([]string{"a"}, 17)})},
		"a path with no name":       {BadName, lost(&wire.Remnant{Path: []string{"a", ""}})},
		"a path of two in one":      {BadName, lost(&wire.Remnant{Path: []string{"a\x1fb"}})},
		"a lost region's name":      {BadName, lost(&wire.Remnant{Region: strings.Repeat("r", 256)})},
		"an answer without a path":  {BadName, func(m *wire.Snapshot) { m.Remnants = &wire.Remnants{Answers: []*wire.Answer{{}}} }},
		"8193 remnants":             {TooMany, func(m *wire.Snapshot) { m.Remnants = &wire.Remnants{Lost: make([]*wire.Remnant, MaxRemnants+1)} }},
		"lag of no standby":         {BadValue, func(m *wire.Snapshot) { m.RegionState.Standbys = 0 }},
		"short column":              {BadColumns, func(m *wire.Snapshot) { m.Places.Tokens = m.Places.Tokens[:1] }},
		"long column":               {BadColumns, func(m *wire.Snapshot) { m.Transitions.Firings = []uint64{1, 2} }},
		"half of a group":           {BadColumns, func(m *wire.Snapshot) { m.Places.LastInjection = nil }},
		"half of a group of counts": {BadColumns, func(m *wire.Snapshot) { m.Transitions.Retries = nil }},
		"since without running":     {BadColumns, func(m *wire.Snapshot) { m.Transitions.Running = nil }},
		"ladder of other rows":      {BadColumns, func(m *wire.Snapshot) { m.Places.Ages.Len = m.Places.Ages.Len[:1] }},
		"ladder without len":        {BadColumns, func(m *wire.Snapshot) { m.Places.Ages.Len = nil }},
		"ladder's lens":             {BadColumns, func(m *wire.Snapshot) { m.Places.Ages.Len[0]++ }},
		"ladder's counts":           {BadColumns, func(m *wire.Snapshot) { m.Places.Ages.Count = m.Places.Ages.Count[1:] }},
		"lens that overflow":        {BadColumns, func(m *wire.Snapshot) { m.Places.Ages.Len = []uint32{1 << 31, 1 << 31} }},
		"histogram without len":     {BadColumns, func(m *wire.Snapshot) { m.Places.Dwell.Len = nil }},
		"histogram's schema":        {BadColumns, func(m *wire.Snapshot) { m.Places.Dwell.Schema = m.Places.Dwell.Schema[:1] }},
		"histogram's lens":          {BadColumns, func(m *wire.Snapshot) { m.Transitions.Duration.Len[0] = 7 }},
		"count beyond 2^53":         {BadValue, func(m *wire.Snapshot) { m.Places.Tokens[0] = MaxCount + 1 }},
		"time below zero":           {BadValue, func(m *wire.Snapshot) { m.Places.Oldest[0] = -1 }},
		"time in 2300":              {BadValue, func(m *wire.Snapshot) { m.Transitions.LastFiring[0] = MaxTime + 1 }},
		"a million microseconds":    {BadValue, func(m *wire.Snapshot) { m.Places.InjectedUs[0] = 1e6 }},
		"net's count beyond 2^53":   {BadValue, func(m *wire.Snapshot) { m.Row.Active = MaxCount + 1 }},
		"ladder's start falls":      {BadValue, func(m *wire.Snapshot) { m.Places.Ages.Start[1] = -1 }},
		"ladder's start off":        {BadValue, func(m *wire.Snapshot) { m.Places.Ages.Start[0]++ }},
		"ladder of the future":      {BadValue, func(m *wire.Snapshot) { m.Places.Ages.Start[2] += 1e9 }},
		"ladder counts none":        {BadValue, func(m *wire.Snapshot) { m.Places.Ages.Count[0] = 0 }},
		"ladder counts 2^60":        {BadValue, func(m *wire.Snapshot) { m.Places.Ages.Count[0] = 1 << 60 }},
		"schema too fine":           {BadValue, func(m *wire.Snapshot) { m.Places.Dwell.Schema[0] = 8 }},
		"schema of 2^8":             {BadValue, func(m *wire.Snapshot) { m.Places.Dwell.Schema[0] = 256 }},
		"bucket too high":           {BadValue, func(m *wire.Snapshot) { m.Places.Dwell.Index[0] = 1e6 }},
		"bucket counts none":        {BadValue, func(m *wire.Snapshot) { m.Places.Dwell.Count[0] = 0 }},
		"token without time":        {BadValue, func(m *wire.Snapshot) { m.Places.Stuck[0].Tokens[0].Injected = 0 }},
		"wait until below zero":     {BadValue, func(m *wire.Snapshot) { m.Places.Stuck[0].Tokens[0].Waits[0].Until = -1 }},
		"queue of 2^60":             {BadValue, func(m *wire.Snapshot) { m.Queues[0].Served = 1 << 60 }},
		"queue of the past":         {BadValue, func(m *wire.Snapshot) { m.Queues[1].OldestSince = -1 }},
		"queue of 2300":             {BadValue, func(m *wire.Snapshot) { m.Queues[1].UnservedSince = MaxTime + 1 }},
		"2^60 pieces of work":       {BadValue, func(m *wire.Snapshot) { m.Waiting = proto.Uint64(1 << 60) }},
		"late without timeouts":     {BadColumns, func(m *wire.Snapshot) { m.Transitions.Timeouts = nil }},
		"slowest without dwell":     {BadColumns, func(m *wire.Snapshot) { m.Places.Dwell = nil }},
		"slowest without duration":  {BadColumns, func(m *wire.Snapshot) { m.Transitions.Duration = nil }},
		"slowest at no time":        {BadValue, func(m *wire.Snapshot) { m.Places.Slowest[0].At = 0 }},
		"slowest in 2300":           {BadValue, func(m *wire.Snapshot) { m.Transitions.Slowest[0].At = MaxTime + 1 }},
		"slowest of 2^60":           {BadValue, func(m *wire.Snapshot) { m.Places.Slowest[0].Duration = 1 << 60 }},
		"long name of the slowest":  {BadName, func(m *wire.Snapshot) { m.Transitions.Slowest[0].Instance = strings.Repeat("i", 256) }},
		"slowest in no row":         {BadIndex, func(m *wire.Snapshot) { m.Places.Slowest[0].Row = 2 }},
		"slowest twice in a row":    {BadIndex, func(m *wire.Snapshot) { m.Places.Slowest = append(m.Places.Slowest, m.Places.Slowest[0]) }},
		"block of 2^60":             {BadValue, func(m *wire.Snapshot) { m.Blocks[0].Instances = 1 << 60 }},
		"full with index":           {BadIndex, func(m *wire.Snapshot) { m.Places.Index = []uint32{0, 1} }},
		"index falls": {BadIndex, func(m *wire.Snapshot) {
			m.Full, m.Places.Index, m.Transitions.Index = false, []uint32{1, 0}, []uint32{0}
		}},
		"index twice": {BadIndex, func(m *wire.Snapshot) {
			m.Full, m.Places.Index, m.Transitions.Index = false, []uint32{1, 1}, []uint32{0}
		}},
		"index beyond MaxRows": {BadIndex, func(m *wire.Snapshot) {
			m.Full, m.Places.Index, m.Transitions.Index = false, []uint32{1, MaxRows}, []uint32{0}
		}},
		"sparse without index": {BadColumns, func(m *wire.Snapshot) { m.Full = false }},
		"stuck in no row":      {BadIndex, func(m *wire.Snapshot) { m.Places.Stuck[0].Place = 2 }},
		"stuck rows fall":      {BadIndex, func(m *wire.Snapshot) { m.Places.Stuck = append(m.Places.Stuck, m.Places.Stuck[0]) }},
		"wait beyond MaxRows":  {BadIndex, func(m *wire.Snapshot) { m.Places.Stuck[0].Tokens[0].Waits[0].Place = MaxRows + 1 }},
		"block beyond MaxRows": {BadIndex, func(m *wire.Snapshot) { m.Blocks[0].Transition = MaxRows }},
		"priorities fall":      {BadIndex, func(m *wire.Snapshot) { slices.Reverse(m.Queues) }},
		"priority eight":       {BadIndex, func(m *wire.Snapshot) { m.Queues[1].Priority = 8 }},
		"priority of 2^8":      {BadIndex, func(m *wire.Snapshot) { m.Queues[1].Priority = 256 }},
		"nine queues":          {TooMany, func(m *wire.Snapshot) { m.Queues = many(9, &wire.Queue{}) }},
		"eleven tokens":        {TooMany, func(m *wire.Snapshot) { m.Places.Stuck[0].Tokens = many(stats.MaxStuck+1, m.Places.Stuck[0].Tokens[0]) }},
		"many waits":           {TooMany, func(m *wire.Snapshot) { m.Places.Stuck[0].Tokens[0].Waits = many(MaxWaits+1, &wire.Wait{}) }},
		"many rows":            {TooMany, func(m *wire.Snapshot) { m.Places = &wire.Places{Tokens: make([]uint64, MaxRows+1)} }},
		"many blocks":          {TooMany, func(m *wire.Snapshot) { m.Blocks = many(MaxBlocks+1, &wire.Block{}) }},
		"many buckets": {TooMany, func(m *wire.Snapshot) {
			h := m.Transitions.Duration
			h.Len[0], h.Index, h.Count = 161, many(161, int32(1)), many(161, uint64(1))
		}},
	}
}

// Both lanes reject a message for the same reason.
func TestDecodeRejects(t *testing.T) {
	for rule, c := range refusals() {
		m := goldenWire(t)
		c.spoil(m)
		payload, err := proto.Marshal(m)
		if err != nil {
			t.Fatal(err)
		}
		var into Snapshot
		if err := new(Decoder).Decode(payload, &into); !errors.Is(err, c.want) {
			t.Errorf("%s: %v, want %v", rule, err, c.want)
		}
		if payload, err = protojson.Marshal(m); err != nil {
			t.Fatal(err)
		}
		if err := new(Decoder).DecodeJSON(payload, &into); !errors.Is(err, c.want) && len(payload) <= MaxMessage {
			t.Errorf("%s, json: %v, want %v", rule, err, c.want)
		}
	}
}

// Differences that other implementations are allowed are normalized.
func TestDecodePutsInOrder(t *testing.T) {
	m := goldenWire(t)
	late := &wire.Token{Instance: "b", Injected: now0 - 1}
	early := &wire.Token{Instance: "a", Injected: now0 - 2, Waits: []*wire.Wait{{Reason: 99}}}
	m.Places.Stuck = []*wire.OldestTokens{{Place: 1, Tokens: []*wire.Token{late, early}}}
	m.Places.Dwell.Schema[1] = 3 // without a bucket
	m.Blocks = []*wire.Block{{Transition: 0, Place: 2, Reason: 5, Instances: 1}, {Transition: 0, Place: 1, Reason: 5, Instances: 2},
		{Transition: 0, Place: 2, Reason: 5, Instances: 3}}
	payload, err := proto.Marshal(m)
	if err != nil {
		t.Fatal(err)
	}
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
	for name, count := range map[string]func(m *wire.Snapshot) *uint64{
		"arrivals":  func(m *wire.Snapshot) *uint64 { return &m.Places.Arrivals[0] },
		"dwell":     func(m *wire.Snapshot) *uint64 { return &m.Places.Dwell.Count[0] },
		"zero":      func(m *wire.Snapshot) *uint64 { return &m.Places.Dwell.Zero[0] },
		"firings":   func(m *wire.Snapshot) *uint64 { return &m.Transitions.Firings[0] },
		"durations": func(m *wire.Snapshot) *uint64 { return &m.Transitions.Duration.Count[0] },
		"created":   func(m *wire.Snapshot) *uint64 { return &m.Row.Created },
		"served":    func(m *wire.Snapshot) *uint64 { return &m.Queues[0].Served },
	} {
		for _, c := range []struct {
			n         uint64
			one, sums bool
		}{{MaxCount, true, true}, {MaxCount + 1, false, true}, {stats.MaxSum, false, true}, {stats.MaxSum + 1, false, false}} {
			m := goldenWire(t)
			*count(m) = c.n
			payload, err := proto.Marshal(m)
			if err != nil {
				t.Fatal(err)
			}
			var into Snapshot
			if err := new(Decoder).Decode(payload, &into); (err == nil) != c.one || !c.one && !errors.Is(err, BadValue) {
				t.Errorf("%s of %d: %v", name, c.n, err)
			}
			if err := (&Decoder{Sums: true}).Decode(payload, &into); (err == nil) != c.sums || !c.sums && !errors.Is(err, BadValue) {
				t.Errorf("%s with a total of %d: %v", name, c.n, err)
			}
		}
	}
}

func lost(r *wire.Remnant) func(*wire.Snapshot) {
	return func(m *wire.Snapshot) { m.Remnants = &wire.Remnants{Lost: []*wire.Remnant{r}} }
}
