// SPDX-License-Identifier: Apache-2.0

package snmptest

import (
	"context"
	"path/filepath"
	"testing"

	"github.com/pnagent/pnagent/internal/porttest"
)

// Config says what is special about a snmpd.
type Config struct {
	// TCP has subagents connect over TCP; without it, over a unix socket.
	TCP bool
	// Lines are put at the end of snmpd.conf, such as "trap2sink 127.0.0.1:1162".
	Lines []string
	// Bare has no lines but the address and Lines: no community and no AgentX.
	Bare bool
	// Stopped leaves it to the test to call Start.
	Stopped bool
}

// Snmpd is a net-snmp master agent that belongs to one test.
type Snmpd struct {
	Client         // asks it, with community "public"
	*daemon        // to stop and kill it
	AgentX  string // where subagents connect: unix:/path or tcp:127.0.0.1:port
}

// Start runs snmpd and waits until it answers. It skips the test where snmpd
// or the tools are not installed; the daemon ends with the test.
func Start(tb testing.TB, config Config) *Snmpd {
	tb.Helper()
	s := &Snmpd{daemon: newDaemon(tb, "snmpd")}
	s.Addr = porttest.Addr(tb)
	s.AgentX = "unix:" + filepath.Join(s.dir, "agentx")
	if config.TCP {
		s.AgentX = "tcp:" + porttest.Addr(tb)
	}
	address := "agentAddress udp:" + s.Addr
	if config.Bare {
		s.configure(tb, append([]string{address}, config.Lines...))
	} else {
		s.configure(tb, append([]string{
			address,
			"rocommunity public 127.0.0.1",
			"rwcommunity private 127.0.0.1",
			"master agentx",
			"agentXSocket " + s.AgentX,
			"agentXTimeout 1",
			"agentXRetries 1",
			"dontLogTCPWrappersConnects yes", // else it logs every request
		}, config.Lines...))
	}
	if !config.Stopped {
		s.Start(tb)
	}
	return s
}

// Start runs the daemon, again where it was stopped, and waits until it answers.
func (s *Snmpd) Start(tb testing.TB) {
	tb.Helper()
	s.start(tb, func(ctx context.Context) error {
		// A request that comes before the daemon listens is lost, so that a
		// short time-out finds out sooner.
		_, err := s.Run(ctx, "snmpget", []string{"-t", "0.1", "-r", "0"}, "1.3.6.1.2.1.1.3.0")
		return err
	})
}

// Pid returns the daemon's process id, or 0 while it does not run.
func (s *Snmpd) Pid() int {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.cmd == nil {
		return 0
	}
	return s.cmd.Process.Pid
}
