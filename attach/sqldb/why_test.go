// SPDX-License-Identifier: Apache-2.0

package sqldb

import (
	"testing"
	"time"
)

// TestTheIdOfAWorkerIsADetail locks an external task in tables like those of an engine.
func TestTheIdOfAWorkerIsADetail(t *testing.T) {
	for name, insert := range map[string]string{
		"camunda7": "INSERT INTO ACT_RU_EXT_TASK (EXECUTION_ID_, ACT_ID_, TOPIC_NAME_, WORKER_ID_, RETRIES_, LOCK_EXP_TIME_, ERROR_MSG_) VALUES ('e', 'ship', 'ship', 'ann-1', 3, '",
		"flowable": "INSERT INTO ACT_RU_EXTERNAL_JOB (EXECUTION_ID_, ELEMENT_ID_, HANDLER_CFG_, LOCK_OWNER_, RETRIES_, LOCK_EXP_TIME_, EXCEPTION_MSG_) VALUES ('e', 'ship', 'ship', 'ann-1', 3, '",
	} {
		for _, c := range []struct {
			show        Show
			error, want string
		}{
			{Show{}, "'broken'", "external task ship, locked by a worker"},
			{Show{Detail: true}, "NULL", "external task ship, locked by a worker: worker ann-1"},
			{Show{Detail: true}, "'broken'", "external task ship, locked by a worker: worker ann-1, broken"},
		} {
			db, address := ownDatabase(t)
			cfg := ownConfig(t, address)
			var err error
			if cfg.Mapping, err = Load(name); err != nil {
				t.Fatal(err)
			}
			tables(t, db, cfg.Mapping)
			change(t, db, insert+at(-time.Hour)+"', "+c.error+")")
			cfg.Show = c.show
			a, now := adapter(t, cfg), time.Now().UnixMicro()
			err = cfg.Database.read(t.Context(), func(tx *transaction) error {
				a.tx = tx
				whys, err := a.readWhy(t.Context(), map[string]any{"limit": 9, "now": param(now, time.UTC)}, now)
				if len(whys["e"]) != 1 || whys["e"][0].Text != c.want {
					t.Errorf("%s: %+v; expected %s", name, whys["e"], c.want)
				}
				return err
			})
			if err != nil {
				t.Error(err)
			}
		}
	}
}
