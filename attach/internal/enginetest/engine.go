// SPDX-License-Identifier: Apache-2.0

//go:build peers

package enginetest

import (
	"bufio"
	"context"
	"fmt"
	"io"
	"net"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"
)

// answerWithin is how long a command of an engine may take.
const answerWithin = 5 * time.Minute

// Program returns the path of a program, or skips the test.
func Program(t *testing.T, name string) string {
	t.Helper()
	path, err := exec.LookPath(name)
	if err != nil {
		found, _ := filepath.Glob("/usr/lib/postgresql/*/bin/" + name) // the pattern is valid
		if len(found) == 0 {
			t.Skipf("%s is not installed; scripts/deps peers installs it", name)
		}
		path = found[len(found)-1]
	}
	if path, err = filepath.EvalSymlinks(path); err != nil {
		t.Fatal(err)
	}
	return path
}

// Engine is a program that runs an engine. It reads commands, one a line, and answers
// each with lines that end with "ok" or "error TEXT". It prints "ok" when it has
// started, and ends at the end of its input.
type Engine struct {
	T     *testing.T
	in    io.Writer
	lines chan string
}

// Start starts the program of an engine, which ends with the test.
func Start(t *testing.T, cmd *exec.Cmd) *Engine {
	t.Helper()
	in, err := cmd.StdinPipe()
	if err != nil {
		t.Fatal(err)
	}
	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	cmd.Stderr = t.Output()
	cmd.WaitDelay = 10 * time.Second // for programs that it leaves behind
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	e := read(t, in, out, in.Close, cmd.Wait)
	e.answer("start")
	return e
}

// Dial has a program that runs an engine for each connection start one, which ends with the test.
func Dial(t *testing.T, address, start string) *Engine {
	t.Helper()
	conn, err := new(net.Dialer).DialContext(t.Context(), "tcp", address)
	if err != nil {
		t.Fatal(err)
	}
	e := read(t, conn, conn, conn.(*net.TCPConn).CloseWrite, conn.Close)
	e.Do(start)
	return e
}

// read reads the answers of an engine. At the end of the test it calls end, which ends the
// commands, and ended when there are no more answers.
func read(t *testing.T, in io.Writer, out io.Reader, end, ended func() error) *Engine {
	e := &Engine{T: t, in: in, lines: make(chan string, 10_000)}
	go func() {
		defer close(e.lines)
		s := bufio.NewScanner(out)
		for s.Buffer(nil, 10<<20); s.Scan(); {
			e.lines <- s.Text()
		}
	}()
	t.Cleanup(func() {
		if err := end(); err != nil {
			t.Errorf("the engine's input: %v", err)
		}
		for range e.lines { // until it has ended
			continue
		}
		if err := ended(); err != nil {
			t.Errorf("the engine: %v", err)
		}
	})
	return e
}

// Do runs a command and returns the lines of its answer. The test fails if the answer
// is an error.
func (e *Engine) Do(command string) []string {
	e.T.Helper()
	if _, err := io.WriteString(e.in, command+"\n"); err != nil {
		e.T.Fatal(err)
	}
	return e.answer(command)
}

func (e *Engine) answer(command string) []string {
	e.T.Helper()
	ctx, cancel := context.WithTimeout(e.T.Context(), answerWithin)
	defer cancel()
	var out []string
	for {
		select {
		case line, open := <-e.lines:
			switch {
			case !open:
				e.T.Fatalf("%s: the engine has ended", command)
			case line == "ok":
				return out
			case strings.HasPrefix(line, "error "):
				e.T.Fatalf("%s: %s", command, line)
			}
			out = append(out, line)
		case <-ctx.Done():
			e.T.Fatalf("%s: %v; answered so far: %q", command, ctx.Err(), out)
		}
	}
}

// number returns a number that a program printed, or 0.
func number(text string) int64 {
	n, err := strconv.ParseInt(text, 10, 64)
	if err != nil {
		return 0
	}
	return n
}

// Held is a token: which instance is at which node of which net, and since when, in
// milliseconds since the Unix epoch.
type Held struct {
	Net, Instance, Node string
	Since               int64
}

func (h Held) String() string {
	return fmt.Sprintf("%s at %s of %s since %d", h.Instance, h.Node, h.Net, h.Since)
}
