// SPDX-License-Identifier: Apache-2.0

package alarm

// Counters count the work of a process since its start.
type Counters struct {
	Figures
	Unannounced  int    // active alarms that the process on duty has not announced within AnnounceWithin
	SaveFailures uint64 // failed writes of the state or the notes
	Damaged      Damaged
	Sinks        []SinkCounters
}

// Damaged counts the damaged files that a process found when it started.
type Damaged struct{ State, Notes uint64 }

// Failure is why a notification did not reach a sink.
type Failure uint8

// The failures. Unanswered: within the time there was no acknowledgement, or no end of a
// call. NotReady: the sink was not ready in the time. Stopped: the process ended before.
const (
	Unanswered Failure = iota
	Refused
	NotReady
	Network
	QueueFull
	Stopped
	Expired // it waited for longer than the sink keeps notifications
	failures
)

// String returns the failure as a label of a metric.
func (f Failure) String() string {
	return [...]string{"unanswered", "refused", "not_ready", "network", "queue_full", "stopped", "expired"}[f]
}

// Failures count notifications by Failure.
type Failures [failures]uint64

// SinkCounters count the notifications for one sink.
type SinkCounters struct {
	Name       string
	Sent       uint64
	Failed     Failures
	HandedOver uint64  // notifications that waited when another process took the duty, and sent them
	Queued     *Queued // nil for a sink without a queue of its own
}

// Queued describes the queue of a sink.
type Queued struct {
	Waiting      int    // notifications
	Oldest       int64  // when the first of them was due, in microseconds since the Unix epoch; 0 for none
	Retries      uint64 // attempts that failed and are repeated
	SaveFailures uint64 // failed writes of its file
}
