// SPDX-License-Identifier: Apache-2.0

package e2e

import (
	"fmt"
	"os"
	"strconv"
	"strings"
	"testing"
	"time"
)

// peak is the most memory that a process ever had, in MiB: VmHWM of Linux.
func (p *process) peak(t *testing.T) int {
	t.Helper()
	text, err := os.ReadFile(fmt.Sprintf("/proc/%d/status", p.cmd.Process.Pid))
	if err != nil {
		t.Skipf("the memory of a process cannot be read here: %v", err)
	}
	for line := range strings.Lines(string(text)) {
		if fields := strings.Fields(line); len(fields) > 1 && fields[0] == "VmHWM:" {
			kib, err := strconv.Atoi(fields[1])
			if err != nil {
				t.Fatal(err)
			}
			return kib >> 10
		}
	}
	t.Fatal("got no VmHWM; want one")
	return 0
}

// Sixty sources send large nets whose definitions no client knows, or all of which a
// client sends. The memory stays below the limit, and a later net is shown.
func TestLargeUnknownDefinitionsStayWithinTheLimitOfMemory(t *testing.T) {
	t.Parallel()
	if underRace {
		t.Skip("the race detector takes several times the memory")
	}
	for _, answered := range []bool{false, true} {
		t.Run(fmt.Sprintf("answered=%v", answered), func(t *testing.T) {
			t.Parallel()
			const limit = 512 // MiB
			largeUnknown(t, limit, answered, "env", fmt.Sprintf("GOMEMLIMIT=%dMiB", limit))
		})
	}
}

// The same with the limit of a control group, whose processes the kernel kills beyond it.
func TestLargeUnknownDefinitionsStayWithinAControlGroup(t *testing.T) {
	t.Parallel()
	if underRace {
		t.Skip("the race detector takes several times the memory")
	}
	for _, answered := range []bool{false, true} {
		t.Run(fmt.Sprintf("answered=%v", answered), func(t *testing.T) {
			t.Parallel()
			const limit = 256 // MiB
			group := newControlGroup(t, limit<<20)
			largeUnknown(t, limit, answered, "sh", "-c", `unset GOMEMLIMIT; echo $$ >"$0/cgroup.procs" && exec "$@"`, group.dir)
			group.killedNone(t)
		})
	}
}

// largeUnknown runs a sidecar behind a command that limits its memory to some MiB, and
// attacks it.
func largeUnknown(t *testing.T, limit int, answered bool, command ...string) {
	const nets, places = 60, 15_000
	url := startNATS(t)
	p := start(t, command[0], append(command[1:], built.pnagent, "serve", "--nats", url, "--web.listen-address", "127.0.0.1:0", "--mib-dir", t.TempDir(), "--log.format", "json")...)
	side := &sidecar{process: p, web: web{"http://" + p.says(t, `"sidecar serves".*"http":"([^"]*)"`)[1]}}
	p.says(t, "because of the limit of memory")
	nc, reason := connect(t, url), "too_many_waiting"
	for i := range nets {
		net := fmt.Sprint("large-", i)
		text, digest := hostileNet(net, "", places)
		size := 60_000 // without a definition, a message may have any number of rows
		if answered {
			reason, size = "too_many_rows", places
			answerDefinition(t, nc, net, digest, text)
		}
		for seq := range uint64(3) {
			if err := nc.PublishMsg(packed(t, hostileRows(net, digest, fmt.Sprint("stranger-", i), seq+1, size))); err != nil {
				t.Fatal(err)
			}
		}
	}
	ended := flushed(t, nc)
	until(t, "some are refused", func() error {
		if side.view(t).Traffic.Rejected[reason] == 0 {
			return fmt.Errorf("no %s", reason)
		}
		return nil
	})
	side.alarmed(t, "PnagentMessagesRejected", "pnagent_messages_rejected_total")
	side.admits(t, url, 20*time.Second, ended)
	side.scrape(t)
	if got := p.peak(t); got > limit+limit/4 {
		t.Errorf("got %d MiB; want at most a quarter above %d", got, limit)
	} else {
		t.Logf("peak %d MiB", got)
	}
}
