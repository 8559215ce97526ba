// SPDX-License-Identifier: Apache-2.0

package main

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"time"
)

// sidecar is a "pnagent serve" that runs.
type sidecar struct {
	name string
	cmd  *exec.Cmd
	http string // host:port
	snmp string
	done chan struct{} // closed when it has ended

	mu    sync.Mutex
	gc    time.Duration // of processor time, so far
	said  []string      // warnings and errors
	ready chan struct{} // closed when http and snmp are known
}

// sidecars starts processes of one program.
type sidecars struct {
	program string
	dir     string // for definitions, state, and as working directory
	natsURL string
	taskset string // "" where it is not there
	nets    []string
}

// newSidecars writes the nets' definitions and finds taskset.
func newSidecars(program, dir, natsURL string, nets ...definition) (*sidecars, error) {
	s := &sidecars{program: program, dir: dir, natsURL: natsURL}
	for _, n := range nets {
		file := filepath.Join(dir, n.id+".pnml")
		if err := os.WriteFile(file, n.pnml, 0o600); err != nil {
			return nil, err
		}
		s.nets = append(s.nets, file)
	}
	s.taskset, _ = exec.LookPath("taskset") // without it nothing is pinned, which the report says
	return s, nil
}

// start starts a sidecar with one thread for Go code, on the given processor if
// that is not negative, and waits until it serves.
func (s *sidecars) start(ctx context.Context, name string, processor int, flags ...string) (*sidecar, error) {
	snmp, err := freeUDP(ctx)
	if err != nil {
		return nil, err
	}
	args := []string{s.program, "serve", "--nats", s.natsURL, "--web.listen-address", "127.0.0.1:0", "--snmp", snmp,
		"--mib-dir", "", "--from-zero", "--log.format", "json"}
	args = append(append(args, flags...), s.nets...)
	if processor >= 0 && s.taskset != "" {
		args = append([]string{s.taskset, "--cpu-list", strconv.Itoa(processor)}, args...)
	}
	p := &sidecar{name: name, cmd: exec.CommandContext(ctx, args[0], args[1:]...), done: make(chan struct{}), ready: make(chan struct{})}
	p.cmd.Dir = s.dir
	p.cmd.Cancel = func() error { return p.cmd.Process.Signal(syscall.SIGTERM) }
	p.cmd.WaitDelay = 10 * time.Second
	p.cmd.Env = append(environment(), "GOMAXPROCS=1", "GODEBUG=gctrace=1")
	stderr, err := p.cmd.StderrPipe()
	if err != nil {
		return nil, err
	}
	if err := p.cmd.Start(); err != nil {
		return nil, fmt.Errorf("start %s: %w", name, err)
	}
	go func() {
		defer close(p.done)
		p.read(stderr)
		_ = p.cmd.Wait() // how it ended does not matter: what it said does
	}()
	select {
	case <-p.ready:
		return p, nil
	case <-p.done:
		return nil, fmt.Errorf("%s ended before it served: %s", name, strings.Join(p.words(), "; "))
	case <-ctx.Done():
		<-p.done
		return nil, ctx.Err()
	}
}

// environment is that of this process without what would change pnagent.
func environment() []string {
	return slices.DeleteFunc(os.Environ(), func(v string) bool {
		return strings.HasPrefix(v, "PNAGENT_") || strings.HasPrefix(v, "GOMAXPROCS=") || strings.HasPrefix(v, "GODEBUG=") || strings.HasPrefix(v, "GOGC=")
	})
}

// freeUDP is an address that nobody listens at.
func freeUDP(ctx context.Context) (string, error) {
	conn, err := new(net.ListenConfig).ListenPacket(ctx, "udp", "127.0.0.1:0")
	if err != nil {
		return "", err
	}
	return conn.LocalAddr().String(), conn.Close()
}

// stop ends the sidecar as an operator does.
func (p *sidecar) stop() {
	_ = p.cmd.Process.Signal(syscall.SIGTERM) // fails only where it has ended
	<-p.done
}

const wordsKept = 20

// read reads what the sidecar says: its log, and what its garbage collector did.
func (p *sidecar) read(stderr io.Reader) {
	lines := bufio.NewScanner(stderr)
	lines.Buffer(nil, 1<<20)
	for lines.Scan() {
		p.hear(lines.Text())
	}
}

