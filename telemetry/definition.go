// SPDX-License-Identifier: Apache-2.0

package telemetry

import (
	"bytes"
	"compress/gzip"
	"context"
	"errors"
	"fmt"
	"io"

	"github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/micro"
)

// MaxDefinition is how many bytes of PNML a definition may have, unpacked.
const MaxDefinition = 16 << 20

// WrongDigest is the reason for rejecting a definition that has another digest
// than requested. It is not among Reasons, which are about snapshots.
const WrongDigest Reason = "wrong_digest"

// A definition that does not fit one message is sent gzipped; a header of the
// reply says so.
const (
	encodingHeader = "Content-Encoding"
	encodingGzip   = "gzip"
	replyOverhead  = 1 << 10 // room for a reply's headers
)

// RequestDefinition requests the definition of a net from the sources that run
// it. The error wraps nats.ErrNoResponders if no source answers, or the reason
// WrongDigest or TooLarge.
func RequestDefinition(ctx context.Context, nc *nats.Conn, subjects Subjects, net, digest string) (Definition, error) {
	msg, err := nc.RequestWithContext(ctx, subjects.Definition(net, digest), nil)
	if err != nil {
		return Definition{}, fmt.Errorf("definition %s of net %q: %w", digest, net, err)
	}
	pnml, err := unpack(msg)
	if err != nil {
		return Definition{}, fmt.Errorf("definition %s of net %q: %w", digest, net, err)
	}
	if got := Digest(pnml); got != digest {
		return Definition{}, fmt.Errorf("definition %s of net %q: %w: it is %s", digest, net, WrongDigest, got)
	}
	return Definition{Net: net, Digest: digest, PNML: pnml}, nil
}

// pack returns the reply to a request for a definition, at most limit bytes
// with its headers, and the reply's content encoding.
func pack(pnml []byte, limit int) (reply []byte, encoding string, err error) {
	if len(pnml) > MaxDefinition {
		return nil, "", fmt.Errorf("definition: %w: %d bytes, of at most %d", TooLarge, len(pnml), MaxDefinition)
	}
	limit -= replyOverhead
	if len(pnml) <= limit {
		return pnml, "", nil
	}
	var buf bytes.Buffer
	z := gzip.NewWriter(&buf)
	_, err = z.Write(pnml)
	if err = errors.Join(err, z.Close()); err != nil {
		return nil, "", fmt.Errorf("definition: %w", err)
	}
	if buf.Len() > limit {
		return nil, "", fmt.Errorf("definition: %w: %d bytes, gzipped %d, of at most %d that the server takes",
			TooLarge, len(pnml), buf.Len(), limit)
	}
	return buf.Bytes(), encodingGzip, nil
}

// unpack returns the PNML in a reply.
func unpack(msg *nats.Msg) ([]byte, error) {
	if code := msg.Header.Get(micro.ErrorCodeHeader); code != "" {
		return nil, fmt.Errorf("refused: %s %s", code, msg.Header.Get(micro.ErrorHeader))
	}
	if msg.Header.Get(encodingHeader) != encodingGzip {
		return msg.Data, nil
	}
	z, err := gzip.NewReader(bytes.NewReader(msg.Data))
	if err != nil {
		return nil, err
	}
	pnml, err := io.ReadAll(io.LimitReader(z, MaxDefinition+1))
	if err != nil {
		return nil, err
	}
	if len(pnml) > MaxDefinition {
		return nil, fmt.Errorf("%w: more than %d bytes", TooLarge, MaxDefinition)
	}
	return pnml, nil
}
