// SPDX-License-Identifier: Apache-2.0

package e2e

import (
	"encoding/json"
	"fmt"
	"net/url"
	"strconv"
	"strings"
	"testing"

	"github.com/pnagent/pnagent/mib/smi"
	"github.com/pnagent/pnagent/snmp/snmptest"
)

// key names a place or a transition: net and id.
type key struct{ Net, ID string }

// numbers are what every face shows of every net.
type numbers struct {
	Tokens  map[key]uint64 // by place
	Firings map[key]uint64 // by transition
}

func newNumbers() numbers { return numbers{map[key]uint64{}, map[key]uint64{}} }

// of keeps one net.
func (n numbers) of(net string) numbers {
	one := newNumbers()
	for k, v := range n.Tokens {
		if k.Net == net {
			one.Tokens[k] = v
		}
	}
	for k, v := range n.Firings {
		if k.Net == net {
			one.Firings[k] = v
		}
	}
	return one
}

// add adds what an engine reports. It leaves out what is 0, so it wants the
// names from numbers that have them.
func (n numbers) add(r report) {
	for net, did := range r.Nets {
		for id, v := range did.Tokens {
			n.Tokens[key{net, id}] += v
		}
		for id, v := range did.Transitions {
			n.Firings[key{net, id}] += v
		}
	}
}

// zero has the names of n and counts nothing.
func (n numbers) zero() numbers {
	z := newNumbers()
	for k := range n.Tokens {
		z.Tokens[k] = 0
	}
	for k := range n.Firings {
		z.Firings[k] = 0
	}
	return z
}

// numbers are those of the view.
func (v view) numbers() numbers {
	n := newNumbers()
	for _, net := range v.Nets {
		for _, p := range net.Places {
			if p.Tokens != nil {
				n.Tokens[key{net.ID, p.ID}] = *p.Tokens
			}
		}
		for _, tr := range net.Transitions {
			if tr.Firings != nil {
				n.Firings[key{net.ID, tr.ID}] = *tr.Firings
			}
		}
	}
	return n
}

// numbers are those of the scrape.
func (s scrape) numbers() numbers {
	n := newNumbers()
	for _, one := range s.all("petrinet_place_tokens") {
		n.Tokens[key{one.labels["net"], one.labels["place"]}] = uint64(one.value)
	}
	for _, one := range s.all("petrinet_transition_firings_total") {
		n.Firings[key{one.labels["net"], one.labels["transition"]}] = uint64(one.value)
	}
	return n
}

// What a network management station knows of PETRINET-MIB from the module:
// root.1.1 are its objects, of which 1 are the agent's scalars.
const (
	oidRoot         = "1.3.6.1.4.1.8072.9999.9999"
	agentViewTime   = 5
	agentViewAge    = 6
	agentViews      = 7
	netTable        = 2
	placeTable      = 3
	transitionTable = 5
	sourceTable     = 8
	columnID        = 2 // of all four: the id, as in the net's definition, or the source's name
	placeTokens     = 4
	placeOldestAge  = 6
	oldestSince     = 7
	firingsColumn   = 4
)

func root(t *testing.T) smi.OID {
	t.Helper()
	oid, err := smi.ParseOID(oidRoot)
	if err != nil {
		t.Fatal(err)
	}
	return oid
}

// walked is a walk of everything, to be asked for scalars and cells.
type walked map[string]smi.Value

// walk asks for everything with snmpbulkwalk.
func walk(t *testing.T, agent snmptest.Client) walked {
	t.Helper()
	return walkBelow(t, agent, oidRoot)
}

// walkColumn reads one column, which takes a small part of the time of a walk.
func walkColumn(t *testing.T, agent snmptest.Client, table, column int) map[string]smi.Value {
	t.Helper()
	return walkBelow(t, agent, fmt.Sprintf("%s.1.1.%d.1.%d", oidRoot, table, column)).column(table, column)
}

