// SPDX-License-Identifier: Apache-2.0

package act

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/nats-io/nats.go"

	"github.com/pnagent/pnagent/petri"
	"github.com/pnagent/pnagent/telemetry"
)

// Client sends requests.
type Client struct {
	Conn     *nats.Conn
	Subjects telemetry.Subjects
	By       string // the author, for the audit logs
}

// Outcome is what is known about a request. Fields that are not known are empty.
type Outcome struct {
	Verb       Verb   `json:"verb"`
	Net        string `json:"net"` // id
	Instance   string `json:"instance"`
	Source     string `json:"source,omitempty"` // that has the instance
	Place      string `json:"place,omitempty"`
	Transition string `json:"transition,omitempty"`
	Tokens     uint64 `json:"tokens,omitempty"` // that were injected
	DryRun     bool   `json:"dry_run,omitempty"`
	OK         bool   `json:"ok"` // it is done, or would be
	// Unknown says that the request may have been done: it was sent and not answered, or
	// the engine lost its journal while it executed it.
	Unknown bool   `json:"unknown,omitempty"`
	Key     string `json:"key,omitempty"` // to ask whether it was done: see Request.Outcome
	Error   string `json:"error,omitempty"`
	// Held are the tokens before the request: those in the place, or those that wait for
	// the transition.
	Held []Held `json:"held"`
}

// answerTimeout is how long an engine may take to answer. It gives up after 5 s.
const answerTimeout = 7 * time.Second

// ErrUnknown says that a request was sent, and perhaps done.
var ErrUnknown = errors.New("the request was sent, and whether it was done is not known")

// ErrNotDone is the answer to a request with an Outcome that was not done.
var ErrNotDone = errors.New("that request was not done")

// unknownOutcome is the error of an engine that has executed a request and does not know
// whether that is kept.
type unknownOutcome struct{ text, key string }

func (u *unknownOutcome) Error() string { return u.text }

// Unwrap returns ErrUnknown.
func (u *unknownOutcome) Unwrap() error { return ErrUnknown }

// Do does what a request says, or checks it in a dry run. The Outcome is never nil. Its
// Error is the text of the error.
func (c *Client) Do(ctx context.Context, r Request) (*Outcome, error) {
	out := &Outcome{Verb: r.Verb, Net: r.Net, Instance: r.Instance, DryRun: r.DryRun, Held: []Held{}}
	err := c.do(ctx, &r, out)
	if err != nil {
		out.Error, out.Unknown = err.Error(), errors.Is(err, ErrUnknown)
		if u := (*unknownOutcome)(nil); errors.As(err, &u) {
			out.Key = u.key
		}
	}
	out.OK = err == nil
	return out, err
}

func (c *Client) do(ctx context.Context, r *Request, out *Outcome) error {
	if err := errors.Join(r.Check(), telemetry.Who{By: c.By}.Check()); err != nil {
		return err
	}
	net, of, err := c.sources(ctx, r)
	if err != nil {
		return err
	}
	out.Net = net
	have, err := c.holders(ctx, r, net, of)
	if err != nil {
		return err
	}
	out.Source = have[0].source
	def, err := c.definition(ctx, net, digestOf(of, have[0].source, net))
	if err != nil {
		return err
	}
	i, err := element(def, r.kind(), r.Element)
	if err != nil {
		return err
	}
	out.name(r, def, i, have)
	if r.Outcome == "" {
		if err := r.judge(def, i, out.Held); r.DryRun || err != nil && r.Verb == Retry {
			return err
		}
	}
	body, err := r.body(def, i)
	if err != nil {
		return err
	}
	return c.send(ctx, r, out, have, body)
}

// name writes the element and its tokens.
func (o *Outcome) name(r *Request, def *petri.Net, element int, have []holder) {
	if r.Verb == Inject {
		o.Place, o.Tokens = def.Places[element].ID, r.Tokens
	} else {
		o.Transition = def.Transitions[element].ID
	}
	o.Held = append(o.Held, held(have, o.Place, o.Transition)...)
}

// digestOf returns the digest of the definition that a source runs.
func digestOf(of []telemetry.Discovered, source, net string) string {
	for _, d := range of {
		if d.Source == source && d.Nets[net] != "" {
			return d.Nets[net]
		}
	}
	return ""
}

// send sends a request to the parts of the instance, until one has the element.
func (c *Client) send(ctx context.Context, r *Request, out *Outcome, have []holder, body []byte) error {
	var err error
	for _, h := range have {
		out.Source = h.source
		var elsewhere bool
		if elsewhere, err = c.sendTo(ctx, r, r.subject(c.Subjects, out.Net, h.found.Acts), body); !elsewhere {
			break
		}
	}
	if err != nil {
		return fmt.Errorf("source %q: %w", out.Source, err)
	}
	return nil
}

// sendTo sends a request to one source. elsewhere reports whether the place or transition
// is in another part; then there is an error, too.
func (c *Client) sendTo(ctx context.Context, r *Request, subject string, body []byte) (elsewhere bool, err error) {
	ctx, cancel := context.WithTimeout(ctx, answerTimeout)
	defer cancel()
	inbox := c.Conn.NewRespInbox()
	answers, err := c.Conn.SubscribeSync(inbox)
	if err != nil {
		return false, err
	}
	defer func() { _ = answers.Unsubscribe() }() // it fails only if the connection is gone
	m := &nats.Msg{Subject: subject, Reply: inbox, Header: telemetry.Who{By: c.By, Comment: r.Comment}.Header(), Data: body}
	if err := c.Conn.PublishMsg(m); err != nil {
		return false, err
	}
	if err := c.Conn.FlushWithContext(ctx); err != nil { // behind it, a refusal of the server has arrived
		return false, fmt.Errorf("%w: %w", ErrUnknown, err)
	}
	if err := c.refused(subject); err != nil {
		return false, err
	}
	answer, err := answers.NextMsgWithContext(ctx)
	switch {
	case errors.Is(err, nats.ErrNoResponders):
		return false, errors.New("it takes no requests any more: it has ended, or lost its connection")
	case err != nil:
		return false, fmt.Errorf("%w: %w", ErrUnknown, err)
	}
	return readAnswer(answer.Data)
}

// readAnswer returns the error of an answer; nil if the request was done.
func readAnswer(text []byte) (elsewhere bool, err error) {
	var answer struct {
		OK        bool   `json:"ok"`
		Error     string `json:"error"`
		Elsewhere bool   `json:"elsewhere"`
		Unknown   bool   `json:"unknown"`
		Key       string `json:"key"`
		Done      *bool  `json:"done"`
	}
	switch err := json.Unmarshal(text, &answer); {
	case err != nil:
		return false, fmt.Errorf("%w: the answer is %.100q: %w", ErrUnknown, text, err)
	case answer.Unknown:
		return false, &unknownOutcome{cmp.Or(answer.Error, ErrUnknown.Error()), answer.Key}
	case answer.Error != "":
		return answer.Elsewhere, errors.New(answer.Error)
	case !answer.OK:
		return false, fmt.Errorf("%w: the answer is %.100q", ErrUnknown, text)
	case answer.Done != nil && !*answer.Done:
		return false, ErrNotDone
	}
	return false, nil
}

// refused returns an error if the server has refused to publish at a subject.
func (c *Client) refused(subject string) error {
	if err := c.Conn.LastError(); errors.Is(err, nats.ErrPermissionViolation) && strings.Contains(err.Error(), `"`+subject+`"`) {
		return fmt.Errorf("the NATS server does not allow this user to publish at %s; expected one of the role operator, see pnagent permissions", subject)
	}
	return nil
}
