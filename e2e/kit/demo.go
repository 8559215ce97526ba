// SPDX-License-Identifier: Apache-2.0

package kit

import (
	_ "embed"
	"errors"
	"testing"

	"github.com/pnagent/pnagent/snmp/snmptest"
)

// Demo is "pnagent demo" that runs.
type Demo struct {
	*Process
	Web
	Agent snmptest.Client
}

// StartDemo runs the demo on free ports, until the test ends.
func StartDemo(t *testing.T, args ...string) *Demo {
	t.Helper()
	args = append([]string{"demo", "--http", "127.0.0.1:0", "--snmp", "127.0.0.1:0"}, args...)
	d := &Demo{Process: Start(t, Built().Pnagent, args...)}
	var at []string
	Until(t, "the demo prints what to try", func() error {
		at = Submatch(d.Out.String(), `curl -s (http://\S+)/metrics[^$]*snmpbulkwalk -v2c -c public (\S+) `)
		if at == nil {
			return errors.New("not said yet")
		}
		return nil
	})
	d.URL, d.Agent = at[1], snmptest.Client{Addr: at[2]}
	return d
}

// Ages are the ages of the oldest tokens, in seconds, by place.
func Ages(s Scrape) map[Key]float64 { return ByPlace(s, "petrinet_place_oldest_token_age_seconds") }

// ByPlace returns the values of a family by net and place.
func ByPlace(s Scrape, family string) map[Key]float64 {
	all := map[Key]float64{}
	for _, one := range s.All(family) {
		all[Key{one.Labels["net"], one.Labels["place"]}] = one.Value
	}
	return all
}

// BankIsClosed are bindings of the claim process. Payments fail, so that they are
// incidents; large claims wait for their manager.
const BankIsClosed = `nets:
  claim:
    transitions:
      assess: {command: [sh, -c, 'echo "{\"data\":{\"amount\":$((PNAGENT_INSTANCE * 300))}}"']}
      pay:    {command: ["false"], retry: {first: 1ms, attempts: 1}}
`

// lidlessLine has a place that most tokens never leave, for too few come to the
// transition's other input.
//
//go:embed nets/line.pnml
var lidlessLine string

// StuckLine is a sidecar with an engine that runs lidlessLine.
func StuckLine(t *testing.T) *Sidecar {
	t.Helper()
	nats := StartNATS(t)
	net := Write(t, "line.pnml", lidlessLine)
	s := Serve(t, nats, net)
	RunEngine(t, nats, "berlin", "--instances", "2", net)
	Until(t, "the net is received", func() error { return s.Shows(t, "line") })
	return s
}
