// SPDX-License-Identifier: Apache-2.0

package telemetry_test

import (
	"context"
	"log"
	"time"

	"github.com/pnagent/pnagent/telemetry"
)

// Two lines start a source; the goroutine that fires then records its events.
// NATS may be unreachable.
func ExampleAttach() {
	src, err := telemetry.Attach(telemetry.Attachment{URL: "nats://127.0.0.1:4222", File: "orders.pnml", Source: "shop-1"})
	if err != nil {
		log.Fatal(err)
	}
	rec := src.Recorder() // one for each goroutine

	inbox, _ := src.Place("inbox") // look up names once
	done, _ := src.Place("done")
	ship, _ := src.Transition("ship")

	came := time.Now().UnixMicro()
	rec.Inject(inbox, 1, came)

	now := time.Now().UnixMicro() // once per batch: reading a clock costs more than a call below
	rec.Take(inbox, 1, came, now)
	rec.Inject(done, 1, now)
	rec.Fire(ship, now)

	if err := src.Close(context.Background()); err != nil {
		log.Print(err)
	}
}
