// SPDX-License-Identifier: Apache-2.0

package main

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/pnagent/pnagent/petri"
)

type playCmd struct {
	File  string     `arg:"" name:"net" help:"PNML or BPMN file. Of several nets the first is used."`
	Limit limitFlags `embed:""`
}

// maxPlayLine bounds one command of play, in bytes.
const maxPlayLine = 1 << 20

var errRefused = errors.New("at least one command was refused")

// Help describes the commands, one a line on standard input.
func (c *playCmd) Help() string {
	return `One command a line on standard input, one JSON line on standard output for each, and one before the first:

  fire ID      fire the transition with this id (the rest of the line); of an inclusive split all branches
  inject N ID  put N tokens into the place with this id
  state        say where the tokens are

Answers: {"marking":{"place id":tokens,…},"enabled":["transition id",…]}; a refused command answers {"error":"…"} and changes nothing, and the exit code is 1.`
}

// playing is one net that is being played.
type playing struct {
	tables *petri.Tables
	state  *petri.State
}

// Run plays until standard input ends.
func (c *playCmd) Run(ctx context.Context, s streams) error {
	if c.File == "-" {
		return usageError{errors.New("play reads its commands from standard input; expected the net in a file")}
	}
	file, err := readNet(c.File, s, c.Limit)
	if err != nil {
		return err
	}
	if len(file.Nets) == 0 {
		return fmt.Errorf("%s: no net in the file; expected one", c.File)
	}
	if more := len(file.Nets) - 1; more > 0 {
		fmt.Fprintf(s.err, "pnagent: %s: playing net %q, leaving out %d more\n", c.File, file.Nets[0].ID, more)
	}
	tables, err := petri.Compile(file.Nets[0])
	if err != nil {
		return err
	}
	p := playing{tables, tables.NewState()}
	return p.run(ctx, s)
}

func (p *playing) run(ctx context.Context, s streams) error {
	out := json.NewEncoder(s.out)
	out.SetEscapeHTML(false)
	if err := out.Encode(p.answer()); err != nil {
		return fmt.Errorf("writing an answer: %w", err)
	}
	var refused error
	lines := bufio.NewScanner(s.in)
	lines.Buffer(nil, maxPlayLine)
	for ctx.Err() == nil && lines.Scan() {
		line := strings.TrimSuffix(lines.Text(), "\r")
		if strings.TrimSpace(line) == "" {
			continue
		}
		var answer any
		if err := p.do(line); err != nil {
			refused = errRefused
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
		return p.state.Add(place, uint32(n))
	}
	return fmt.Errorf("unknown command %q; expected fire ID, inject N ID or state", word)
}

func (p *playing) fire(t int) error {
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

// playAnswer is the state as play prints it.
type playAnswer struct {
	Marking map[string]uint32 `json:"marking"`
	Enabled []string          `json:"enabled"`
}

func (p *playing) answer() playAnswer {
	a := playAnswer{Marking: map[string]uint32{}, Enabled: []string{}}
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
