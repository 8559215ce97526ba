// SPDX-License-Identifier: Apache-2.0

//go:build peers

package enginetest

import (
	"bufio"
	"fmt"
	"os"
	"os/exec"
	"strings"
	"sync"
	"testing"
)

// Shared are things that tests of a process share, by key. Each is made for the first test
// that asks for it.
type Shared[V any] struct {
	mu   sync.Mutex
	made map[string]*once[V]
}

type once[V any] struct {
	mu    sync.Mutex
	done  bool
	value V
}

// Get returns the thing of a key, which made makes. If it is not made, because that test
// fails or is skipped, the next test has it made.
func (s *Shared[V]) Get(key string, made func() V) V {
	s.mu.Lock()
	if s.made == nil {
		s.made = map[string]*once[V]{}
	}
	if s.made[key] == nil {
		s.made[key] = &once[V]{}
	}
	one := s.made[key]
	s.mu.Unlock()
	one.mu.Lock()
	defer one.mu.Unlock()
	if !one.done {
		one.value, one.done = made(), true
	}
	return one.value
}

// inputs are the ends to which nothing is written of the inputs of programs that end with
// this process.
var inputs struct {
	mu   sync.Mutex
	ends []*os.File
}

// StartShared starts a program with an input that ends when the process of the tests does,
// however that ends. The program has to end then.
func StartShared(t *testing.T, cmd *exec.Cmd) {
	t.Helper()
	in, end, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	defer in.Close()
	cmd.Stdin = in
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	inputs.mu.Lock()
	defer inputs.mu.Unlock()
	inputs.ends = append(inputs.ends, end)
}

// StartEngines starts a program that runs an engine for each connection, as
// StartShared does, and returns its address. It prints the port of 127.0.0.1 at
// which it listens, and nothing else.
func StartEngines(t *testing.T, cmd *exec.Cmd) (address string) {
	t.Helper()
	out, printed, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	defer out.Close()
	cmd.Stdout, cmd.Stderr = printed, os.Stderr
	StartShared(t, cmd)
	printed.Close()
	port, err := bufio.NewReader(out).ReadString('\n')
	if err != nil {
		t.Fatal(fmt.Errorf("the program of the engines prints no port: %w", err))
	}
	return "127.0.0.1:" + strings.TrimSpace(port)
}
