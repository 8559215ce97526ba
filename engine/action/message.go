// SPDX-License-Identifier: Apache-2.0

package action

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"strings"

	"github.com/pnagent/pnagent/engine/coloured"
	"github.com/pnagent/pnagent/internal/duration"
)

// Request is the JSON that performers send.
type Request struct {
	Net        string  `json:"net"`
	Source     string  `json:"source"`
	Instance   int     `json:"instance"` // its number, as requests to the engine name it
	Transition string  `json:"transition"`
	Attempt    int     `json:"attempt"` // 1 for the first try with these tokens
	Key        string  `json:"key"`
	Tokens     []Token `json:"tokens"`         // what the transition takes
	Read       []Token `json:"read,omitempty"` // what it only tests
}

// Token is a token in a Request.
type Token struct {
	Place string          `json:"place"`
	ID    uint64          `json:"id"`
	Age   float64         `json:"age"`            // seconds
	Data  json.RawMessage `json:"data,omitempty"` // if it is JSON
	Bytes []byte          `json:"bytes,omitempty"`
}

// request encodes a Request.
func request(r *Run) ([]byte, error) {
	body := Request{
		Net: r.Net, Source: r.Source, Instance: r.Start.Instance, Transition: r.Transition,
		Attempt: r.Start.Attempt, Key: r.Key, Tokens: r.tokens(r.Start.Taken), Read: r.tokens(r.Start.Read),
	}
	var out bytes.Buffer
	e := json.NewEncoder(&out)
	e.SetEscapeHTML(false)
	if err := e.Encode(body); err != nil {
		return nil, fmt.Errorf("encoding the request: %w", err)
	}
	if out.Len() > MaxRequest {
		return nil, fmt.Errorf("a request of %d bytes; expected at most %d", out.Len(), MaxRequest)
	}
	return out.Bytes(), nil
}

func (r *Run) tokens(placed []coloured.Placed) []Token {
	out := make([]Token, len(placed))
	for i, p := range placed {
		out[i] = Token{ID: p.Token.ID, Age: max(0, float64(r.Start.Started-p.Token.Injected)/1e6)}
		if p.Place >= 0 && int(p.Place) < len(r.Places) {
			out[i].Place = r.Places[p.Place]
		}
		switch {
		case json.Valid(p.Token.Data):
			out[i].Data = p.Token.Data
		default:
			out[i].Bytes = p.Token.Data
		}
	}
	return out
}

// answer is the JSON that performers accept.
type answer struct {
	Data  json.RawMessage `json:"data"`
	Put   *[]putAnswer    `json:"put"`
	Error *string         `json:"error"`
	Delay *string         `json:"delay"`
	Wait  *bool           `json:"wait"`
}

type putAnswer struct {
	Place string          `json:"place"`
	Data  json.RawMessage `json:"data"`
	Token uint64          `json:"token"`
}

const answerForms = `expected one of {"data": …}, {"put": [{"place": "id", "data": …}]}, {"error": "why"}, {"delay": "5s"}, {"wait": true} or nothing`

// decode returns the outcome for an answer.
func decode(text []byte, r *Run) (coloured.Outcome, error) {
	if len(text) > MaxAnswer {
		return coloured.Outcome{}, fmt.Errorf("%w: more than %d bytes", ErrAnswer, MaxAnswer)
	}
	if len(bytes.TrimSpace(text)) == 0 {
		return coloured.Outcome{}, nil
	}
	var a answer
	d := json.NewDecoder(bytes.NewReader(text))
	d.DisallowUnknownFields()
	err := d.Decode(&a)
	if err == nil {
		if _, more := d.Token(); !errors.Is(more, io.EOF) {
			err = errors.New("more after the first value")
		}
	}
	if err != nil {
		return coloured.Outcome{}, fmt.Errorf("%w: %s; %s", ErrAnswer, clip(err.Error()), answerForms)
	}
	forms := 0
	for _, has := range []bool{a.Data != nil, a.Put != nil, a.Error != nil, a.Delay != nil, a.Wait != nil} {
		if has {
			forms++
		}
	}
	if forms > 1 {
		return coloured.Outcome{}, fmt.Errorf("%w: %d forms in one; %s", ErrAnswer, forms, answerForms)
	}
	return a.outcome(r)
}

func (a *answer) outcome(r *Run) (coloured.Outcome, error) {
	switch {
	case a.Put != nil:
		puts, err := a.puts(r)
		return coloured.Outcome{Puts: puts}, err
	case a.Error != nil:
		return coloured.Outcome{Kind: coloured.Failed, Err: clip(*a.Error)}, nil
	case a.Delay != nil:
		d, err := duration.Parse(*a.Delay)
		if err != nil || d < 0 {
			return coloured.Outcome{}, fmt.Errorf(`%w: the delay %q; expected a duration of 0 or more such as "5s"`, ErrAnswer, clip(*a.Delay))
		}
		return coloured.Outcome{Kind: coloured.Delayed, After: d.Microseconds()}, nil
	case a.Wait != nil:
		if !*a.Wait {
			return coloured.Outcome{}, fmt.Errorf("%w: wait is false; expected true", ErrAnswer)
		}
		return coloured.Outcome{Kind: coloured.Awaits}, nil
	}
	return coloured.Outcome{Data: some(a.Data)}, nil
}

// puts returns the tokens to put. The result is not nil even if it is empty:
// then all tokens that were taken are destroyed.
func (a *answer) puts(r *Run) ([]coloured.Put, error) {
	puts := make([]coloured.Put, 0, len(*a.Put))
	for _, p := range *a.Put {
		place, ok := r.Place(p.Place)
		if !ok {
			return nil, fmt.Errorf("%w: net %q has no place %q; expected the id of an output place of %q", ErrAnswer, r.Net, clip(p.Place), r.Transition)
		}
		if p.Token != 0 && p.Data != nil {
			return nil, fmt.Errorf("%w: data for token %d, which keeps its own; expected one or the other", ErrAnswer, p.Token)
		}
		puts = append(puts, coloured.Put{Place: place, Data: some(p.Data), Moved: p.Token})
	}
	return puts, nil
}

// some returns nil for null: no data.
func some(data json.RawMessage) []byte {
	if string(data) == "null" {
		return nil
	}
	return data
}

// clip shortens a received text and joins its lines.
func clip(s string) string {
	s = strings.ToValidUTF8(strings.Join(strings.Fields(s[:min(len(s), 2*maxReason)]), " "), "")
	if len(s) > maxReason {
		s = strings.ToValidUTF8(s[:maxReason], "") + "…"
	}
	return s
}
