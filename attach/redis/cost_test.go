// SPDX-License-Identifier: Apache-2.0

//go:build peers

package redis

import (
	"flag"
	"fmt"
	"log/slog"
	"regexp"
	"strconv"
	"testing"
	"time"
)

var (
	finished = flag.Int("finished", 100_000, "jobs that have ended, of TestTheCostOfAPoll")
	queued   = flag.Int("queued", 100_000, "jobs that wait, of TestTheCostOfAPoll")
)

// fill makes jobs of a queue of BullMQ that have ended, and others that wait.
const fill = `local from, to = tonumber(ARGV[1]), tonumber(ARGV[2])
redis.call('HSET', 'bull:mail:meta', 'opts.maxLenEvents', '10000')
for i = from, to do
  redis.call('HSET', 'bull:mail:' .. i, 'name', 'send', 'timestamp', '1795987131358', 'opts', '{}', 'data', '{"to":"x"}', 'returnvalue', 'null')
  if ARGV[3] == 'completed' then redis.call('ZADD', 'bull:mail:completed', i, i) else redis.call('LPUSH', 'bull:mail:wait', i) end
end`

var usec = regexp.MustCompile(`cmdstat_(\w+):calls=\d+,usec=(\d+)`)

// spentBy returns the time that a server took for commands since the last reset, without and with
// SCAN.
func spentBy(t *testing.T, s *Server) (took, withScan time.Duration) {
	t.Helper()
	stats, err := s.do(t.Context(), [][]string{{"INFO", "commandstats"}})
	if err != nil {
		t.Fatal(err)
	}
	for _, m := range usec.FindAllStringSubmatch(fmt.Sprint(stats[0]), -1) {

		us, _ := strconv.Atoi(m[2])
		switch m[1] {
		case "info", "config", "hello", "client":
			continue
		case "scan":
		default:
			took += time.Duration(us) * time.Microsecond
		}
		withScan += time.Duration(us) * time.Microsecond
	}
	return took, withScan
}

// A poll costs Redis the same with ten jobs and with many, whether they have ended or wait. Only the
// first look for queues looks at all keys.
func TestTheCostOfAPoll(t *testing.T) {
	t.Parallel()
	s := dial(t, Access{Addresses: []string{"127.0.0.1:" + newRedis(t)}})
	cfg := Config{Server: s, System: bullMQ()}
	cfg.Timeout, cfg.Log = 2*time.Minute, slog.New(slog.NewTextHandler(t.Output(), nil))
	poll := func(from, to int, state string) (first, later Cost, took time.Duration) {
		t.Helper()
		for ; from <= to; from += 10_000 {
			set(t, s, "CONFIG RESETSTAT")
			if _, err := s.do(t.Context(), [][]string{{"EVAL", fill, "0", strconv.Itoa(from), strconv.Itoa(min(from+9999, to)), state}}); err != nil {
				t.Fatal(err)
			}
		}
		r, costs := cfg.reader(), [2]Cost{}
		for i := range costs {
			set(t, s, "CONFIG RESETSTAT")
			var err error
			_, costs[i], err = r.poll(t.Context(), time.Now().UnixMicro())
			if err != nil {
				t.Fatal(err)
			}
		}
		took, all := spentBy(t, s)
		t.Logf("%d jobs: the first poll looked at %d keys in %v; a later one sent %d commands, read %d bytes and took %v; Redis took %v, with SCAN %v", to, costs[0].Keys, costs[0].Took, costs[1].Commands, costs[1].Bytes, costs[1].Took, took, all)
		return costs[0], costs[1], took
	}
	_, few, _ := poll(1, 10, "wait")
	first, many, took := poll(11, 10+*finished, "completed")
	_, more, tookMore := poll(11+*finished, 10+*finished+*queued, "wait")
	if many.Commands != few.Commands || more.Commands != few.Commands {
		t.Errorf("%d commands with few jobs, %d with many that have ended, %d with many that wait", few.Commands, many.Commands, more.Commands)
	}
	if max(took, tookMore) > 20*time.Millisecond {
		t.Errorf("Redis took %v and %v for a poll; expected a few ms", took, tookMore)
	}
	if first.Keys < *finished || many.Keys > *finished/2 {
		t.Errorf("SCAN looked at %d keys at first, then at %d", first.Keys, many.Keys)
	}
}
