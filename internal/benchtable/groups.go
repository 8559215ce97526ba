// SPDX-License-Identifier: Apache-2.0

package main

import "slices"

// group is the benchmarks of one package that are run together.
type group struct {
	pkg     string
	pattern string // of go test -bench
	rows    []row
	// oneProcessor keeps the benchmark and the processes that it starts on one
	// processor. If processes take turns, waking another processor costs more than
	// the work.
	oneProcessor bool
}

// row is one line of the table.
type row struct {
	what     string
	name     string // of the benchmark, without "Benchmark"
	unit     string // "" for ns/op
	base     string // name of the base; "" for none
	baseUnit string // "" for the same
	baseIs   string // what the base is
	goal     string
}

// groups returns the benchmarks behind the promises of speed.
func groups() []group { return slices.Concat(engineGroups(), sidecarGroups(), otherGroups()) }

// engineGroups are about engines.
func engineGroups() []group {
	const bare = "the bare game, nothing recorded"
	return []group{
		{pkg: "engine/plain", pattern: "BareGame|Recorded|Look|Logged|Dispatched|Memory", rows: []row{
			{what: "a firing, recorded, hot ring of 100", name: "RecordedRing100", base: "BareGame", baseIs: bare, goal: "≤ 20 ns, no allocation"},
			{what: "the same, allocated", name: "RecordedRing100", unit: "B/op"},
			{what: "ring of 1,000", name: "RecordedRing1000", base: "RecordedRing100", baseIs: "ring of 100", goal: "the same"},
			{what: "at random over 100,000 instances", name: "RecordedRandom100k", base: "BareGame", baseIs: bare, goal: "≤ 35 ns"},
			{what: "the same on two shards", name: "RecordedRandom100kTwoShards", base: "RecordedRandom100k", baseIs: "one shard", goal: "near 0.5"},
			{what: "at random over 1,000,000", name: "RecordedRandom1M", base: "BareGame", baseIs: bare},
			{what: "an instance of 100 tokens", name: "RecordedWide", base: "BareGame", baseIs: bare},
			{what: "a tick's look at 100,000 instances", name: "Look100k"},
			{what: "the same with 100,000 old tokens, and why each waits", name: "LookStuck100kWhy", base: "LookStuck100kCounts", baseIs: "without why", goal: "≤ 1 % of a second more"},
			{what: "a firing that is also written down", name: "LoggedRing100", base: "RecordedRing100", baseIs: "recorded only"},
			{what: "memory of an instance of a 30-place net, of a million", name: "Memory", unit: "bytes/instance", goal: "≤ 200 bytes"},
			{what: "a visit of one firing, quoted", name: "DispatchedQuoted100k", base: "RecordedRandom100k", baseIs: "in turn"},
		}},
		{pkg: "engine/coloured", pattern: "Plain|Guarded|Actions|Idle", rows: []row{
			{what: "coloured: a firing without data, hot ring of 100", name: "PlainRing100", base: "PlainGame", baseIs: "game, the same ring"},
			{what: "coloured: a firing with a guard", name: "GuardedRing100", base: "PlainRing100", baseIs: "without"},
			{what: "coloured: an action started and answered", name: "ActionsAtOnce", base: "PlainRing100", baseIs: "a firing without", goal: "≤ 1 µs"},
			{what: "coloured: an instance with a token at its end", name: "IdleInstance/AtEnd", unit: "bytes/instance"},
		}},
		{pkg: "engine", pattern: "Firings|Actions|Injections|StartFrom", rows: []row{
			{what: "engine, one worker", name: "Firings", unit: "firings/s"},
			{what: "the same, strictly by priority", name: "FiringsStrict", unit: "firings/s", base: "Firings", baseIs: "in turn"},
			{what: "the same, quoted round robin over two priorities", name: "FiringsQuoted", unit: "firings/s", base: "Firings", baseIs: "in turn", goal: "≥ 8 M/s"},
			{what: "the same, a worker for each of two priorities", name: "FiringsDedicated", unit: "firings/s", base: "Firings", baseIs: "one worker", goal: "≥ 20 M/s"},
			{what: "injections by four callers, each answered", name: "Injections", unit: "injections/s"},
			{what: "engine, journalled, synced every 100 ms", name: "JournalledFirings", unit: "firings/s", base: "Firings", baseIs: "no journal", goal: "≥ 300,000/s"},
			{what: "engine, a guard on every firing", name: "ColouredFirings", unit: "firings/s", base: "Firings", baseIs: "plain"},
			{what: "a start with 1,000,000 instances from a snapshot", name: "StartFromJournal/snapshot", goal: "≤ 30 s"},
			{what: "the same from the log of their 29,000,000 firings", name: "StartFromJournal/log", base: "StartFromJournal/snapshot", baseIs: "from a snapshot", goal: "≤ 30 s"},
			{what: "actions that complete at once", name: "Actions", unit: "firings/s", base: "ColouredFirings", baseIs: "a guard instead", goal: "≥ 1 M/s"},
		}},
		{pkg: "engine/ready", pattern: "BareRing|Queue|Pool", rows: []row{
			{what: "ready queue, strictly ordered, one owner", name: "QueueStrict", unit: "events/s", base: "BareRing", baseIs: "a bare ring", goal: "≥ 20 M/s"},
			{what: "ready queue, quoted round robin, one owner", name: "QueueQuoted", unit: "events/s", base: "BareRing", baseIs: "a bare ring", goal: "≥ 20 M/s"},
			{what: "pool of work, batch 1", name: "PoolBatch1", unit: "events/s", base: "BareRing", baseIs: "a bare ring", goal: "≥ 10 M/s"},
			{what: "pool of work, batch 16", name: "PoolBatch16", unit: "events/s", base: "BareRing", baseIs: "a bare ring", goal: "≥ 20 M/s"},
		}},
		{pkg: "engine/journal", pattern: "Append|Replay", rows: []row{
			{what: "journal, 1,024 commits a write, synced every 100 ms", name: "Append/journal/mode=interval/group=1024", unit: "commits/s",
				base: "Append/base=file/mode=interval/group=1024", baseIs: "bare file writes"},
			{what: "journal, 64 commits a write, each write synced", name: "Append/journal/mode=always/group=64", unit: "commits/s",
				base: "Append/base=file/mode=always/group=64", baseIs: "bare file writes"},
			{what: "journal opened and read, 128-byte commits", name: "Replay/open_and_read/commit=128", unit: "MB/s",
				base: "Replay/base=file/commit=128", baseIs: "reading the file"},
		}},
		{pkg: "petri/explore", pattern: "Visit|Remember", rows: []row{
			{what: "16,807 markings visited", name: "Visit", base: "RememberMarkings", baseIs: "only remembering them"},
		}},
	}
}

