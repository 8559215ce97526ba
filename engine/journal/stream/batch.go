// SPDX-License-Identifier: Apache-2.0

package stream

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"strconv"
	"strings"

	"github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"

	"github.com/pnagent/pnagent/engine/journal"
)

// Append sends commits before the ones ahead of them are acknowledged. The
// header Nats-Expected-Last-Sequence alone does not keep such a pipeline
// together: a writer sends 11, 12 and 13, expecting 10, 11 and 12. If another
// writer's commit has become 11, the server rejects the first. But the second
// finds 11 as the last and is stored after a commit that its writer has never
// read. So Append sends the commits of a pipeline as one batch of JetStream's
// fast ingest (NATS ADR-50) in the mode "fail": the first commit that is
// rejected or missing ends the batch, and the server accepts nothing more of
// it. Every message also has the header, which is the fence against other
// writers.
//
// A server before 2.14 has no such batches. Open then creates the stream
// without them, and Append sends a commit only when the one before is
// acknowledged, so there is no pipeline.
//
// The subject for the server's answers describes the batch:
//
//	<inbox>.<batch>.<flow>.<gap mode>.<number in the batch>.<operation>.$FI
//
// The server answers one in flow messages, and the end of the batch, which is a
// message without a commit. The next batch begins after that answer: two
// batches under way at once could break as a pipeline without batches does.

const (
	batchGap    = "fail"
	batchSuffix = "$FI"
	opStart     = "0"
	opAppend    = "1"
	opEnd       = "3"
)

// headerSize is the length of the longest header of a message, in bytes.
const headerSize = int64(len("NATS/1.0\r\n") + len(jetstream.ExpectedLastSeqHeader) + len(": 18446744073709551615\r\n\r\n"))

// maxAnswer bounds the answer that is parsed, in bytes.
const maxAnswer = 4096

// replySubject returns the subject of the answer to the last commit, or to the
// end of the batch.
func replySubject(inbox string, p *pipe, op string) string {
	number := p.sent - p.base
	switch {
	case op == opEnd:
		number++
	case number == 1:
		op = opStart
	}
	b := make([]byte, 0, len(inbox)+len(p.batch)+48)
	b = append(b, inbox...)
	b = append(b, '.')
	b = append(b, p.batch...)
	b = append(b, '.')
	b = strconv.AppendInt(b, int64(p.flow), 10)
	b = append(b, "."+batchGap+"."...)
	b = strconv.AppendUint(b, number, 10)
	b = append(b, '.')
	b = append(b, op...)
	return string(append(b, "."+batchSuffix...))
}

// plainReply returns the subject of the answer to the last commit, if it is not
// part of a batch.
func plainReply(inbox string, p *pipe, _ string) string {
	return inbox + "." + p.batch + "." + strconv.FormatUint(p.sent-p.base, 10)
}

// answer is the answer of a server about a batch.
type answer struct {
	count uint64 // how many commits, from the batch's first on, are stored; 0 if unknown
	last  uint64 // the last commit of the stream, if fail is ErrNotLast and the server has sent it
	fail  error  // if not nil, the batch is over
}

var (
	errBatchOver = errors.New("the server has ended the batch")
	errGap       = errors.New("a commit was lost on its way")
	errAnswer    = errors.New("invalid answer")
)

// ackStart is the prefix of an answer without an error.
var ackStart = []byte(`{"type":"ack","seq":`)

// stored is what the server says of a message or a batch.
type stored struct {
	Type   string              `json:"type"`
	Seq    uint64              `json:"seq"`
	Error  *jetstream.APIError `json:"error"`
	Stream string              `json:"stream"`
	Count  uint64              `json:"count"`
}

// readStored reads that, or returns the answer with the reason why there is none.
func readStored(body []byte) (s stored, failed answer) {
	switch {
	case len(body) > maxAnswer:
		failed.fail = fmt.Errorf("%w: %d bytes", errAnswer, len(body))
	case json.Unmarshal(body, &s) != nil:
		failed.fail = fmt.Errorf("%w: %.100q", errAnswer, body)
	case s.Error != nil:
		failed = refusal(s.Error)
	}
	return s, failed
}

