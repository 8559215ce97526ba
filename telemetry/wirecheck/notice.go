// SPDX-License-Identifier: Apache-2.0

package wirecheck

import (
	"bytes"
	"encoding/json"
	"fmt"
	"strings"

	"github.com/pnagent/pnagent/telemetry"
)

// maxReason bounds the reason of a notice, in bytes.
const maxReason = 64

// Notice checks one message on a Notice subject. A notice that a collector
// rejects messages is a finding of the source, once for each reason; so is an
// invalid notice.
func (c *Checker) Notice(subject string, payload []byte) {
	net, source, err := c.subjects.ParseNotice(subject)
	k := sourceKey{net, source}
	if err != nil {
		k = sourceKey{"", subject}
	}
	h := c.keep(k)
	if h == nil {
		return
	}
	n, err := readNotice(k, payload, err)
	switch {
	case err != nil:
		h.wrong("bad notice", "a notice on %s is invalid: %v", subject, err)
	case n.Reason == telemetry.Conflict && n.Epoch == 0:
		h.wrong("notice "+n.Reason, "a collector receives messages of two processes as this source: %.300q. Give one of them another name", n.Text)
	case n.Reason == telemetry.Conflict:
		h.wrong("notice "+n.Reason, "a collector receives messages of two processes as this source and rejects epoch %d: %.300q. Give one of them another name", n.Epoch, n.Text)
	default:
		h.wrong("notice "+n.Reason, "a collector rejects messages of this source (%s): %.300q", n.Reason, n.Text)
	}
}

// readNotice returns the notice about a source. The error is that of its
// subject, as given, or of its payload.
func readNotice(k sourceKey, payload []byte, err error) (n telemetry.Notice, _ error) {
	if err != nil {
		return n, err
	}
	d := json.NewDecoder(bytes.NewReader(payload))
	if err := d.Decode(&n); err != nil {
		return n, fmt.Errorf("it is not a JSON object with source, net, epoch, reason and text: %w", err)
	}
	switch {
	case d.More():
		return n, fmt.Errorf("something follows the JSON object")
	case n.Source != k.source || n.Net != k.net:
		return n, fmt.Errorf("it is about source %.100q of net %.100q; expected those of the subject", n.Source, n.Net)
	case n.Epoch < 0:
		return n, fmt.Errorf("epoch %d; expected the epoch of the rejected process, or none", n.Epoch)
	case n.Reason == "" || len(n.Reason) > maxReason || strings.Trim(n.Reason, "abcdefghijklmnopqrstuvwxyz_") != "":
		return n, fmt.Errorf("reason %.100q; expected conflict, or a reason of pnagent_messages_rejected_total", n.Reason)
	case n.Text == "":
		return n, fmt.Errorf("no text; expected what an operator should read in the log")
	}
	return n, nil
}
