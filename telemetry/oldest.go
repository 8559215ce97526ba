// SPDX-License-Identifier: Apache-2.0

package telemetry

import (
	"context"
	"encoding/json"
	"fmt"

	"github.com/nats-io/nats.go"
	"google.golang.org/protobuf/encoding/protojson"

	"github.com/pnagent/pnagent/stats"
	"github.com/pnagent/pnagent/telemetry/wire"
)

// AskOldest asks a source for tokens of a place of a net, with a Limit from 1 to
// MaxFound. Place, and what the tokens wait for, are indices of the definition with that
// digest; times are by the source's clock. A source that knows only Limit answers as if q
// had nothing else.
func AskOldest(ctx context.Context, nc *nats.Conn, subjects Subjects, net, source, digest string, place int, q *stats.Query) (stats.Found, error) {
	answer, err := request(ctx, nc, subjects.Instances(net, source), oldestRequest{Digest: digest, Place: place, query: queryOf(q)}, nil)
	if err != nil {
		return stats.Found{}, fmt.Errorf("asking %s for tokens: %w", source, err)
	}
	found, err := readOldest(answer, place)
	if err != nil {
		return stats.Found{}, fmt.Errorf("tokens of %s: %w", source, err)
	}
	if found.Matches == 0 && len(found.Tokens) >= q.Limit {
		found.More = true
	}
	return found, nil
}

// readOldest decodes an answer about one place.
func readOldest(answer []byte, place int) (found stats.Found, err error) {
	if len(answer) > MaxMessage {
		return found, fmt.Errorf("%w: %d bytes", TooLarge, len(answer))
	}
	var w wire.OldestTokens
	if err := (protojson.UnmarshalOptions{DiscardUnknown: true, RecursionLimit: jsonDepth}).Unmarshal(answer, &w); err != nil {
		return found, fmt.Errorf("%w: %w", NotJSON, err)
	}
	list := w.GetTokens()
	switch {
	case int(w.GetPlace()) != place:
		return found, fmt.Errorf("%w: place %d, where %d was asked for", BadIndex, w.GetPlace(), place)
	case len(list) > MaxFound:
		return found, fmt.Errorf("%w: %d tokens, of at most %d", TooMany, len(list), MaxFound)
	case w.GetMatches() > MaxCount:
		return found, fmt.Errorf("%w: %d matches", BadValue, w.GetMatches())
	}
	found = stats.Found{Tokens: make([]stats.FoundToken, 0, len(list)), More: w.GetMore(), Matches: w.GetMatches()}
	for i, t := range list {
		var one []stats.Token
		if err := readTokens(list[i:i+1], &one); err != nil {
			return stats.Found{}, err
		}
		if err := checkData(t.GetData()); err != nil {
			return stats.Found{}, err
		}
		if t.GetN() > MaxCount {
			return stats.Found{}, fmt.Errorf("%w: %d tokens", BadValue, t.GetN())
		}
		found.Tokens = append(found.Tokens, stats.FoundToken{Token: one[0], N: t.GetN(), Data: t.GetData()})
	}
	return found, nil
}

// checkData rejects data of a token that is no JSON object or too large.
func checkData(text string) error {
	if len(text) > stats.MaxData {
		return fmt.Errorf("%w: %d bytes of data of a token", TooLarge, len(text))
	}
	if text != "" && (text[0] != '{' || !json.Valid([]byte(text))) {
		return fmt.Errorf("%w: data of a token is no JSON object", BadValue)
	}
	return nil
}
