// SPDX-License-Identifier: Apache-2.0

package walls

import (
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

// reader is code that reads bytes that another program, host or person wrote.
type reader struct {
	reads string // what, and from where
	dir   string
	name  string // the function
	fuzz  string // its target in dir
}

// parsers are all that a neighbour reaches. A new one is added with its fuzz target.
var parsers = []reader{
	// NATS.
	{"snapshots as protobuf", "telemetry", "Decode", "FuzzDecode"},
	{"snapshots as JSON", "telemetry", "DecodeJSON", "FuzzDecode"},
	{"fields of protobuf", "telemetry", "scan", "FuzzScan"},
	{"packed numbers", "telemetry", "readPacked", "FuzzScan"},
	{"definitions with gzip", "telemetry", "unpack", "FuzzUnpack"},
	{"tokens of subjects", "telemetry", "Unescape", "FuzzEscape"},
	{"requests for tokens and instances", "telemetry", "oldest", "FuzzOldest"},
	{"answers with the oldest tokens", "telemetry", "readOldest", "FuzzReadOldest"},
	{"answers about instances", "telemetry", "readInstance", "FuzzInstance"},
	{"answers about sources", "telemetry", "readDiscovered", "FuzzDiscovered"},
	{"messages of any kind, for wire check", "telemetry/wirecheck", "Receive", "FuzzReceive"},
	{"actions that engines publish", "telemetry", "ReadAction", "FuzzAction"},
	{"answers of engines to requests", "act", "readAnswer", "FuzzAnswer"},
	{"definitions of nets", "collector/merge", "ReadDefinition", "FuzzReadDefinition"},
	{"snapshots of sources and of sidecars of a tree", "collector", "receive", "FuzzCollector"},
	{"requests to inject and fire", "engine", "decodeRequest", "FuzzRequest"},
	{"heartbeats of regions", "engine/region", "decodeBeat", "FuzzBeat"},
	{"journals in JetStream: answers", "engine/journal/stream", "parseAnswer", "FuzzAnswer"},
	{"journals in JetStream: replies", "engine/journal/stream", "parseReply", "FuzzReply"},
	{"journals in JetStream: names of snapshots", "engine/journal/stream", "parseSnapshotName", "FuzzSnapshotName"},
	{"journals in JetStream: records of a net", "engine/plain", "Replay", "FuzzReplay"},
	{"journals in JetStream: records of a net with data", "engine/coloured", "Replay", "FuzzReplay"},
	{"journals in JetStream: what crosses regions", "petri/split", "ReadCrossings", "FuzzReadCrossings"},
	{"journals in JetStream: offers to other regions", "engine", "UnmarshalJSON", "FuzzUpstream"},
	{"heartbeats of sidecars", "collector/standby/roster", "Decode", "FuzzDecode"},
	{"seals of messages of sidecars", "collector/standby", "parseSeal", "FuzzSeal"},
	{"pages and parcels of sidecars", "collector/standby", "DecodePage", "FuzzDecodePage"},
	{"silent sources of sidecars: content", "collector/merge", "TakeSilent", "FuzzState"},
	{"alarms of sidecars: content", "collector/alarm", "ParseSaved", "FuzzParseSaved"},
	{"notes of sidecars: content", "collector/alarm", "ParseNoted", "FuzzParseNotes"},

	// SNMP and AgentX.
	{"requests over UDP", "snmp", "answer", "FuzzAnswer"},
	{"messages of SNMPv3", "snmp", "decode", "FuzzAnswer3"},
	{"requests of SNMPv3", "snmp", "answer3", "FuzzAnswer3"},
	{"what messages of SNMPv3 decrypt to", "snmp", "decrypt", "FuzzDecrypted"},
	{"scoped PDUs of SNMPv3", "snmp", "open", "FuzzDecrypted"},
	{"acknowledgements of informs", "snmp", "decodeAck", "FuzzAck"},
	{"answers to informs of SNMPv3", "snmp", "reported", "FuzzInformAnswer3"},
	{"AgentX PDUs", "agentx/pdu", "Decode", "FuzzDecode"},
	{"AgentX sessions", "agentx", "Run", "FuzzSession"},
	{"object identifiers as text", "mib/smi", "ParseOID", "FuzzParseOID"},

	// HTTP.
	{"requests of the API and the live page", "web", "Handler", "FuzzRequest"},
	{"BPMN files of nets from engines", "web", "modelOf", "FuzzModel"},
	{"documents of a sidecar, for top", "top", "Update", "FuzzDecode"},
	{"documents of a sidecar, for report", "dashboards/report", "lay", "FuzzSidecars"},
	{"answers of Prometheus", "internal/promquery", "Read", "FuzzRead"},
	{"answers of Prometheus, for report", "dashboards/report", "read", "FuzzAnswers"},
	{"answers of Prometheus, for older moments", "archive", "valueOf", "FuzzRead"},
	{"answers of actions", "engine/action", "decode", "FuzzAnswer"},

	// Engines and their logs.
	{"lines of events as JSON", "attach/lines", "read", "FuzzJSONLines"},
	{"lines of events", "attach/lines", "Feed", "FuzzLines"},
	{"XES", "attach/lines", "read", "FuzzXES"},
	{"OCEL", "attach/lines", "readOCEL", "FuzzOCEL"},
	{"expositions of metrics", "attach/scrape", "parse", "FuzzScrape"},
	{"tables of Airflow", "attach/sqldb", "readAirflow", "FuzzAirflow"},
	{"answers of Camunda 8", "attach/camunda8", "poll", "FuzzAnswers"},
	{"answers of Redis", "attach/redis", "poll", "FuzzAnswers"},
	{"answers of Kubernetes", "attach/kubernetes", "apply", "FuzzAnswers"},
	{"histories of Temporal", "attach/temporal", "readEvent", "FuzzHistory"},
	{"stack traces of Temporal", "attach/temporal", "blockedAt", "FuzzStackTrace"},
	{"watches of DiPeN", "attach/dipen", "readWatch", "FuzzReadWatch"},
	{"ranges of DiPeN", "attach/dipen", "readRange", "FuzzReadRange"},
	{"keys of DiPeN", "attach/dipen/replica", "ParseKey", "FuzzParseKey"},

	// Files.
	{"files of nets of any kind", "petri/netfile", "Read", "FuzzRead"},
	{"PNML", "petri/pnml", "Read", "FuzzRead"},
	{"BPMN", "petri/bpmn", "Read", "FuzzRead"},
	{"DMN", "petri/dmn", "Read", "FuzzRead"},
	{"diagrams of BPMN", "petri/bpmn/diagram", "Read", "FuzzRead"},
	{"event logs in XES", "petri/xes", "Next", "FuzzRead"},
	{"XML", "petri/xmlscan", "Next", "FuzzNext"},
	{"durations", "internal/duration", "Parse", "FuzzParse"},
	{"timers of ISO 8601", "petri/iso8601", "Parse", "FuzzParse"},
	{"properties of nets", "petri/query", "Read", "FuzzRead"},
	{"YAML", "petri/yamlfile", "Read", "FuzzRead"},
	{"bindings", "engine", "ReadBindings", "FuzzReadBindings"},
	{"expressions in FEEL", "engine/guard/feel", "Compile", "FuzzFEEL"},
	{"unary tests in FEEL", "engine/guard/feel", "CompileTests", "FuzzTests"},
	{"expressions in UEL", "engine/guard/uel", "Compile", "FuzzUEL"},
	{"guards", "engine/guard", "Guard", "FuzzGuard"},
	{"rules of alarms", "collector/alarm", "ReadRules", "FuzzReadRules"},
	{"patterns of rules", "collector/alarm", "Match", "FuzzMatch"},
	{"keys of sidecars", "collector/standby", "parseKeys", "FuzzParseKeys"},
	{"users of SNMPv3", "snmp", "parseUsers", "FuzzParseUsers"},
	{"mappings of metrics", "attach/scrape", "ReadMapping", "FuzzReadMapping"},
	{"mappings of databases", "attach/sqldb", "ReadMapping", "FuzzReadMapping"},
	{"names in permissions", "telemetry/permissions", "WriteServer", "FuzzWrite"},

	// Files of state, of which a crash may leave a part.
	{"files of frames", "internal/framed", "Parse", "FuzzParse"},
	{"oids.lock", "mib", "ParseLock", "FuzzParseLock"},
	{"the engine of SNMPv3", "snmp", "parseEngine", "FuzzParseEngine"},
	{"alarms", "collector/alarm", "ParseSaved", "FuzzParseSaved"},
	{"notes of alarms", "collector/alarm", "ParseNoted", "FuzzParseNotes"},
	{"counters", "collector/counts", "parse", "FuzzParse"},
	{"silent sources", "collector/merge", "Restore", "FuzzState"},
	{"journals in a directory", "engine/journal", "Open", "FuzzOpen"},
	{"positions in logs", "attach/lines", "loadState", "FuzzState"},
	{"positions in replays", "attach/lines/replay", "LoadState", "FuzzLoadState"},
	{"positions of adapters", "attach/internal/ledger", "readState", "FuzzReadState"},
	{"journals of DiPeN", "attach/dipen", "parseJournal", "FuzzParseJournal"},
}

// make fuzz runs each function that this finds, in each package of the module.
var (
	targetsOf = regexp.MustCompile(`(?m)^func (Fuzz[A-Za-z0-9_]+)\(`)
	pattern   = `'^func Fuzz[A-Za-z0-9_]+' "$1"/*_test.go`
)

func TestEachParserThatANeighbourReachesHasAFuzzTarget(t *testing.T) {
	const root = "../.."
	script, err := os.ReadFile(filepath.Join(root, "scripts", "fuzz"))
	if err != nil || !strings.Contains(string(script), pattern) || !strings.Contains(string(script), `"${@:-./...}"`) {
		t.Fatalf("scripts/fuzz: %v; expected that it runs what %s finds in ./...", err, pattern)
	}
	makefile, err := os.ReadFile(filepath.Join(root, "Makefile"))
	if err != nil || !strings.Contains(string(makefile), "scripts/fuzz $(FUZZTIME)\n") {
		t.Fatalf("Makefile: %v; expected that make fuzz runs scripts/fuzz for every package", err)
	}
	for _, p := range parsers {
		dir := filepath.Join(root, filepath.FromSlash(p.dir))
		if _, is := rooms[p.dir]; !is {
			t.Errorf("%s: %s is no package of the module", p.reads, p.dir)
		}
		if targets := textOf(t, dir, true); !contains(targetsOf.FindAllStringSubmatch(targets, -1), p.fuzz) {
			t.Errorf("%s: %s has no fuzz target %s", p.reads, p.dir, p.fuzz)
		}
		function := regexp.MustCompile(`(?m)^func (\([^)]*\) )?` + p.name + `[\[(]`)
		if !function.MatchString(textOf(t, dir, false)) {
			t.Errorf("%s: %s has no function %s", p.reads, p.dir, p.name)
		}
	}
}

func contains(found [][]string, name string) bool {
	for _, f := range found {
		if f[1] == name {
			return true
		}
	}
	return false
}

// textOf returns the text of the Go files of a directory: its tests, or the others.
func textOf(t *testing.T, dir string, tests bool) string {
	t.Helper()
	files, err := filepath.Glob(filepath.Join(dir, "*.go"))
	if err != nil {
		t.Fatal(err)
	}
	var text strings.Builder
	for _, file := range files {
		if strings.HasSuffix(file, "_test.go") != tests {
			continue
		}
		source, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		text.Write(source)
	}
	return text.String()
}
