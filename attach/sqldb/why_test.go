// SPDX-License-Identifier: Apache-2.0

package sqldb

import (
	"strings"
	"testing"
	"time"

	"github.com/pnagent/pnagent/stats"
)

// TestALockNamesItsWorkerAndItsEnd locks an external task in tables like those of an engine. The worker is
// published always, an error only with the details.
func TestALockNamesItsWorkerAndItsEnd(t *testing.T) {
	for name, insert := range map[string]string{
		"camunda7": "INSERT INTO ACT_RU_EXT_TASK (EXECUTION_ID_, ACT_ID_, TOPIC_NAME_, WORKER_ID_, RETRIES_, LOCK_EXP_TIME_, ERROR_MSG_) VALUES ('e', 'ship', 'ship', 'one', 3, '",
		"flowable": "INSERT INTO ACT_RU_EXTERNAL_JOB (EXECUTION_ID_, ELEMENT_ID_, HANDLER_CFG_, LOCK_OWNER_, RETRIES_, LOCK_EXP_TIME_, EXCEPTION_MSG_) VALUES ('e', 'ship', 'ship', 'one', 3, '",
	} {
		for _, c := range []struct {
			show   Show
			error  string
			ends   time.Duration // from now
			reason stats.Reason
			want   string
		}{
			{Show{}, "'broken'", time.Hour, stats.ReasonRunning, "external task ship, held by worker one until END"},
			{Show{}, "'broken'", -time.Hour, stats.ReasonNoWorker, "external task ship, the lock of worker one ended at END"},
			{Show{Detail: true}, "NULL", time.Hour, stats.ReasonRunning, "external task ship, held by worker one until END"},
			{Show{Detail: true}, "'broken'", time.Hour, stats.ReasonRunning, "external task ship, held by worker one until END: broken"},
		} {
			db, address := ownDatabase(t)
			cfg := ownConfig(t, address)
			var err error
			cfg.Mapping, err = Mappings.Load(name)
			if err != nil {
				t.Fatal(err)
			}
			tables(t, db, cfg.Mapping)
			end := at(-c.ends)
			change(t, db, insert+end+"', "+c.error+")")
			want := strings.Replace(c.want, "END", end[:10]+"T"+end[11:19]+"Z", 1)
			cfg.Show = c.show
			a, now := adapter(t, cfg), time.Now().UnixMicro()
			err = cfg.Database.read(t.Context(), func(tx *transaction) error {
				a.tx = tx
				whys, err := a.readWhy(t.Context(), map[string]any{"limit": 9, "now": param(now, time.UTC)}, now)
				if len(whys["e"]) != 1 || whys["e"][0].Text != want || whys["e"][0].Reason != c.reason {
					t.Errorf("%s: %+v; expected %s: %s", name, whys["e"], c.reason, want)
				}
				return err
			})
			if err != nil {
				t.Error(err)
			}
		}
	}
}

// TestAHeartbeatIsLateByABoundOfItsOwn has one that is two minutes old.
func TestAHeartbeatIsLateByABoundOfItsOwn(t *testing.T) {
	for late, want := range map[string]bool{"": true, ", NULL AS late": true, ", 119 AS late": true, ", 121 AS late": false} {
		db, address := ownDatabase(t)
		seen := at(2 * time.Minute)
		change(t, db, "INSERT INTO work VALUES ('e', 'desk', '"+seen+"', NULL)")
		cfg := ownConfig(t, address)
		cfg.Mapping = changed(t, "'Ann' AS detail", "'Ann' AS detail, came AS heartbeat"+late)
		a, now := adapter(t, cfg), time.Now().UnixMicro()
		err := cfg.Database.read(t.Context(), func(tx *transaction) error {
			a.tx = tx
			whys, err := a.readWhy(t.Context(), map[string]any{"limit": 9, "now": param(now, time.UTC)}, now)
			if got := strings.Contains(whys["e"][0].Text, "no heartbeat since"); got != want {
				t.Errorf("%q: %q", late, whys["e"][0].Text)
			}
			return err
		})
		if err != nil {
			t.Error(err)
		}
	}
}
