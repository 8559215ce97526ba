// SPDX-License-Identifier: Apache-2.0

package redis

import (
	"testing"

	"github.com/pnagent/pnagent/stats"
)

// Tests with the libraries type the other command lines.
func TestAJobHasTheCommandLineOfItsLibrary(t *testing.T) {
	for _, c := range []struct {
		system string
		job    acted
		want   string
	}{
		{"asynq", acted{"asynq", "mail", failed, "a b", stats.ReasonIncident}, `asynq task run --uri "$REDIS_ADDRESS" --queue mail --id 'a b'`},
		{"asynq", acted{"asynq", "mail", waiting, "7", stats.ReasonManual}, `asynq queue unpause --uri "$REDIS_ADDRESS" mail`},
		{"asynq", acted{"asynq", "mail", running, "7", stats.ReasonNoWorker}, ""},
		{"sidekiq", acted{"", "mail", waiting, "7", stats.ReasonManual}, "ruby -r sidekiq/api -e 'Sidekiq::Queue.new(ARGV[0]).unpause!' mail"},
		{"sidekiq", acted{"", "mail", running, "7", stats.ReasonRunning}, ""},
		{"bull", acted{"bull", "mail", running, "7", stats.ReasonNoWorker}, ""},
		{"celery", acted{"", "mail", waiting, "7", stats.ReasonNoWorker}, `celery -A "$CELERY_APP" worker --queues mail`},
	} {
		s, err := Find(c.system)
		if err != nil {
			t.Fatal(err)
		}
		if got := s.command(&c.job); got != c.want {
			t.Errorf("%s, %+v: %q; expected %q", c.system, c.job, got, c.want)
		}
	}
}
