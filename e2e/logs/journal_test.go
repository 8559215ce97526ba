// SPDX-License-Identifier: Apache-2.0

package logs

import (
	"encoding/json"
	"errors"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strconv"
	"testing"
	"time"

	"github.com/nats-io/nats.go"
	"github.com/pnagent/pnagent/e2e/kit"
)

// kills returns how often the engine is killed. By hand, a hundred times:
// PNAGENT_KILLS=100 go test -run Killed ./e2e/logs
func kills() int {
	if n, err := strconv.Atoi(os.Getenv("PNAGENT_KILLS")); err == nil {
		return n
	}
	return 6
}

// An engine that is killed at any moment, under load, has every token again
// when it is started again: those of the initial marking and those whose
// injection was acknowledged; and of one that was under way either none or all.
//
//promise:durable kill
func TestKilledEngineLosesNothingThatWasAcknowledged(t *testing.T) {
	t.Parallel()
	natsURL := kit.StartNATS(t)
	nc := kit.Connect(t, natsURL)
	net, dir := kit.Write(t, "ring.pnml", kit.RingNet), filepath.Join(t.TempDir(), "journal")
	pace := kit.Write(t, "bindings.yaml", "nets: {ring: {transitions: {ca: {delay: 2ms}}}}\n")
	if os.Getenv("PNAGENT_KILLS") != "" {
		pace = kit.Write(t, "bindings.yaml", "nets: {}\n") // as fast as it can, which makes a log that is long to read
	}
	const instances = 50
	acknowledged, open := uint64(instances), uint64(0)
	for life := range kills() {
		e := kit.RunEngine(t, natsURL, "lives", "--journal", dir, "--instances", strconv.Itoa(instances), "--workers", "2", "--bindings", pace, net)
		if life%2 == 0 { // else it may be killed before it is there
			kit.Until(t, "an injection is acknowledged", func() error {
				if !inject(nc, 0, 1) {
					return errors.New("it is not")
				}
				acknowledged++
				return nil
			})
		}
		stop := time.Now().Add(time.Duration(rand.IntN(400)) * time.Millisecond)
		for time.Now().Before(stop) {
			n := 1 + rand.Uint64N(3)
			if inject(nc, rand.IntN(instances), n) {
				acknowledged += n
			}
		}
		// One more is under way when the process dies.
		n := 1 + rand.Uint64N(3)
		if err := nc.Publish(injectSubject, injection(0, n)); err != nil {
			t.Fatal(err)
		}
		open += n
		e.Kill(t)

		r := kit.ParseReport(t, kit.Pnagent(t, "engine", "--journal", dir, "--instances", strconv.Itoa(instances), "--firings", "1000", "--bindings", pace, net).Out)
		var tokens uint64
		for _, m := range r.Nets["ring"].Tokens {
			tokens += m
		}
		if tokens < acknowledged || tokens > acknowledged+open {
			t.Fatalf("life %d: %d tokens, %d acknowledged, %d more sent", life, tokens, acknowledged, open)
		}
		acknowledged, open = tokens, 0
	}
}

func TestJournalOfOtherInstancesIsRefused(t *testing.T) {
	t.Parallel()
	net, dir := kit.Write(t, "ring.pnml", kit.RingNet), filepath.Join(t.TempDir(), "journal")
	kit.ParseReport(t, kit.Pnagent(t, "engine", "--journal", dir, "--instances", "3", "--firings", "10", net).Out)
	kit.WantFailure(t, kit.Pnagent(t, "engine", "--journal", dir, "--instances", "4", "--firings", "10", net), 1, "it has 3 instances of each net; this one runs 4")
}

const injectSubject = "petrinet.v1.inject.ring.lives"

func injection(instance int, tokens uint64) []byte {
	body, _ := json.Marshal(map[string]any{"instance": instance, "place": "a", "tokens": tokens})
	return body
}

// inject reports whether the engine has acknowledged an injection. Before it
// listens it has not.
func inject(nc *nats.Conn, instance int, tokens uint64) bool {
	m, err := nc.Request(injectSubject, injection(instance, tokens), kit.Patience)
	return err == nil && string(m.Data) == `{"ok":true}`
}
