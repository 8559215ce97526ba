// SPDX-License-Identifier: Apache-2.0

package terminal

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"time"

	tea "charm.land/bubbletea/v2"
	"github.com/charmbracelet/x/term"

	"github.com/pnagent/pnagent/top"
	"github.com/pnagent/pnagent/web/api"
)

const (
	// pollEvery is how often a sidecar is asked, at most. It swaps its View
	// once a second.
	pollEvery = time.Second
	// pollShare is how many times longer than a poll took to wait before the
	// next: a View that takes long to write and read is asked for less often.
	pollShare = 3
	// tickEvery is how often ages are drawn again.
	tickEvery = 500 * time.Millisecond
)

// ErrNoTerminal is returned where there is nothing to draw on.
var ErrNoTerminal = errors.New("standard output is no terminal")

// Ask returns a View and the active alarms, nil where they are not known.
type Ask func(context.Context) (*api.View, *api.Alarms, error)

// Screen is where a Model is shown.
type Screen struct {
	In  io.Reader
	Out io.Writer
	Env []string // as os.Environ
}

// Run shows a Model until the user quits or ctx ends, which both return nil. It
// returns ErrNoTerminal, with nothing written, where Out is none.
func Run(ctx context.Context, s Screen, o top.Options, ask Ask) error {
	if out, ok := s.Out.(*os.File); !ok || !term.IsTerminal(out.Fd()) {
		return ErrNoTerminal
	}
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	o.Now = time.Now()
	shown := &program{ctx: ctx, ask: ask, model: top.New(o)}
	p := tea.NewProgram(shown, tea.WithInput(s.In), tea.WithOutput(s.Out), tea.WithEnvironment(s.Env), tea.WithoutSignalHandler())
	stop := context.AfterFunc(ctx, p.Quit)
	defer stop()
	if _, err := p.Run(); err != nil {
		return fmt.Errorf("showing the table: %w", err)
	}
	return nil
}

// program is a Model as bubbletea runs it, on its one goroutine.
type program struct {
	ctx   context.Context
	ask   Ask
	model *top.Model
}

type (
	answer struct {
		view   *api.View
		alarms *api.Alarms
		err    error
		took   time.Duration
	}
	pollAgain struct{}
	tick      struct{}
)

// Init asks at once.
func (p *program) Init() tea.Cmd { return tea.Batch(p.poll, p.after(tickEvery, tick{})) }

// after returns a message later. Unlike tea.Tick it leaves no goroutine behind
// when the program ends.
func (p *program) after(d time.Duration, msg tea.Msg) tea.Cmd {
	return func() tea.Msg {
		select {
		case <-p.ctx.Done():
			return nil
		case <-time.After(d):
			return msg
		}
	}
}

func (p *program) poll() tea.Msg {
	begun := time.Now()
	view, alarms, err := p.ask(p.ctx)
	return answer{view, alarms, err, time.Since(begun)}
}

// Update takes what happened.
func (p *program) Update(msg tea.Msg) (tea.Model, tea.Cmd) {
	switch msg := msg.(type) {
	case tea.WindowSizeMsg:
		p.model.Resize(msg.Width, msg.Height)
	case tea.KeyPressMsg:
		if msg.String() == "ctrl+z" {
			return p, tea.Suspend
		}
		p.model.Press(msg.String())
		if p.model.Done() {
			return p, tea.Quit
		}
	case tick:
		p.model.Tick(time.Now())
		return p, p.after(tickEvery, tick{})
	case pollAgain:
		return p, p.poll
	case answer:
		if msg.err != nil {
			p.model.Fail(msg.err, time.Now())
		} else {
			p.model.Update(msg.view, msg.alarms, time.Now())
		}
		return p, p.after(max(pollEvery, pollShare*msg.took), pollAgain{})
	}
	return p, nil
}

// View draws.
func (p *program) View() tea.View {
	v := tea.NewView(p.model.Frame())
	v.AltScreen = true
	return v
}

// Once writes one table to w, and to doubts why its figures are not current.
func Once(ctx context.Context, w, doubts io.Writer, o top.Options, ask Ask) error {
	o.Now = time.Now()
	m := top.New(o)
	v, alarms, err := ask(ctx)
	if err != nil {
		return err
	}
	m.Update(v, alarms, time.Now())
	for _, why := range m.Doubts() {
		fmt.Fprintln(doubts, "pnagent top:", why)
	}
	_, err = io.WriteString(w, m.Plain())
	return err
}
