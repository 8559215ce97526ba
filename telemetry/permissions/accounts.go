// SPDX-License-Identifier: Apache-2.0

package permissions

import "strings"

// The accounts of a deployment with JetStream.
const (
	Engines = "engines" // engines, with the streams of their journals
	Monitor = "monitor" // all other users
)

// journals are the subjects at which engines publish for their journals. No
// engine may delete or change a stream. Creating streams, and reading a message
// or a consumer to any subject, is possible: Crossing describes the bound.
var journals = []string{
	"$JS.API.STREAM.INFO.*", "$JS.API.STREAM.CREATE.*", "$JS.API.STREAM.PURGE.*", "$JS.API.STREAM.MSG.GET.*", "$JS.API.DIRECT.GET.>",
	"$JS.API.CONSUMER.CREATE.>", "$JS.API.CONSUMER.INFO.*.*", "$JS.API.CONSUMER.DELETE.*.*", "$JS.API.CONSUMER.MSG.NEXT.*.*",
	"$JS.FC.>", "$O.>", "pnagent.log.>",
}

// Crossing is a subject that is in both accounts. No other message of one account is
// seen in the other.
//
// JetStream publishes what a client has stored at a subject that the client chooses:
// the republish subject of a stream, the deliver subject of a consumer, or the reply
// subject of a read. nats-server does not compare these subjects with the client's
// permissions, so a client with a stream of its own can publish at every subject of its
// account. In the account Engines this is all that members of a net may do to each
// other in any case; from there only messages at crossings arrive at Monitor.
type Crossing struct {
	Subject string
	// Requests says that the account Monitor asks and Engines answers. Otherwise Engines
	// publishes and Monitor subscribes.
	Requests bool
	Several  bool // several members may answer one request
}

// account returns the account of a role; "" without JetStream.
func (d *Deployment) account(role Role) string {
	switch {
	case !d.JetStream:
		return ""
	case role == Engine:
		return Engines
	}
	return Monitor
}

// Crossings returns what passes between the accounts; nil without JetStream. A signal
// that an engine throws reaches the engines of its account only.
func (d *Deployment) Crossings() []Crossing {
	if !d.JetStream {
		return nil
	}
	var out []Crossing
	cross := func(requests, several bool, tokens ...string) {
		out = append(out, Crossing{Subject: d.Subjects.Prefix() + "." + strings.Join(tokens, "."), Requests: requests, Several: several})
	}
	for _, net := range tokens(d.Nets) {
		cross(false, false, "snapshot", net, "*")
		cross(false, false, "bye", net, "*")
		cross(false, false, "audit", net, "*")
		cross(false, false, "parts", net)
		for _, kind := range []string{"full", "notice", "net", "instances", "inject", "fire"} {
			cross(true, false, kind, net, "*")
		}
	}
	for _, event := range tokens(d.Events) {
		cross(true, false, "message", event, "*")
		cross(true, false, "signal", event)
	}
	cross(true, false, "hello")
	return append(out, Crossing{Subject: service, Requests: true, Several: true})
}