// sidecarGroups are about telemetry, sidecars and readers.
func sidecarGroups() []group {
	const constMetrics = "const metrics of client_golang"
	const cachedPrefixes = "an encoder with cached prefixes"
	return []group{
		{pkg: "telemetry", pattern: "Decode|Encode", rows: []row{
			{what: "decode 50 + 50 rows, counts and times", name: "Decode/counts_and_times/protobuf", base: "Decode/counts_and_times/base=encoding-json", baseIs: "encoding/json"},
			{what: "decode 50 + 50 rows, everything", name: "Decode/all/protobuf", base: "Decode/all/base=encoding-json", baseIs: "encoding/json"},
			{what: "encode 50 + 50 rows, everything", name: "Encode/protobuf", base: "Encode/base=encoding-json", baseIs: "encoding/json"},
		}},
		{pkg: "collector/merge", pattern: "Snapshots|View|Memory", rows: []row{
			{what: "snapshots of 50 + 50 rows decoded and merged", name: "Snapshots/0_buckets_0_slots/decode_and_merge", unit: "snapshots/s",
				base: "Snapshots/0_buckets_0_slots/decode", baseIs: "decoded only", goal: "≥ 100,000/s"},
			{what: "the same with 4 dwell buckets and 4 ages a place", name: "Snapshots/4_buckets_4_slots/decode_and_merge", unit: "snapshots/s",
				base: "Snapshots/4_buckets_4_slots/decode", baseIs: "decoded only"},
			{what: "the same with 40 dwell buckets and 8 ages", name: "Snapshots/40_buckets_8_slots/decode_and_merge", unit: "snapshots/s",
				base: "Snapshots/40_buckets_8_slots/decode", baseIs: "decoded only"},
			{what: "View of 10,000 places rebuilt, 1 source", name: "View/1_sources/rebuild", base: "View/1_sources/copy", baseIs: "copying the rows", goal: "≤ 20 ms"},
			{what: "View of 10,000 places rebuilt, 10 sources", name: "View/10_sources/rebuild", base: "View/10_sources/copy", baseIs: "copying the rows", goal: "≤ 20 ms"},
			{what: "memory of a place of a source, 40 dwell buckets", name: "Memory", unit: "bytes/place", goal: "≤ 1 KiB"},
		}},
		{pkg: "stats", pattern: "Search", rows: []row{
			{what: "a page of 66 among 100,000 tokens of a place", name: "Search/search", base: "Search/base=sort", baseIs: "all sorted"},
		}},
		{pkg: "mib/smi", pattern: "Next|Row", rows: []row{
			{what: "GetNext among 100,000 rows of 8 columns", name: "Next/layout/rows=100000", base: "Next/base=slices/rows=100000", baseIs: "sort.Search over slices", goal: "≤ 1 µs"},
			{what: "the same, beside 1,000 rows", name: "Next/layout/rows=100000", base: "Next/layout/rows=1000", baseIs: "among 1,000 rows"},
			{what: "memory of a row of 8 columns, of 100,000", name: "Row/layout/rows=100000", unit: "B/row", base: "Row/base=full-names/rows=100000", baseIs: "names in full", goal: "≤ 200 bytes"},
		}},
		{pkg: "mib", pattern: "Build|Load", rows: []row{
			{what: "SNMP table of 10,000 places, values of a tick", name: "Build/places=10000/transitions=0/values",
				base: "Build/places=10000/transitions=0/base=memory", baseIs: "filling the memory", goal: "≤ 1 ms"},
			{what: "the same, after a row was added or removed", name: "Build/places=10000/transitions=0/rows",
				base: "Build/places=10000/transitions=0/base=memory", baseIs: "filling the memory", goal: "≤ 1 ms"},
			{what: "the same, all values read once", name: "Build/places=10000/transitions=0/read",
				base: "Build/places=10000/transitions=0/base=memory", baseIs: "filling the memory"},
			{what: "snmptranslate reads the module of 5,000 places", name: "Load/module=5000", base: "Load/base=PETRINET-MIB", baseIs: "PETRINET-MIB alone", goal: "≤ 3 s"},
		}},
		{pkg: "agentx", pattern: "WalkThroughSnmpd|BulkOfEight", oneProcessor: true, rows: []row{
			{what: "snmpbulkwalk through snmpd, all on one processor, 80,000 variables", name: "WalkThroughSnmpd/variables=80000", unit: "variables/s",
				base: "WalkThroughSnmpd/variables=80000", baseUnit: "base-variables/s", baseIs: "a handler that answers a constant", goal: "≥ 40,000/s"},
			{what: "the same, processor time of the subagent for 100,000 variables", name: "WalkThroughSnmpd/variables=100000", unit: "cpu-us/variable",
				base: "WalkThroughSnmpd/variables=1000", baseIs: "of 1,000", goal: "≤ 1"},
			{what: "GETBULK over eight columns through snmpd", name: "BulkOfEightColumnsThroughSnmpd", unit: "variables/s",
				base: "WalkThroughSnmpd/variables=80000", baseIs: "over one", goal: "≥ 130,000/s"},
		}},
		{pkg: "agentx", pattern: "WalkThroughSnmpd/variables=80000", rows: []row{
			{what: "snmpbulkwalk through snmpd, on all processors: that of the subagent", name: "WalkThroughSnmpd/variables=80000", unit: "cpu-us/variable",
				base: "WalkThroughSnmpd/variables=80000", baseUnit: "snmpd-cpu-us/variable", baseIs: "that of snmpd", goal: "≤ 1"},
		}},
		{pkg: "snmp", pattern: "Answer|Walk/octets=1472", rows: []row{
			{what: "walk of the built-in responder over UDP", name: "Walk/octets=1472", unit: "variables/s",
				base: "Walk/octets=1472", baseUnit: "echo-variables/s", baseIs: "an echo of the same packets", goal: "≥ 0.8"},
			{what: "the same in process", name: "Answer/own", unit: "variables/s", base: "Answer/base=gosnmp", baseIs: "gosnmp's codec"},
		}},
		{pkg: "metrics", pattern: "Gather|Scrape|ThousandNets", rows: []row{
			{what: "scrape of 110,500 series, gathered", name: "Gather/kept/view=new", unit: "ns/series", base: "Gather/base=const", baseIs: constMetrics},
			{what: "scrape of 125,600 series as text, all changed", name: "ScrapeText/changed=all", unit: "ns/line",
				base: "ScrapeText/changed=all", baseUnit: "base-ns/line", baseIs: cachedPrefixes, goal: "≤ 1.2"},
			{what: "the same, one net of 100 changed", name: "ScrapeText/changed=1of100", unit: "ns/line",
				base: "ScrapeText/changed=1of100", baseUnit: "base-ns/line", baseIs: cachedPrefixes, goal: "≤ 1.2"},
			{what: "scrape of 110,500 series, gzip", name: "Scrape/kept/text+gzip", unit: "ns/series", base: "Scrape/base=const/text+gzip", baseIs: constMetrics},
			{what: "1,000 nets of 100 places within a budget, gzip", name: "ThousandNets/nets=1000", unit: "ns/series", base: "ThousandNets/base=1x1000", baseIs: "one net, a thousand times"},
		}},
		{pkg: "web", pattern: "Crowd|Frame", rows: []row{
			{what: "page frame of 10,000 places and transitions, 1 % changed, and its difference", name: "Frame", unit: "µs/view", base: "Frame", baseUnit: "whole-µs/view", baseIs: "a whole frame, not compared", goal: "≤ 1 ms"},
			{what: "200 viewers of a net of 1,000 nodes that all change, a View a second", name: "Crowd/200_viewers_packed", unit: "%core", base: "Crowd/1_viewer_packed", baseIs: "one viewer", goal: "≤ 5 %"},
			{what: "sent to each of them for a View", name: "Crowd/200_viewers_packed", unit: "B/viewer"},
		}},
	}
}

