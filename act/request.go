// SPDX-License-Identifier: Apache-2.0

package act

import (
	"encoding/json"
	"errors"
	"fmt"
	"strconv"
	"strings"

	"github.com/pnagent/pnagent/petri"
	"github.com/pnagent/pnagent/telemetry"
)

// Verb is what a request does.
type Verb string

// The verbs, which are also commands of pnagent.
const (
	Fire   Verb = "fire"   // fires a transition, or starts its action
	Inject Verb = "inject" // puts tokens into a place
	Retry  Verb = "retry"  // fires a transition that is an incident
)

// Request is one request. Net and Element are ids, or names that are those of one net or
// element only.
type Request struct {
	Verb     Verb
	Net      string
	Instance string          // its name
	Element  string          // a place for Inject, otherwise a transition
	Tokens   uint64          // for Inject
	Scope    *uint32         // for Fire and Retry: the run of the transition's scope; nil for the oldest
	Data     json.RawMessage // of the tokens; nil for none
	Source   string          // that has the instance; "" for any
	Comment  string          // for the audit logs
	DryRun   bool            // ends before the request is sent
	Outcome  string          // the key of an earlier request: asks whether that was done, and changes nothing
}

// MaxRequest is the largest request that engines take, in bytes.
const MaxRequest = 64 << 10

// Check refuses what no engine takes, before anything is sent.
func (r *Request) Check() error {
	for _, name := range []string{r.Net, r.Instance, r.Element} {
		if name == "" || len(name) > telemetry.MaxName {
			return fmt.Errorf("name of %d bytes; expected 1 to %d", len(name), telemetry.MaxName)
		}
	}
	switch {
	case r.Verb == Inject && r.Tokens == 0:
		return errors.New("0 tokens; expected 1 or more")
	case r.Outcome != "" && (r.DryRun || len(r.Outcome) > telemetry.MaxName):
		return fmt.Errorf("key of %d bytes, dry run %t; expected at most %d, and no dry run", len(r.Outcome), r.DryRun, telemetry.MaxName)
	case r.Data != nil && !json.Valid(r.Data):
		return fmt.Errorf("data %.40q; expected JSON", r.Data)
	}
	return telemetry.Who{Comment: r.Comment}.Check()
}

// kind is what Element names.
func (r *Request) kind() string {
	if r.Verb == Inject {
		return "place"
	}
	return "transition"
}

// subject is where a source takes the request.
func (r *Request) subject(s telemetry.Subjects, net, acts string) string {
	kind := "fire"
	if r.Verb == Inject {
		kind = "inject"
	}
	return strings.Join([]string{s.Prefix(), kind, telemetry.Escape(net), telemetry.Escape(acts)}, ".")
}

// body is the request as JSON.
func (r *Request) body(def *petri.Net, element int) ([]byte, error) {
	b := struct {
		Instance   string          `json:"instance"`
		Place      string          `json:"place,omitempty"`
		Transition string          `json:"transition,omitempty"`
		Tokens     uint64          `json:"tokens,omitempty"`
		Scope      *uint32         `json:"scope,omitempty"`
		Data       json.RawMessage `json:"data,omitempty"`
		Outcome    string          `json:"outcome,omitempty"`
	}{Instance: r.Instance, Scope: r.Scope, Data: r.Data, Outcome: r.Outcome}
	if r.Verb == Inject {
		b.Place, b.Tokens = def.Places[element].ID, r.Tokens
	} else {
		b.Transition = def.Transitions[element].ID
	}
	text, err := json.Marshal(b)
	if err == nil && len(text) > MaxRequest {
		err = fmt.Errorf("request of %d bytes; expected at most %d", len(text), MaxRequest)
	}
	return text, err
}

// Line returns the command line of a request, to be pasted into a shell. Names with
// other characters than those of plain words are quoted, as bash reads it. tokens counts
// for Inject only.
func Line(verb Verb, net, instance, element string, tokens uint64) string {
	words := []string{"pnagent", string(verb)}
	names := []string{net, instance, element}
	for _, name := range names {
		if strings.HasPrefix(name, "-") {
			words = append(words, "--") // the names behind it are not flags
			break
		}
	}
	for _, name := range names {
		words = append(words, Quote(name))
	}
	if verb == Inject && tokens > 1 {
		words = append(words, strconv.FormatUint(tokens, 10))
	}
	return strings.Join(words, " ")
}