func walkBelow(t *testing.T, agent snmptest.Client, name string) walked {
	t.Helper()
	oid, err := smi.ParseOID(name)
	if err != nil {
		t.Fatal(err)
	}
	w := walked{}
	for _, v := range agent.BulkWalk(t, 50, oid) {
		w[v.Name.String()] = v.Value
	}
	return w
}

// scalar is the value of one of the agent's scalars.
func (w walked) scalar(number int) smi.Value {
	return w[fmt.Sprintf("%s.1.1.1.%d.0", oidRoot, number)]
}

// column lists the cells of a column by index.
func (w walked) column(table, column int) map[string]smi.Value {
	prefix := oidRoot + ".1.1." + strconv.Itoa(table) + ".1." + strconv.Itoa(column) + "."
	cells := map[string]smi.Value{}
	for name, v := range w {
		if index, ok := strings.CutPrefix(name, prefix); ok {
			cells[index] = v
		}
	}
	return cells
}

// rows lists the numbers of a column by net and id.
func (w walked) rows(table, number int) map[key]smi.Value {
	nets, ids := w.column(netTable, columnID), w.column(table, columnID)
	rows := map[key]smi.Value{}
	for index, v := range w.column(table, number) {
		net, _, _ := strings.Cut(index, ".")
		rows[key{nets[net].Str, ids[index].Str}] = v
	}
	return rows
}

// numbers are those of placeTable and transitionTable.
func (w walked) numbers() numbers {
	n := newNumbers()
	for k, v := range w.rows(placeTable, placeTokens) {
		n.Tokens[k] = v.Num
	}
	for k, v := range w.rows(transitionTable, firingsColumn) {
		n.Firings[k] = v.Num
	}
	return n
}

// prometheus is a Prometheus server that scrapes one sidecar.
type prometheus struct{ web }

// startPrometheus runs a Prometheus that scrapes w every second.
func startPrometheus(t *testing.T, w web) prometheus {
	t.Helper()
	path := need(t, "prometheus", "prometheus")
	config := write(t, "prometheus.yml", "global: {scrape_interval: 1s}\nscrape_configs:\n"+
		"  - job_name: pnagent\n    static_configs: [{targets: ['"+strings.TrimPrefix(w.url, "http://")+"']}]\n")
	p := start(t, path, "--config.file="+config, "--storage.tsdb.path="+t.TempDir(), "--web.listen-address=127.0.0.1:0")
	at := p.says(t, `msg="Listening on" address=(\S+)`)
	return prometheus{web{"http://" + at[1]}}
}

// numbers are those of the last scrape, as a query returns them.
func (p prometheus) numbers(t *testing.T) numbers {
	t.Helper()
	n := newNumbers()
	for labels, v := range p.query(t, "petrinet_place_tokens", "place") {
		n.Tokens[labels] = v
	}
	for labels, v := range p.query(t, "petrinet_transition_firings_total", "transition") {
		n.Firings[labels] = v
	}
	return n
}

func (p prometheus) query(t *testing.T, promQL, id string) map[key]uint64 {
	t.Helper()
	var answer struct {
		Data struct {
			Result []struct {
				Metric map[string]string
				Value  [2]any
			}
		}
	}
	status, body, err := p.get("/api/v1/query?query=" + url.QueryEscape(promQL))
	if err != nil || status/100 != 2 && status != 503 { // 503: not ready yet
		t.Fatalf("Prometheus: got %d, %v: %s; want success", status, err, body)
	}
	_ = json.Unmarshal(body, &answer) // what is no answer has no result
	found := map[key]uint64{}
	for _, r := range answer.Data.Result {
		text, _ := r.Value[1].(string)
		v, err := strconv.ParseFloat(text, 64)
		if err != nil {
			t.Fatalf("prometheus: %s", body)
		}
		found[key{r.Metric["net"], r.Metric[id]}] = uint64(v)
	}
	return found
}
