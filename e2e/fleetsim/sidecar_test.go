// SPDX-License-Identifier: Apache-2.0

package fleetsim

import (
	"bufio"
	"context"
	"encoding/json"
	"fmt"
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

	"github.com/prometheus/procfs"

	"github.com/pnagent/pnagent/collector/merge"
)

// sidecar is a running "pnagent serve".
type sidecar struct {
	name string
	cmd  *exec.Cmd
	http string // host:port
	snmp string
	done chan struct{} // closed when it has ended

	mu     sync.Mutex
	gc     time.Duration // of processor time, so far
	logged []string      // warnings and errors
	ready  chan struct{} // closed when http and snmp are known
}

// sidecars starts processes of one program.
type sidecars struct {
	program string
	dir     string // for definitions, and as working directory
	state   string // for what sidecars keep on a disk; "" keeps nothing
	natsURL string
	taskset string // "" if not installed
	sources int    // that each may have to show
	nets    []string
}

// newSidecars writes the nets' definitions and finds taskset.
func newSidecars(program, dir, state, natsURL string, nets ...definition) (*sidecars, error) {
	s := &sidecars{program: program, dir: dir, state: state, natsURL: natsURL}
	for _, n := range nets {
		file := filepath.Join(dir, n.id+".pnml")
		if err := os.WriteFile(file, n.pnml, 0o600); err != nil {
			return nil, err
		}
		s.nets = append(s.nets, file)
	}
	s.taskset, _ = exec.LookPath("taskset") // without it nothing is pinned, and the report shows that
	return s, nil
}

// start starts a sidecar with one thread for Go code, on the given processor if
// that is not negative, and waits until it serves.
func (s *sidecars) start(ctx context.Context, name string, processor int, flags ...string) (*sidecar, error) {
	snmp, err := freeUDP(ctx)
	if err != nil {
		return nil, err
	}
	kept := ""
	if s.state != "" {
		kept, err = os.MkdirTemp(s.state, "fleetsim-"+name+"-")
		if err != nil {
			return nil, err
		}
	}
	args := []string{s.program, "serve", "--nats", s.natsURL, "--web.listen-address", "127.0.0.1:0", "--snmp", snmp,
		"--mib-dir", kept, "--from-zero", "--log.format", "json"}
	if limits := merge.DefaultLimits(); s.sources > limits.Sources {
		args = append(args, "--collect.max-sources", strconv.Itoa(s.sources), "--collect.max-rows", strconv.Itoa(max(limits.AllRows, 2*2*size*s.sources)))
	}
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
		lines := bufio.NewScanner(stderr)
		lines.Buffer(nil, 1<<20)
		for lines.Scan() {
			p.read(lines.Text())
		}
		_ = p.cmd.Wait() // its log is the result, not its exit status
		if kept != "" {
			_ = os.RemoveAll(kept)
		}
	}()
	select {
	case <-p.ready:
		return p, nil
	case <-p.done:
		return nil, fmt.Errorf("%s ended before it served: %s", name, strings.Join(p.warnings(), "; "))
	case <-ctx.Done():
		<-p.done
		return nil, ctx.Err()
	}
}

// environment returns that of this process, without the variables that change
// what pnagent does or measures.
func environment() []string {
	return slices.DeleteFunc(os.Environ(), func(v string) bool {
		return strings.HasPrefix(v, "PNAGENT_") || strings.HasPrefix(v, "GOMAXPROCS=") || strings.HasPrefix(v, "GODEBUG=") || strings.HasPrefix(v, "GOGC=")
	})
}

// freeUDP returns an address at which no process listens.
func freeUDP(ctx context.Context) (string, error) {
	conn, err := new(net.ListenConfig).ListenPacket(ctx, "udp", "127.0.0.1:0")
	if err != nil {
		return "", err
	}
	return conn.LocalAddr().String(), conn.Close()
}

// stop ends the sidecar as an operator does.
func (p *sidecar) stop() {
	_ = p.cmd.Process.Signal(syscall.SIGTERM) // fails only if it has ended
	<-p.done
}

const maxWarnings = 20

// read reads a line that the sidecar wrote: of its log or its garbage collector.
func (p *sidecar) read(line string) {
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
	if len(p.logged) < maxWarnings {
		p.logged = append(p.logged, line)
	}
}

// warnings returns what the sidecar has logged so far.
func (p *sidecar) warnings() []string {
	p.mu.Lock()
	defer p.mu.Unlock()
	return slices.Clone(p.logged)
}

// gcTime reads a line of gctrace (package runtime, GODEBUG): "gc 3 @0.1s 2%:
// 0.01+1.2+0.02 ms clock, 0.01+0.5/1.1/0.2+0.02 ms cpu, …". The
// work of idle processors is left out.
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
	waited time.Duration // by threads that could run, while others had the processor
	disk   uint64        // bytes written to a disk
	rss    int64         // bytes, now
	rssTop int64         // bytes, at most so far
}

func (p *sidecar) used() (used, error) {
	u, err := usedBy(p.cmd.Process.Pid)
	p.mu.Lock()
	defer p.mu.Unlock()
	u.gc = p.gc
	return u, err
}

// usedBy reads what a process has used from /proc; see proc(5).
func usedBy(pid int) (used, error) {
	u := used{at: time.Now()}
	proc, err := procfs.NewProc(pid)
	if err != nil {
		return u, err
	}
	stat, err := proc.Stat()
	if err != nil {
		return u, err
	}
	status, err := proc.NewStatus()
	if err != nil {
		return u, err
	}
	io, err := proc.IO()
	if err != nil {
		return u, err
	}
	threads, err := procfs.AllThreads(pid)
	if err != nil {
		return u, err
	}
	for _, thread := range threads {
		if s, err := thread.Schedstat(); err == nil { // otherwise the thread has ended
			u.waited += time.Duration(s.WaitingNanoseconds)
		}
	}
	u.disk = io.WriteBytes
	u.cpu = time.Duration(stat.CPUTime() * float64(time.Second))
	u.rss, u.rssTop = int64(status.VmRSS), int64(status.VmHWM)
	return u, nil
}
