// SPDX-License-Identifier: Apache-2.0

package telemetry

import (
	"context"
	"encoding/json"
	"fmt"

	"github.com/nats-io/nats.go"

	"github.com/pnagent/pnagent/stats"
	"github.com/pnagent/pnagent/telemetry/wire"
)

// AskOldest asks a source for tokens of a place of a net, with a Limit from 1 to
// MaxFound. Place, and what the tokens wait for, are indices of the definition with that
// digest; times are by the source's clock. A source that knows only Limit answers as if q
// had nothing else.
func AskOldest(ctx context.Context, nc *nats.Conn, subjects Subjects, net, source, digest string, place int, q *stats.Query) (stats.Found, error) {
	answer, err := request(ctx, nc, subjects.Instances(net, source), oldestRequest{Digest: digest, Place: place, query: query(*q)}, nil)
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
	b, err := wire.FromJSON("OldestTokens", answer)
	if err != nil {
		return found, fmt.Errorf("%w: %w", NotJSON, err)
	}
	f := oldestFields()
	err = f.scan(b, outer)
	if err != nil {
		return found, fmt.Errorf("%w: %w", NotJSON, err)
	}
	is, list, matches := uint32(f[1].number), f[2].parts, f[4].number
	switch {
	case int(is) != place:
		return found, fmt.Errorf("%w: place %d, where %d was asked for", BadIndex, is, place)
	case len(list) > MaxFound:
		return found, fmt.Errorf("%w: %d tokens, of at most %d", TooMany, len(list), MaxFound)
	case matches > MaxCount:
		return found, fmt.Errorf("%w: %d matches", BadValue, matches)
	}
	found = stats.Found{Tokens: make([]stats.FoundToken, len(list)), More: f[3].number != 0, Matches: matches}
	for i, b := range list {
		err := readFound(f[2].fields, b, &found.Tokens[i])
		if err != nil {
			return stats.Found{}, err
		}
	}
	return found, nil
}

func readFound(f fields, b []byte, t *stats.FoundToken) error {
	err := f.read(b, outer)
	if err == nil {
		err = readToken(f, &t.Token)
	}
	if err != nil {
		return err
	}
	t.N, t.Data = f[4].number, string(f[5].bytes)
	if err := checkData(t.Data); err != nil {
		return err
	}
	if t.N > MaxCount {
		return fmt.Errorf("%w: %d tokens", BadValue, t.N)
	}
	return nil
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
