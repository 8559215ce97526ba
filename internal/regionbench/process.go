// SPDX-License-Identifier: Apache-2.0

package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"time"
)

// programs are what is measured, built from this tree.
type programs struct{ pnagent, server string }

func build(ctx context.Context, dir string) (programs, error) {
	p := programs{filepath.Join(dir, "pnagent"), filepath.Join(dir, "nats-server")}
	for path, pkg := range map[string]string{p.pnagent: "./cmd/pnagent", p.server: "github.com/nats-io/nats-server/v2"} {
		cmd := exec.CommandContext(ctx, "go", "build", "-o", path, pkg)
		if out, err := cmd.CombinedOutput(); err != nil {
			return p, fmt.Errorf("building %s: %w\n%s", pkg, err, out)
		}
	}
	return p, nil
}

// process is a program that runs.
type process struct {
	name string
	cmd  *exec.Cmd
	said string // file of what it says
	done chan struct{}
}

// start runs a program that says what it says into a file. It is killed when ctx
// ends.
func start(ctx context.Context, dir, name string, env []string, path string, args ...string) (*process, error) {
	p := &process{name: name, cmd: exec.CommandContext(ctx, path, args...), said: filepath.Join(dir, name+".log"), done: make(chan struct{})}
	out, err := os.Create(p.said)
	if err != nil {
		return nil, err
	}
	defer out.Close()
	p.cmd.Stdout, p.cmd.Stderr = out, out
	p.cmd.Env = append(cleanEnv(), env...)
	if err := p.cmd.Start(); err != nil {
		return nil, fmt.Errorf("starting %s: %w", name, err)
	}
	go func() {
		defer close(p.done)
		_ = p.cmd.Wait() // how it ended is in ProcessState
	}()
	return p, nil
}

// cleanEnv is the environment without what would change what pnagent does.
func cleanEnv() []string {
	var env []string
	for _, v := range os.Environ() {
		if !strings.HasPrefix(v, "PNAGENT_") && !strings.HasPrefix(v, "NOTIFY_SOCKET=") {
			env = append(env, v)
		}
	}
	return env
}

// endWithin is how long a program may take to end that was asked to.
const endWithin = 20 * time.Second

// stop ends a program as an operator does. One that has ended already, or ends
// with an error, is an error.
func (p *process) stop() error {
	select {
	case <-p.done:
		return p.failed("it has ended by itself")
	default:
	}
	if err := p.cmd.Process.Signal(syscall.SIGTERM); err != nil {
		return fmt.Errorf("ending %s: %w", p.name, err)
	}
	select {
	case <-p.done:
	case <-time.After(endWithin):
		return errors.Join(p.failed("it does not end"), p.kill())
	}
	if code := p.cmd.ProcessState.ExitCode(); code != 0 {
		return p.failed(fmt.Sprintf("it has ended with %d", code))
	}
	return nil
}

// kill ends a program without a last word.
func (p *process) kill() error {
	err := p.cmd.Process.Kill()
	<-p.done
	if errors.Is(err, os.ErrProcessDone) {
		return nil
	}
	return err
}

func (p *process) failed(what string) error {
	said, err := os.ReadFile(p.said)
	if err != nil {
		said = []byte(err.Error())
	}
	return fmt.Errorf("%s: %s; it has said:\n%s", p.name, what, said[max(0, len(said)-4000):])
}
