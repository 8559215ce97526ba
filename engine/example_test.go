// SPDX-License-Identifier: Apache-2.0

package engine_test

import (
	"context"
	"fmt"
	"log"
	"strings"

	"github.com/pnagent/pnagent/engine"
	"github.com/pnagent/pnagent/engine/action"
	"github.com/pnagent/pnagent/petri"
	"github.com/pnagent/pnagent/petri/pnml"
)

const claims = `<pnml><net id="claims" type="http://www.pnml.org/version-2009/grammar/ptnet"><page id="p">
  <place id="inbox"/><place id="review"/><place id="paid"/>
  <transition id="take up"/><transition id="approve"/>
  <arc id="1" source="inbox" target="take up"/><arc id="2" source="take up" target="review"/>
  <arc id="3" source="review" target="approve"/><arc id="4" source="approve" target="paid"/>
</page></net></pnml>`

const bindings = `nets: {claims: {transitions: {approve: manual}}}`

// Load a net, say how it fires, run it, put a token in, let a person act, ask
// where the tokens are, stop.
func Example() {
	file, err := pnml.Read(strings.NewReader(claims), "claims.pnml", pnml.DefaultLimits())
	check(err)
	tables, err := petri.Compile(file.Nets[0])
	check(err)
	bound, err := engine.ReadBindings(strings.NewReader(bindings), "bindings.yaml")
	check(err)
	net, err := bound.Bind(tables, action.Peers{})
	check(err)
	e, err := engine.New(engine.Config{Source: "example", Nets: []engine.NetConfig{net}, Instances: 10, Workers: 2})
	check(err)

	ctx, stop := context.WithCancel(context.Background())
	ended := make(chan error)
	go func() { ended <- e.Run(ctx) }()

	check(e.Inject(ctx, "claims", 7, "inbox", 3))
	for e.Fire(ctx, "claims", 7, "approve") != nil { // until the first claim is under review
	}
	marking, err := e.Marking(ctx, "claims", 7)
	check(err)
	fmt.Println("paid:", marking[2])

	stop()
	check(<-ended)
	// Output: paid: 1
}

func check(err error) {
	if err != nil {
		log.Fatal(err)
	}
}
