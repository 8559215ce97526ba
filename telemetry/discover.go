// SPDX-License-Identifier: Apache-2.0

package telemetry

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"time"

	"github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/micro"

	"github.com/pnagent/pnagent/stats"
)

// Discovered is a source that answered Discover.
type Discovered struct {
	Source string
	Tool   string            // see Config
	Nets   map[string]string // digests of the definitions that it runs, by net id
}

// SourcesSubject is where Discover asks.
const SourcesSubject = "$SRV.INFO." + ServiceName

// discoverFor is how long Discover waits for the first and for each further answer.
const discoverFor = 500 * time.Millisecond

// Discover asks all sources of the subject space for their nets, and passes each answer
// to found until that returns false, ctx ends, or no answer has arrived for half a
// second. Answers of another form are ignored. A source may answer several times, with
// other nets. It returns an error if the connection fails, or that of ctx.
func Discover(ctx context.Context, nc *nats.Conn, subjects Subjects, found func(Discovered) bool) error {
	inbox := nc.NewRespInbox()
	answers, err := nc.SubscribeSync(inbox)
	if err == nil {
		defer func() { _ = answers.Unsubscribe() }() // it fails only if the connection is gone
		err = nc.PublishRequest(SourcesSubject, inbox, nil)
	}
	for err == nil {
		var m *nats.Msg
		if m, err = next(ctx, answers); err == nil {
			if d, err := readDiscovered(m.Data, subjects); err == nil && !found(d) {
				return nil
			}
		}
	}
	if quiet := errors.Is(err, nats.ErrNoResponders) || errors.Is(err, context.DeadlineExceeded); quiet && ctx.Err() == nil {
		return nil
	}
	return fmt.Errorf("asking which sources there are: %w", err)
}

// next waits for one more answer.
func next(ctx context.Context, answers *nats.Subscription) (*nats.Msg, error) {
	ctx, cancel := context.WithTimeout(ctx, discoverFor)
	defer cancel()
	return answers.NextMsgWithContext(ctx)
}

// readDiscovered decodes an answer. The error is about its form, or that it comes from a
// source of another subject space.
func readDiscovered(answer []byte, subjects Subjects) (Discovered, error) {
	var info micro.Info
	if len(answer) > MaxMessage {
		return Discovered{}, fmt.Errorf("%w: %d bytes", TooLarge, len(answer))
	}
	if err := json.Unmarshal(answer, &info); err != nil {
		return Discovered{}, fmt.Errorf("%w: %w", NotJSON, err)
	}
	if prefix := info.Metadata["prefix"]; prefix != subjects.Prefix() {
		return Discovered{}, fmt.Errorf("%w: prefix %q; expected %q", BadSubject, prefix, subjects.Prefix())
	}
	d := Discovered{Source: info.Metadata["source"], Tool: stats.Clip(info.Metadata["tool"], stats.MaxWhat), Nets: map[string]string{}}
	if err := CheckName(d.Source); err != nil {
		return Discovered{}, fmt.Errorf("source: %w", err)
	}
	for _, endpoint := range info.Endpoints {
		net, digest := endpoint.Metadata["net"], endpoint.Metadata["digest"]
		if CheckName(net) == nil && checkText(digest, MaxName) == nil {
			d.Nets[net] = digest
		}
	}
	return d, nil
}
