// SPDX-License-Identifier: Apache-2.0

package action

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/nats-io/nats.go"

	"github.com/pnagent/pnagent/engine/coloured"
)

// NATS performs an action by a request on a subject. A reply with the header
// Nats-Service-Error, as NATS micro services send it (NATS ADR-32), is a
// failure, and so is a subject without subscribers.
type NATS struct {
	Subject string
	Timeout time.Duration // 0 for DefaultTimeout
}

// maxSubject bounds a subject, in bytes.
const maxSubject = 255

// Func implements [Performer].
func (n NATS) Func(with Peers) (Func, error) {
	if err := n.check(); err != nil {
		return nil, err
	}
	if with.NATS == nil {
		return nil, errors.New("an action over NATS without a connection; expected the URL of a NATS server")
	}
	return func(ctx context.Context, r *Run) (coloured.Outcome, error) { return n.perform(ctx, with.NATS, r) }, nil
}

func (n NATS) check() error {
	if n.Subject == "" || len(n.Subject) > maxSubject || strings.ContainsAny(n.Subject, "*> \t\r\n\x00") {
		return fmt.Errorf("found the subject %q; expected one without wildcards and spaces, such as pay.card", clip(n.Subject))
	}
	for token := range strings.SplitSeq(n.Subject, ".") {
		if token == "" {
			return fmt.Errorf("found the subject %q with an empty part; expected one such as pay.card", n.Subject)
		}
	}
	return nil
}

func (n NATS) perform(ctx context.Context, nc *nats.Conn, r *Run) (coloured.Outcome, error) {
	body, err := request(r)
	if err != nil {
		return coloured.Outcome{}, err
	}
	ctx, cancel := context.WithTimeout(ctx, timeout(n.Timeout))
	defer cancel()
	reply, err := nc.RequestWithContext(ctx, n.Subject, body)
	if errors.Is(err, context.DeadlineExceeded) {
		err = fmt.Errorf("no reply in time: %w", err)
	}
	if err != nil {
		return coloured.Outcome{}, fmt.Errorf("asking %s: %w", n.Subject, err)
	}
	if text := reply.Header.Get("Nats-Service-Error"); text != "" {
		return coloured.Outcome{}, fmt.Errorf("asking %s: the service answers %s", n.Subject, clip(reply.Header.Get("Nats-Service-Error-Code")+" "+text))
	}
	o, err := decode(reply.Data, r)
	if err != nil {
		return o, fmt.Errorf("asking %s: %w", n.Subject, err)
	}
	return o, nil
}
