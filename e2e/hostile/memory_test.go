// SPDX-License-Identifier: Apache-2.0

package hostile

import (
	"fmt"
	"testing"
	"time"

	"github.com/pnagent/pnagent/e2e/kit"
)

// Sixty sources send large nets whose definitions no client knows, or all of which a
// client sends. The memory stays below the limit, and a later net is shown.
//
//promise:bounds hostile load
func TestLargeUnknownDefinitionsStayWithinTheLimitOfMemory(t *testing.T) {
	t.Parallel()
	if kit.UnderRace {
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
	if kit.UnderRace {
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
	url := kit.StartNATS(t)
	p := kit.Start(t, command[0], append(command[1:], kit.Built().Pnagent, "serve", "--nats", url, "--web.listen-address", "127.0.0.1:0", "--mib-dir", t.TempDir(), "--log.format", "json")...)
	side := &kit.Sidecar{Process: p, Web: kit.Web{URL: "http://" + p.Says(t, `"sidecar serves".*"http":"([^"]*)"`)[1]}}
	p.Says(t, "because of the limit of memory")
	nc, reason := kit.Connect(t, url), "too_many_waiting"
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
	ended := flushed(t, nc, p)
	kit.Until(t, "some are refused", func() error {
		if n, _ := side.Self(t).Value("pnagent_messages_rejected_total", "reason", reason); n == 0 {
			return fmt.Errorf("no %s", reason)
		}
		return nil
	})
	side.Alarmed(t, "PnagentMessagesRejected", "pnagent_messages_rejected_total")
	admits(t, side, url, 20*time.Second, ended)
	side.Scrape(t)
	if got := peakMemory(t, p); got > limit+limit/4 {
		t.Errorf("got %d MiB; want at most a quarter above %d", got, limit)
	} else {
		t.Logf("peak %d MiB", got)
	}
}