func (p *sidecar) hear(line string) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if spent, is := gcTime(line); is {
		p.gc += spent
		return
	}
	var entry struct{ Level, Msg, HTTP, SNMP string }
	if err := json.Unmarshal([]byte(line), &entry); err == nil {
		if entry.Msg == "sidecar serves" && p.http == "" && entry.HTTP != "" {
			p.http, p.snmp = entry.HTTP, entry.SNMP
			close(p.ready)
			return
		}
		if entry.Level == "INFO" || strings.Contains(entry.Msg, "playpen") {
			return
		}
	}
	if len(p.said) < wordsKept {
		p.said = append(p.said, line)
	}
}

func (p *sidecar) words() []string {
	p.mu.Lock()
	defer p.mu.Unlock()
	return slices.Clone(p.said)
}

// gcTime reads a line of gctrace (package runtime, GODEBUG): "gc 3 @0.1s 2%:
// 0.01+1.2+0.02 ms clock, 0.01+0.5/1.1/0.2+0.02 ms cpu, …". What idle processors
// did is left out.
func gcTime(line string) (time.Duration, bool) {
	if !strings.HasPrefix(line, "gc ") {
		return 0, false
	}
	_, rest, clock := strings.Cut(line, " ms clock, ")
	text, _, cpu := strings.Cut(rest, " ms cpu")
	parts := strings.Split(text, "+")
	if !clock || !cpu || len(parts) != 3 {
		return 0, false
	}
	marks := strings.Split(parts[1], "/")
	if len(marks) != 3 {
		return 0, false
	}
	sum := 0.0
	for _, part := range []string{parts[0], marks[0], marks[1], parts[2]} {
		ms, err := strconv.ParseFloat(part, 64)
		if err != nil {
			return 0, false
		}
		sum += ms
	}
	return time.Duration(sum * float64(time.Millisecond)), true
}

// used is what a process has used so far.
type used struct {
	at     time.Time
	cpu    time.Duration
	gc     time.Duration
	waited time.Duration // ready to run, but others had the processor
	rss    int64         // bytes, now
	rssTop int64         // and at most so far
}

func (p *sidecar) used() (used, error) {
	u, err := usedBy(p.cmd.Process.Pid)
	p.mu.Lock()
	defer p.mu.Unlock()
	u.gc = p.gc
	return u, err
}

// tick is the unit of processor times in /proc: USER_HZ, which is 100 on every
// architecture that Go runs on.
const tick = 10 * time.Millisecond

// usedBy reads proc(5).
func usedBy(pid int) (used, error) {
	u := used{at: time.Now()}
	stat, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", pid))
	if err != nil {
		return u, err
	}
	status, err := os.ReadFile(fmt.Sprintf("/proc/%d/status", pid))
	if err != nil {
		return u, err
	}
	if u.cpu, err = cpuTime(string(stat)); err != nil {
		return u, err
	}
	u.waited = waited(pid)
	u.rss, u.rssTop = kilobytes(string(status), "VmRSS:")<<10, kilobytes(string(status), "VmHWM:")<<10
	return u, nil
}

// waited is how long the threads of a process waited for a processor, by the
// second field of their schedstat; 0 where the kernel does not tell.
func waited(pid int) (sum time.Duration) {
	files, _ := filepath.Glob(fmt.Sprintf("/proc/%d/task/*/schedstat", pid)) // the pattern is a good one
	for _, file := range files {
		text, err := os.ReadFile(file)
		if err != nil {
			continue // the thread has ended
		}
		if fields := strings.Fields(string(text)); len(fields) > 1 {
			n, _ := strconv.ParseInt(fields[1], 10, 64) // the kernel writes numbers
			sum += time.Duration(n)
		}
	}
	return sum
}

// cpuTime is utime and stime of /proc/PID/stat. The name of the program, which
// may hold anything, is in parentheses before.
func cpuTime(stat string) (time.Duration, error) {
	fields := strings.Fields(stat[strings.LastIndexByte(stat, ')')+1:])
	if len(fields) < 13 {
		return 0, errors.New("/proc/PID/stat is too short")
	}
	user, err1 := strconv.ParseInt(fields[11], 10, 64)
	system, err2 := strconv.ParseInt(fields[12], 10, 64)
	return time.Duration(user+system) * tick, errors.Join(err1, err2)
}

// kilobytes is one line of /proc/PID/status; 0 without it.
func kilobytes(status, name string) int64 {
	for line := range strings.Lines(status) {
		if value, is := strings.CutPrefix(line, name); is {
			n, _ := strconv.ParseInt(strings.TrimSuffix(strings.TrimSpace(value), " kB"), 10, 64) // the kernel writes numbers
			return n
		}
	}
	return 0
}
