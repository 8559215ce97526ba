// SPDX-License-Identifier: Apache-2.0

package telemetry

import (
	"context"
	"fmt"

	"github.com/nats-io/nats.go"
	"google.golang.org/protobuf/encoding/protojson"

	"github.com/pnagent/pnagent/stats"
	"github.com/pnagent/pnagent/telemetry/wire"
)

// AskOldest asks a source for the oldest tokens of a place of a net, at most
// limit of them (from 1 to 1000). Place, and what the tokens wait for, are
// indices of the definition with that digest; times are by the source's clock.
func AskOldest(ctx context.Context, nc *nats.Conn, subjects Subjects, net, source, digest string, place, limit int) ([]stats.Token, error) {
	answer, err := request(ctx, nc, subjects.Instances(net, source), oldestRequest{Digest: digest, Place: place, Limit: limit}, nil)
	if err != nil {
		return nil, fmt.Errorf("asking %s for tokens: %w", source, err)
	}
	tokens, err := readOldest(answer, place)
	if err != nil {
		return nil, fmt.Errorf("tokens of %s: %w", source, err)
	}
	return tokens, nil
}

// readOldest decodes an answer about one place.
func readOldest(answer []byte, place int) ([]stats.Token, error) {
	if len(answer) > MaxMessage {
		return nil, fmt.Errorf("%w: %d bytes", TooLarge, len(answer))
	}
	var w wire.OldestTokens
	if err := (protojson.UnmarshalOptions{DiscardUnknown: true, RecursionLimit: jsonDepth}).Unmarshal(answer, &w); err != nil {
		return nil, fmt.Errorf("%w: %w", NotJSON, err)
	}
	switch list := w.GetTokens(); {
	case int(w.GetPlace()) != place:
		return nil, fmt.Errorf("%w: place %d, where %d was asked for", BadIndex, w.GetPlace(), place)
	case len(list) > maxLimit:
		return nil, fmt.Errorf("%w: %d tokens, of at most %d", TooMany, len(list), maxLimit)
	}
	tokens := make([]stats.Token, 0, len(w.GetTokens()))
	for i := range w.GetTokens() {
		var one []stats.Token
		if err := readTokens(w.GetTokens()[i:i+1], &one); err != nil {
			return nil, err
		}
		tokens = append(tokens, one...)
	}
	return tokens, nil
}