// otherGroups are of drawings, recorders, adapters and readers.
func otherGroups() []group {
	return []group{
		{pkg: "petri/draw", pattern: "Net/(base-100|1000|process_of_[15]000|base-plain-.*)$", rows: []row{
			{what: "a net of 1,000 nodes and 2,500 arcs laid out", name: "Net/1000", base: "Net/base-100", baseIs: "a tenth of it"},
			{what: "a process of 1,000 nodes laid out in strips", name: "Net/process_of_1000", base: "Net/base-plain-process_of_1000", baseIs: "in one strip"},
			{what: "a process of 5,000 nodes laid out in strips", name: "Net/process_of_5000", base: "Net/base-plain-process_of_5000", baseIs: "in one strip"},
		}},
		{pkg: "telemetry", pattern: "Record", rows: []row{
			{what: "an event reported to the SDK, one of a firing's three", name: "Record/a_firing's_three_events,_each", base: "Record/base_of_a_mutex", baseIs: "a counter behind a mutex", goal: "≤ 10 ns"},
			{what: "a token of any age taken", name: "Record/Take_of_any_age", base: "Record/base_of_a_mutex", baseIs: "a counter behind a mutex"},
		}},
		{pkg: "attach/lines", pattern: "Lines|Base", rows: []row{
			{what: "JSON lines read and replayed, 10,000 instances open", name: "Lines/open=10000", unit: "events/s", base: "Base", baseIs: "encoding/json alone", goal: "≥ 300,000/s"},
		}},
		{pkg: "attach/scrape", pattern: "10kSeries", rows: []row{
			{what: "10,000 series of another engine read as rows", name: "Scrape10kSeries", base: "Parse10kSeries", baseIs: "expfmt's parser alone"},
		}},
		{pkg: "attach/dipen/replica", pattern: "Firing", rows: []row{
			{what: "a firing of a DiPeN read from etcd, among 100,000 tokens", name: "Firing", base: "FiringKeys", baseIs: "reading its keys"},
		}},
		{pkg: "petri/pnml", pattern: "Read", rows: []row{
			{what: "PNML read", name: "Read/Read", unit: "MB/s", base: "Read/base:_encoding-xml", baseIs: "the tokens of encoding/xml only", goal: "≥ 0.6 of expat"},
			{what: "XML tokens only", name: "Read/base:_tokens_only", unit: "MB/s", base: "Read/base:_encoding-xml", baseIs: "those of encoding/xml"},
		}},
		{pkg: "petri/bpmn", pattern: "Read", rows: []row{
			{what: "BPMN read", name: "Read/Read", unit: "MB/s", base: "Read/base:_encoding-xml", baseIs: "the tokens of encoding/xml only", goal: "≥ 0.6"},
		}},
	}
}
