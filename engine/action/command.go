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

// Command performs an action by running a program, without a shell. It reads
// the request on its standard input and writes the answer to its standard
// output; what it writes to standard error is part of the error if its exit
// status is not 0. Its environment is PATH and PNAGENT_NET, _SOURCE, _INSTANCE,
// _TRANSITION, _ATTEMPT and _KEY. At the end of its time it is killed, with its
// process group where there are such.
type Command struct {
	Args    []string      // the program and its arguments
	Dir     string        // where it runs; "" for where the engine does
	Timeout time.Duration // 0 for DefaultTimeout
}

// afterlife is how long a command's children may hold its output when it has
// ended or was killed.
const afterlife = time.Second

// Func implements [Performer]. The program must be there.
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
			err = fmt.Errorf("running %s: %w", c.Args[0], err)
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
		_ = kill() // what still holds its output; it may be gone by now
		return coloured.Outcome{}, errors.New("it has ended, but what it started holds its output; expected that to end or to close it")
	case ctx.Err() != nil && err != nil:
		return coloured.Outcome{}, fmt.Errorf("killed at the end of its time: %w", ctx.Err())
	case err != nil:
		return coloured.Outcome{}, fmt.Errorf("%w: %s", err, clip(string(stderr.kept)))
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

// output keeps the beginning of what a command writes. It is no bytes.Buffer:
// that would read everything by itself.
type output struct {
	kept  []byte
	limit int
	lossy bool   // the rest is not missed
	lost  bool   // there was more
	full  func() // called when there is more, if not lossy
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
