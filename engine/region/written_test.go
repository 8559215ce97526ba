// SPDX-License-Identifier: Apache-2.0

package region_test

import (
	"errors"
	"testing"

	"github.com/pnagent/pnagent/engine"
	"github.com/pnagent/pnagent/engine/region"
	"github.com/pnagent/pnagent/engine/region/regiontest"
	"github.com/pnagent/pnagent/internal/natstest"
)

// While the connection of an owner is lost, its log loses its last commit with the power of the
// server, and another process takes the part over with as many commits. The server would accept the
// next commit of the first owner by its number.
func TestAnOwnerWritesNothingIntoALogThatIsAnotherOneAfterAReconnection(t *testing.T) {
	for _, lost := range []bool{false, true} {
		s := natstest.Run(t)
		way := natstest.NewWay(t, s)
		conn := natstest.Connect(t, way)
		logs := regiontest.NewServer()
		tables, parts := ring(t, 1)
		open := func(source string, log func(*regiontest.Log) region.Log) *engine.Engine {
			cfg := engineOf(tables, source, 1)
			cfg.Journal, cfg.Part = log(logs.Open("one", nil)), &parts[0].Part
			e, err := engine.New(cfg)
			if err != nil {
				t.Fatal(err)
			}
			if err := e.Lead(t.Context()); err != nil {
				t.Fatal(err)
			}
			return e
		}
		old := open("old", func(l *regiontest.Log) region.Log { return region.NewWritten(l, conn) })
		at := old.Standing().Position
		if lost {
			logs.Lose("one", at-1)
			if next := open("next", func(l *regiontest.Log) region.Log { return l }).Standing().Position; next != at {
				t.Fatalf("the other owner has written commit %d; want %d", next, at)
			}
		}
		way.Cut()
		until(t, "another connection", func() bool { return conn.IsConnected() && conn.Stats().Reconnects > 0 })
		err := old.Release(t.Context(), "")
		if errors.Is(err, engine.ErrRewritten) != lost || !lost && err != nil {
			t.Errorf("the end of the log was lost: %v; the owner's next commit: %v", lost, err)
		}
		commits := at + 1
		if lost {
			commits = at
		}
		if n := logs.Open("one", nil).Last(); n != commits {
			t.Errorf("the end of the log was lost: %v; it has %d commits; want %d", lost, n, commits)
		}
	}
}
