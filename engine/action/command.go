// SPDX-License-Identifier: Apache-2.0

package action

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"time"

	"github.com/pnagent/pnagent/engine/coloured"
)

// Command performs an action by running a program, without a shell. It writes
// the request to the program's standard input and reads the answer from its
// standard output. If the exit status is not 0, the error contains the
// program's standard error. The environment is PATH and PNAGENT_NET, _SOURCE,
// _INSTANCE, _TRANSITION, _ATTEMPT and _KEY. After the timeout the program is
// killed, with its process group on systems that have them.
type Command struct {
	Args    []string      // the program and its arguments
	Dir     string        // where it runs; "" for where the engine does
	Timeout time.Duration // 0 for DefaultTimeout
}

// afterlife is how long children of a command may hold its output open after it
// has ended or was killed.
const afterlife = time.Second

// Func implements [Performer]. It returns an error if the program does not
// exist.
func (c Command) Func(Peers) (Func, error) {
	if len(c.Args) == 0 || c.Args[0] == "" {
		return nil, errors.New("no program; expected a list of a program and its arguments")
	}
	program := c.Args[0]
	if strings.ContainsRune(program, filepath.Separator) && !filepath.IsAbs(program) {
		program = filepath.Join(c.Dir, program)
	}
	path, err := exec.LookPath(program)
	if err == nil {
		path, err = filepath.Abs(path)
	}
	if err != nil {
		return nil, fmt.Errorf("no program %q: %w", c.Args[0], err)
	}
	return func(ctx context.Context, r *Run) (coloured.Outcome, error) {
		o, err := c.perform(ctx, path, r)
		if err != nil {
			err = fmt.Errorf("running %s: %w", filepath.Base(c.Args[0]), err)
		}
		return o, err
	}, nil
}

func (c Command) perform(ctx context.Context, path string, r *Run) (coloured.Outcome, error) {
	body, err := request(r)
	if err != nil {
		return coloured.Outcome{}, err
	}
	ctx, cancel := context.WithTimeout(ctx, timeout(c.Timeout))
	defer cancel()
	cmd := exec.CommandContext(ctx, path, c.Args[1:]...)
	stdout, stderr := output{limit: MaxAnswer}, output{limit: 2 * maxReason, lossy: true}
	cmd.Dir, cmd.Env, cmd.WaitDelay = c.Dir, environment(r), afterlife
	cmd.Stdin, cmd.Stdout, cmd.Stderr = bytes.NewReader(body), &stdout, &stderr
	kill := group(cmd)
	cmd.Cancel = kill
	stdout.full = cancel
	if err := cmd.Start(); err != nil {
		return coloured.Outcome{}, err
	}
	err = cmd.Wait()
	switch {
	case stdout.lost:
		return coloured.Outcome{}, fmt.Errorf("%w: more than %d bytes", ErrAnswer, MaxAnswer)
	case errors.Is(err, exec.ErrWaitDelay):
		_ = kill() // the children that still hold its output; there may be none
		return coloured.Outcome{}, errors.New("it has ended, but its children hold its output open; expected them to end or to close it")
	case ctx.Err() != nil && err != nil:
		return coloured.Outcome{}, fmt.Errorf("killed when its attempt ended: %w", ctx.Err())
	case err != nil:
		if said := clip(string(stderr.kept)); said != "" {
			err = fmt.Errorf("%w: %s", err, said)
		}
		return coloured.Outcome{}, err
	}
	return decode(stdout.kept, r)
}

func environment(r *Run) []string {
	return []string{
		"PATH=" + os.Getenv("PATH"),
		"PNAGENT_NET=" + r.Net,
		"PNAGENT_SOURCE=" + r.Source,
		"PNAGENT_INSTANCE=" + strconv.Itoa(r.Start.Instance),
		"PNAGENT_TRANSITION=" + r.Transition,
		"PNAGENT_ATTEMPT=" + strconv.Itoa(r.Start.Attempt),
		"PNAGENT_KEY=" + r.Key,
	}
}

// output keeps the beginning of what a command writes. It does not use a
// bytes.Buffer, because io.Copy would let that read everything.
type output struct {
	kept  []byte
	limit int
	lossy bool   // it is no error if there is more
	lost  bool   // there was more than fits
	full  func() // called when there is more, unless lossy
}

// Write implements io.Writer.
func (o *output) Write(p []byte) (int, error) {
	room := min(len(p), o.limit-len(o.kept))
	o.kept = append(o.kept, p[:room]...)
	if room < len(p) && !o.lossy && !o.lost {
		o.lost = true
		o.full()
	}
	return len(p), nil
}
