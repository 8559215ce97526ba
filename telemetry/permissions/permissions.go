// SPDX-License-Identifier: Apache-2.0

// Package permissions lists what each kind of program may do on NATS, and writes it
// for nats-server and for nsc.
//
// A source may publish under its own name and its own nets only, so that it cannot
// change, end or rename what another source shows. Only an operator may publish
// requests that change an instance. Only sidecars may publish where sidecars
// decide which of them notifies.
//
// Engines with journals in JetStream have an account of their own: see [Crossing].
package permissions

import (
	"slices"
	"strings"

	"github.com/pnagent/pnagent/telemetry"
)

// Role is a kind of program.
type Role string

// The roles.
const (
	Engine   Role = "engine"   // pnagent engine
	Adapter  Role = "adapter"  // pnagent attach, and engines with the SDK or the wire
	Sidecar  Role = "sidecar"  // pnagent serve, alone, of a pair, or the root of a tree
	Leaf     Role = "leaf"     // the connection of a sidecar to the one above it (--up.nats)
	Operator Role = "operator" // pnagent fire, inject and retry, and tools that act on instances
	Observer Role = "observer" // pnagent wire check, pnagent regions
)

// Deployment is what permissions are for.
type Deployment struct {
	Subjects telemetry.Subjects
	Sources  []string // names of engines and adapters; empty for any
	Nets     []string // ids of their nets; empty for any
	Events   []string // names of messages and signals that engines take and throw; empty for any
	// Up, if not nil, is where sidecars publish to the one above by their own connection.
	Up *telemetry.Subjects
	// JetStream says that engines keep their journals there. They take over from each
	// other and publish as NAME/PART, so each may publish as any source of its nets.
	// They are in the account Engines, and all others in the account Monitor.
	JetStream bool
}

// User is what one user of NATS may do.
type User struct {
	Name      string
	Role      Role
	Account   string   // Engines or Monitor; "" if all users are in one account
	Publish   []string // subjects
	Subscribe []string
	Answers   bool // may answer each request that it receives, maxAnswers times
}

// maxAnswers is how often a user may answer one request. A program has a service of NATS
// for each part or net that it publishes, and each answers to a question at service.
const maxAnswers = 1024

// inbox is where answers arrive.
const inbox = "_INBOX.>"

// service is where programs that look for services ask.
const service = "$SRV.>"

// Users returns the users of a role: one for each source, or one for the role.
func (d *Deployment) Users(role Role) []User {
	if perSource := role == Engine || role == Adapter || role == Leaf; !perSource || len(d.Sources) == 0 {
		return []User{d.user(role, string(role), "*")}
	}
	var out []User
	for _, source := range d.Sources {
		out = append(out, d.user(role, source, telemetry.Escape(source)))
	}
	return out
}

// user returns what a program may do. source is a token of a subject.
func (d *Deployment) user(role Role, name, source string) User {
	u := User{Name: name, Role: role, Account: d.account(role)}
	nets, events := tokens(d.Nets), tokens(d.Events)
	at := func(kind string, tokens ...string) string {
		return strings.Join(append([]string{d.Subjects.Prefix(), kind}, tokens...), ".")
	}
	// of adds subjects of each net and a last token.
	of := func(to *[]string, last string, kinds ...string) {
		for _, kind := range kinds {
			for _, net := range nets {
				*to = append(*to, at(kind, net, last))
			}
		}
	}
	publishes := func(subjects ...string) { u.Publish = append(u.Publish, subjects...) }
	subscribes := func(subjects ...string) { u.Subscribe = append(u.Subscribe, subjects...) }
	if role == Engine && d.JetStream {
		source = "*"
		publishes(journals...)
		for _, net := range nets {
			publishes(at("parts", net))
			subscribes(at("parts", net))
		}
	}
	if role == Engine || role == Adapter || role == Leaf {
		u.Answers = true
		of(&u.Publish, source, "snapshot", "bye")
		subscribes(at("hello"), service, inbox)
		of(&u.Subscribe, source, "full", "notice", "instances")
		of(&u.Subscribe, "*", "net")
	}
	switch role {
	case Engine:
		of(&u.Subscribe, source, "inject", "fire")
		of(&u.Publish, source, "audit")
		for _, event := range events {
			publishes(at("signal", event))
		}
		subscribes(at("message", "*", source), at("signal", "*")) // an engine asks for all events at once
	case Sidecar:
		publishes(at("hello"), at("full", "*", "*"), at("notice", "*", "*"), at("net", "*", "*"), at("instances", "*", "*"), at("sidecars", ">"))
		subscribes(at("snapshot", "*", "*"), at("bye", "*", "*"), at("shared", ">"), at("sidecars", ">"), at("audit", "*", "*"), inbox)
		if d.Up != nil {
			u.add(d.leaf())
		}
	case Operator:
		publishes(telemetry.SourcesSubject)
		of(&u.Publish, "*", "net", "instances")
		subscribes(inbox)
		sources := tokens(d.Sources)
		if d.JetStream {
			sources = []string{"*"}
		}
		for _, s := range sources {
			of(&u.Publish, s, "inject", "fire")
			for _, event := range events {
				publishes(at("message", event, s))
			}
		}
		for _, event := range events {
			publishes(at("signal", event))
		}
	case Observer:
		publishes(at("hello"), at("net", "*", "*"), at("instances", "*", "*"), service)
		subscribes(at("snapshot", "*", "*"), at("bye", "*", "*"), at("shared", ">"), at("notice", "*", "*"), at("parts", "*"), inbox)
	}
	return u
}

// leaf returns what a sidecar may do at the subjects of the one above.
func (d *Deployment) leaf() User {
	above := Deployment{Subjects: *d.Up, Nets: d.Nets}
	return above.user(Leaf, string(Leaf), "*")
}

// add lets the user do also what another one may do.
func (u *User) add(other User) {
	both := func(a, b []string) []string {
		for _, s := range b {
			if !slices.Contains(a, s) {
				a = append(a, s)
			}
		}
		return a
	}
	u.Publish, u.Subscribe = both(u.Publish, other.Publish), both(u.Subscribe, other.Subscribe)
	u.Answers = u.Answers || other.Answers
}

// tokens returns names as tokens of a subject, sorted; "*" for none.
func tokens(names []string) []string {
	if len(names) == 0 {
		return []string{"*"}
	}
	out := make([]string, len(names))
	for i, name := range names {
		out[i] = telemetry.Escape(name)
	}
	slices.Sort(out)
	return slices.Compact(out)
}

// Password returns the name of the environment variable that holds a user's password
// for nats-server.
func (u *User) Password() string {
	return "NATS_PASSWORD_" + strings.Map(func(r rune) rune {
		switch {
		case r >= 'a' && r <= 'z':
			return r - 'a' + 'A'
		case r >= 'A' && r <= 'Z' || r >= '0' && r <= '9':
			return r
		}
		return '_'
	}, u.Name)
}
