// SPDX-License-Identifier: Apache-2.0

package kit

import (
	"fmt"
	"strconv"
	"strings"
	"testing"

	"github.com/pnagent/pnagent/mib/smi"
	"github.com/pnagent/pnagent/snmp/snmptest"
)

// Key names a place or a transition: net and id.
type Key struct{ Net, ID string }

// Numbers are what every face shows of every net.
type Numbers struct {
	Tokens  map[Key]uint64 // by place
	Firings map[Key]uint64 // by transition
}

// NewNumbers returns numbers of no net.
func NewNumbers() Numbers { return Numbers{map[Key]uint64{}, map[Key]uint64{}} }

// Numbers are those of the view.
func (v View) Numbers() Numbers {
	n := NewNumbers()
	for _, net := range v.Nets {
		for _, p := range net.Places {
			if p.Tokens != nil {
				n.Tokens[Key{net.ID, p.ID}] = *p.Tokens
			}
		}
		for _, tr := range net.Transitions {
			if tr.Firings != nil {
				n.Firings[Key{net.ID, tr.ID}] = *tr.Firings
			}
		}
	}
	return n
}

// Numbers are those of the scrape.
func (s Scrape) Numbers() Numbers {
	n := NewNumbers()
	for _, one := range s.All("petrinet_place_tokens") {
		n.Tokens[Key{one.Labels["net"], one.Labels["place"]}] = uint64(one.Value)
	}
	for _, one := range s.All("petrinet_transition_firings_total") {
		n.Firings[Key{one.Labels["net"], one.Labels["transition"]}] = uint64(one.Value)
	}
	return n
}

// What a network management station knows of PETRINET-MIB from the module:
// root.1.1 are its objects, of which 1 are the agent's scalars.
const (
	OIDRoot           = "1.3.6.1.4.1.8072.9999.9999"
	agentViewTime     = 5
	agentViewAge      = 6
	agentViews        = 7
	netTable          = 2
	PlaceTable        = 3
	TransitionTable   = 5
	SourceTable       = 8
	ColumnID          = 2 // of all four: the id, as in the net's definition, or the source's name
	PlaceTokens       = 4
	PlaceOldestAge    = 6
	oldestSince       = 7
	TransitionFirings = 4
)

// Walked is a walk of everything, to be asked for scalars and cells.
type Walked map[string]smi.Value

// Walk asks for everything with snmpbulkwalk.
func Walk(t *testing.T, agent snmptest.Client) Walked {
	t.Helper()
	return walkBelow(t, agent, OIDRoot)
}

// WalkColumn reads one column, which takes a small part of the time of a walk.
func WalkColumn(t *testing.T, agent snmptest.Client, table, column int) map[string]smi.Value {
	t.Helper()
	return walkBelow(t, agent, fmt.Sprintf("%s.1.1.%d.1.%d", OIDRoot, table, column)).Column(table, column)
}

func walkBelow(t *testing.T, agent snmptest.Client, name string) Walked {
	t.Helper()
	oid, err := smi.ParseOID(name)
	if err != nil {
		t.Fatal(err)
	}
	w := Walked{}
	for _, v := range agent.BulkWalk(t, 50, oid) {
		w[v.Name.String()] = v.Value
	}
	return w
}

// scalar is the value of one of the agent's scalars.
func (w Walked) scalar(number int) smi.Value {
	return w[fmt.Sprintf("%s.1.1.1.%d.0", OIDRoot, number)]
}

// Column lists the cells of a column by index.
func (w Walked) Column(table, column int) map[string]smi.Value {
	prefix := OIDRoot + ".1.1." + strconv.Itoa(table) + ".1." + strconv.Itoa(column) + "."
	cells := map[string]smi.Value{}
	for name, v := range w {
		if index, ok := strings.CutPrefix(name, prefix); ok {
			cells[index] = v
		}
	}
	return cells
}

// Rows lists the numbers of a column by net and id.
func (w Walked) Rows(table, number int) map[Key]smi.Value {
	nets, ids := w.Column(netTable, ColumnID), w.Column(table, ColumnID)
	rows := map[Key]smi.Value{}
	for index, v := range w.Column(table, number) {
		net, _, _ := strings.Cut(index, ".")
		rows[Key{nets[net].Str, ids[index].Str}] = v
	}
	return rows
}

// Numbers are those of placeTable and transitionTable.
func (w Walked) Numbers() Numbers {
	n := NewNumbers()
	for k, v := range w.Rows(PlaceTable, PlaceTokens) {
		n.Tokens[k] = v.Num
	}
	for k, v := range w.Rows(TransitionTable, TransitionFirings) {
		n.Firings[k] = v.Num
	}
	return n
}

// Prometheus is a Prometheus server that scrapes one sidecar.
type Prometheus struct{ Web }

// StartPrometheus runs a Prometheus that scrapes w every second. It begins five seconds after
// its start, which no flag changes.
func StartPrometheus(t *testing.T, w Web) Prometheus {
	t.Helper()
	path := Need(t, "prometheus", "prometheus")
	config := Write(t, "prometheus.yml", "global: {scrape_interval: 1s}\nscrape_configs:\n"+
		"  - job_name: pnagent\n    static_configs: [{targets: ['"+strings.TrimPrefix(w.URL, "http://")+"']}]\n")
	p := Start(t, path, "--config.file="+config, "--storage.tsdb.path="+t.TempDir(), "--web.listen-address=127.0.0.1:0")
	at := p.Says(t, `msg="Listening on" address=(\S+)`)
	return Prometheus{Web{"http://" + at[1]}}
}

// numbers are those of the last scrape, as a query returns them.
func (p Prometheus) numbers(t *testing.T) Numbers {
	t.Helper()
	return Numbers{p.Query(t, "petrinet_place_tokens", "place"), p.Query(t, "petrinet_transition_firings_total", "transition")}
}