// parseAnswer parses the server's answer about a batch.
func parseAnswer(status string, body []byte) answer {
	if status == "503" {
		return answer{fail: nats.ErrNoResponders}
	}
	if rest, ok := bytes.CutPrefix(body, ackStart); ok {
		digits, _, whole := bytes.Cut(rest, []byte(","))
		if n, err := strconv.ParseUint(string(digits), 10, 64); whole && err == nil {
			return answer{count: n}
		}
	}
	a, failed := readStored(body)
	switch {
	case failed.fail != nil:
		return failed
	case a.Type == "ack":
		return answer{count: a.Seq}
	case a.Type == "gap":
		return answer{fail: errGap}
	case a.Type == "" && a.Stream != "":
		return answer{count: a.Count, fail: errBatchOver}
	}
	return answer{fail: fmt.Errorf("%w: %.100q", errAnswer, body)}
}

// parsePlain parses the answer to a commit that was sent without a batch.
func parsePlain(status string, body []byte, sequence uint64) answer {
	if status == "503" {
		return answer{fail: nats.ErrNoResponders}
	}
	a, failed := readStored(body)
	switch {
	case failed.fail != nil:
		return failed
	case a.Stream == "" || a.Seq != sequence:
		return answer{fail: fmt.Errorf("%w: %.100q", errAnswer, body)}
	}
	return answer{count: 1}
}

// refusal returns the answer for a commit that was not stored.
func refusal(e *jetstream.APIError) answer {
	if e.ErrorCode != jetstream.JSErrCodeStreamWrongLastSequence && e.ErrorCode != jetstream.JSErrCodeStreamWrongLastSequenceConstant {
		return answer{fail: e}
	}
	a := answer{fail: fmt.Errorf("%w: %w", journal.ErrNotLast, e)}
	if _, number, ok := strings.Cut(e.Description, ": "); ok {
		a.last, _ = strconv.ParseUint(number, 10, 64) // 0 if it cannot be parsed
	}
	return a
}

// parseReply parses the part of an answer's subject after the inbox.
func parseReply(tail string) (batch string, number uint64, ok bool) {
	batch, rest, ok := strings.Cut(tail, ".")
	if !ok || batch == "" {
		return "", 0, false
	}
	_, rest, _ = strings.Cut(rest, ".") // the flow
	rest, ok = strings.CutPrefix(rest, batchGap+".")
	digits, op, _ := strings.Cut(rest, ".")
	number, err := strconv.ParseUint(digits, 10, 64)
	op, ended := strings.CutSuffix(op, "."+batchSuffix)
	if !ok || err != nil || !ended || op != opStart && op != opAppend && op != opEnd {
		return "", 0, false
	}
	return batch, number, true
}

// parsePlainReply is parseReply for plainReply.
func parsePlainReply(tail string) (batch string, number uint64, ok bool) {
	batch, digits, ok := strings.Cut(tail, ".")
	number, err := strconv.ParseUint(digits, 10, 64)
	return batch, number, ok && batch != "" && err == nil
}

// answer handles the server's answer to a commit. Answers to an earlier batch
// are too late and are ignored.
func (l *Log) answer(m *nats.Msg) {
	if len(m.Subject) <= len(l.inbox) {
		return
	}
	parse := parseReply
	if l.plain {
		parse = parsePlainReply
	}
	batch, number, ok := parse(m.Subject[len(l.inbox)+1:])
	if !ok {
		return
	}
	status := ""
	if len(m.Header) > 0 {
		status = m.Header.Get("Status")
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	if batch != l.pipe.batch {
		return
	}
	var a answer
	if l.plain {
		if a = parsePlain(status, m.Data, l.pipe.base+number); a.count > 0 {
			a.count = number // only one commit is under way at a time, so all before it were answered
		}
	} else {
		a = parseAnswer(status, m.Data)
	}
	if a.count > 0 {
		if a.count > l.pipe.sent-l.pipe.base || !l.pipe.ack(max(l.pipe.acked, l.pipe.base+a.count)) {
			a.fail = fmt.Errorf("%w: commit %d of the batch; expected at most %d", errAnswer, a.count, l.pipe.sent-l.pipe.base)
		}
		if l.pipe.batch == "" && errors.Is(a.fail, errBatchOver) {
			a.fail = nil // the log itself has ended the batch
		}
		l.changed()
	}
	if a.fail != nil {
		l.stop(fmt.Errorf("commit %d: %w", l.pipe.base+number, a.fail), a.last)
	}
}
