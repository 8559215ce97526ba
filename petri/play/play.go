// SPDX-License-Identifier: Apache-2.0

// Package play plays the token game of one net by commands, one a line, and answers each
// with a line of JSON: the marking and the enabled transitions, or why the command was
// refused.
package play

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"slices"
	"strconv"
	"strings"

	"github.com/pnagent/pnagent/petri"
	"github.com/pnagent/pnagent/petri/explore"
)

// maxLine bounds one command, in bytes.
const maxLine = 1 << 20

// ErrRefused is returned by Run if it has refused a command.
var ErrRefused = errors.New("at least one command was refused")

// playing is one net that is being played.
type playing struct {
	tables *petri.Tables
	state  *petri.State
	runs   explore.Runs
}

// Run writes the initial state, then does each command of in and writes its answer, until
// in or ctx ends. A refused command changes nothing and the next one is done; Run then
// returns ErrRefused.
func Run(ctx context.Context, t *petri.Tables, in io.Reader, answers io.Writer) error {
	p := playing{t, t.NewState(), explore.NewRuns(t)}
	out := json.NewEncoder(answers)
	out.SetEscapeHTML(false)
	if err := out.Encode(p.answer()); err != nil {
		return fmt.Errorf("writing an answer: %w", err)
	}
	var refused error
	lines := bufio.NewScanner(in)
	lines.Buffer(nil, maxLine)
	for ctx.Err() == nil && lines.Scan() {
		line := strings.TrimSuffix(lines.Text(), "\r")
		if strings.TrimSpace(line) == "" {
			continue
		}
		var answer any
		if err := p.do(line); err != nil {
			refused = ErrRefused
			answer = map[string]string{"error": err.Error()}
		} else {
			answer = p.answer()
		}
		if err := out.Encode(answer); err != nil {
			return fmt.Errorf("writing an answer: %w", err)
		}
	}
	if err := lines.Err(); err != nil {
		return fmt.Errorf("reading a command: %w", err)
	}
	return refused
}

func (p *playing) do(line string) error {
	word, rest, _ := strings.Cut(line, " ")
	switch word {
	case "state":
		if rest != "" {
			return fmt.Errorf("state takes nothing; found %q", rest)
		}
		return nil
	case "fire":
		t, ok := p.tables.TransitionIndex(rest)
		if !ok {
			return fmt.Errorf("no transition %q in net %q", rest, p.tables.Net.ID)
		}
		return p.fire(t)
	case "inject":
		number, id, _ := strings.Cut(rest, " ")
		n, err := strconv.ParseUint(number, 10, 32)
		if err != nil {
			return fmt.Errorf("inject %q: expected a number of tokens from 0 to 4294967295", number)
		}
		place, ok := p.tables.PlaceIndex(id)
		if !ok {
			return fmt.Errorf("no place %q in net %q", id, p.tables.Net.ID)
		}
		if scope := p.runs.SecondIn(place, p.state.Marking()); scope != "" && n > 0 {
			return fmt.Errorf("place %q: %w", id, secondRun(scope))
		}
		return p.state.Add(place, uint32(n))
	}
	return fmt.Errorf("unknown command %q; expected fire ID, inject N ID or state", word)
}

// secondRun is why a command is refused that opens a run of a scope beside another one: the
// tokens of both would be mixed.
func secondRun(scope string) error {
	return fmt.Errorf("it would open a second run of scope %q, and play keeps no runs apart; expected a net without two runs at one time, or pnagent engine", scope)
}

func (p *playing) fire(t int) error {
	if scope := p.runs.Second(t, p.state.Marking()); scope != "" && p.state.Enabled(t) {
		return fmt.Errorf("transition %q: %w", p.tables.Net.Transitions[t].ID, secondRun(scope))
	}
	err := p.state.Fire(t)
	if !errors.Is(err, petri.ErrNotEnabled) {
		return err
	}
	var why []string
	for _, c := range p.state.Unmet(t) {
		id, m := p.tables.Net.Places[c.Place].ID, p.state.Tokens(int(c.Place))
		if m < c.Lo {
			why = append(why, fmt.Sprintf("place %q holds %d of %d tokens", id, m, c.Lo))
		} else {
			why = append(why, fmt.Sprintf("place %q holds %d tokens and inhibits from %d", id, m, c.Hi))
		}
	}
	for _, place := range p.state.Awaits(t) {
		why = append(why, fmt.Sprintf("place %q is empty, and a token can still come there or has to", p.tables.Net.Places[place].ID))
	}
	return fmt.Errorf("%w: %s", err, strings.Join(why, "; "))
}

// answer is the state of the net.
type answer struct {
	Marking map[string]uint32 `json:"marking"`
	Enabled []string          `json:"enabled"`
}

func (p *playing) answer() answer {
	a := answer{Marking: map[string]uint32{}, Enabled: []string{}}
	for i, m := range p.state.Marking() {
		if m > 0 {
			a.Marking[p.tables.Net.Places[i].ID] = m
		}
	}
	for i := range p.tables.Transitions() {
		if p.state.Enabled(i) {
			a.Enabled = append(a.Enabled, p.tables.Net.Transitions[i].ID)
		}
	}
	slices.Sort(a.Enabled)
	return a
}
