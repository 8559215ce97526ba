// SPDX-License-Identifier: Apache-2.0

package stream

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"

	"github.com/pnagent/pnagent/engine/journal"
	"github.com/pnagent/pnagent/internal/natstest"
)

// The pipe is compared with a list of the commits that are on their way, over
// random series of commits, answers, waits and ends of batches.
func TestThePipeIsLikeAListOfWhatIsOnItsWay(t *testing.T) {
	for seed := range uint64(20) {
		r := rand.New(rand.NewPCG(seed, 0))
		w := Window{Commits: 1 + r.IntN(9), Bytes: 1 + r.IntN(60)}
		begin := uint64(r.IntN(3) * 40)
		p := pipe{sent: begin, acked: begin, waited: begin, sizes: make([]int, w.Commits), most: 4, seldom: 10}
		var list []int // sizes
		var batch string
		sent := begin
		base := uint64(0)
		waited := begin
		flow := 0
		ending := false
		for step := range 400 {
			sum := 0
			for _, size := range list {
				sum += size
			}
			size := r.IntN(30)
			room := len(list) == 0 || len(list) < w.Commits && sum+size <= w.Bytes
			if got := p.room(size, w); got != room {
				t.Fatalf("seed %d, step %d: room for %d bytes in %+v with %v: %t, want %t", seed, step, size, w, list, got, room)
			}
			switch r.IntN(8) {
			case 0, 1, 2, 3:
				if !room || ending {
					continue
				}
				p.add(size)
				if batch == "" {
					base, flow = sent, 1
					batch = p.batch
					if sent >= waited+10 {
						flow = 4
					}
				}
				sent, list = sent+1, append(list, size)
			case 4:
				p.waited, waited = p.sent, sent
			case 5:
				if len(list) > 0 && r.IntN(3) == 0 {
					p.ending, ending = true, true
				}
			default:
				upTo := sent - uint64(len(list)) + uint64(r.IntN(len(list)+2))
				if got := p.ack(upTo); got != (upTo <= sent) {
					t.Fatalf("seed %d, step %d: %d of %d: %t", seed, step, upTo, sent, got)
				}
				for upTo <= sent && sent-uint64(len(list)) < upTo {
					list = list[1:]
				}
				if ending && len(list) == 0 && upTo <= sent {
					batch, ending = "", false
				}
			}
			sum = 0
			for _, size := range list {
				sum += size
			}
			got := fmt.Sprintln(p.sent, p.acked, p.bytes, p.batch, p.base, p.flow, p.waited, p.ending, p.pending())
			want := fmt.Sprintln(sent, sent-uint64(len(list)), sum, batch, base, flow, waited, ending, len(list))
			if got != want {
				t.Fatalf("seed %d, step %d: %s want %s", seed, step, got, want)
			}
		}
	}
}

// The server answers at least four times for each window, so a writer does not
// have to wait for the answer to the last commit. One answer covers at most
// flowMost commits.
func TestAWindowIsAnsweredForFourTimes(t *testing.T) {
	for window, want := range map[int]int{1: 1, 4: 1, 7: 1, 8: 2, 40: 10, 1 << 16: flowMost} {
		l := &Log{config: Config{Window: Window{Commits: window}}}
		l.begin(5)
		if l.pipe.most != want {
			t.Errorf("window of %d commits: one answer for %d; want %d", window, l.pipe.most, want)
		}
	}
}

func TestTheBoundsOfAGroup(t *testing.T) {
	large := make([]byte, journal.MaxCommit)
	for _, c := range []struct {
		group [][]byte
		limit int
		want  string // "" for none
	}{
		{nil, 3, ""},
		{[][]byte{nil, {}, {1, 2, 3}}, 3, ""},
		{[][]byte{{1}, {1, 2, 3, 4}}, 3, "commit 1 of the group has 4 bytes; expected at most 3: "},
		{[][]byte{large, large, large, large}, journal.MaxCommit, ""},
		{[][]byte{large, large, large, large, {1}}, journal.MaxCommit, "group of more than 67108864 bytes: "},
	} {
		err := checkGroup(c.group, c.limit)
		if c.want == "" && err != nil || c.want != "" && (!errors.Is(err, journal.ErrTooLarge) || !strings.HasPrefix(err.Error(), c.want)) {
			t.Errorf("%d commits of at most %d bytes: %v, want %q", len(c.group), c.limit, err, c.want)
		}
	}
}

// The server reads the description of the batch from the subject of the
// answers. The client's parser is the reverse.
func TestTheSubjectsOfAnswers(t *testing.T) {
	for _, c := range []struct {
		p           pipe
		op          string
		batch, lone string
	}{
		{pipe{batch: "b", base: 40, sent: 41, flow: 1}, opAppend, "in.box.b.1.fail.1.0.$FI", "in.box.b.1"},
		{pipe{batch: "b", base: 40, sent: 42, flow: 16}, opAppend, "in.box.b.16.fail.2.1.$FI", "in.box.b.2"},
		{pipe{batch: "b", base: 40, sent: 41, flow: 16}, opEnd, "in.box.b.16.fail.2.3.$FI", "in.box.b.1"},
		{pipe{batch: "b", base: 40, sent: 1289, flow: 16}, opEnd, "in.box.b.16.fail.1250.3.$FI", "in.box.b.1249"},
		{pipe{batch: "b", sent: 1<<64 - 1, flow: 1}, opAppend, "in.box.b.1.fail.18446744073709551615.1.$FI", "in.box.b.18446744073709551615"},
	} {
		if got := replySubject("in.box", &c.p, c.op); got != c.batch {
			t.Errorf("%+v: %q, want %q", c.p, got, c.batch)
		}
		if got := plainReply("in.box", &c.p, c.op); got != c.lone {
			t.Errorf("%+v alone: %q, want %q", c.p, got, c.lone)
		}
		number := c.p.sent - c.p.base
		if batch, got, ok := parsePlainReply(c.lone[len("in.box."):]); batch != "b" || got != number || !ok {
			t.Errorf("%q is parsed as %q, %d, %t", c.lone, batch, got, ok)
		}
		if c.op == opEnd {
			number++
		}
		if batch, got, ok := parseReply(c.batch[len("in.box."):]); batch != "b" || got != number || !ok {
			t.Errorf("%q is parsed as %q, %d, %t", c.batch, batch, got, ok)
		}
	}
	for _, tail := range []string{"", "b", ".", ".1", "b.", "b.x", "b.-1", "b.18446744073709551616", "b.1.2"} {
		if _, _, ok := parsePlainReply(tail); ok {
			t.Errorf("%q is parsed as an answer to a commit without a batch", tail)
		}
		if _, _, ok := parseReply(tail); ok {
			t.Errorf("%q is parsed as an answer about a batch", tail)
		}
	}
}

// The effect of each answer of a server. The commits 11 to 14, of 1, 2, 4 and 8
// bytes, are on their way. They are the second to the fifth of a batch.
func TestWhatEachAnswerChanges(t *testing.T) {
	notLast := `{"type":"err","error":{"code":400,"err_code":10071,"description":"wrong last sequence: 12"}}`
	constant := `{"type":"err","error":{"code":400,"err_code":10164,"description":"wrong last sequence"}}`
	full := `{"error":{"code":503,"err_code":10077,"description":"maximum bytes exceeded: 12"}}`
	long := strings.Repeat(" ", maxAnswer)
	pad := func(s string, n int) string { return s + long[:n-len(s)] }
	for name, c := range map[string]struct {
		plain, ending bool
		subject       string
		status, body  string

		acked   uint64
		bytes   int
		batch   string
		is      error  // why the log has stopped; nil if it has not
		says    string // the text of is
		other   uint64
		quietly bool // waiting callers are not woken
	}{
		"to the one before":      {subject: "b.1.fail.1.0.$FI", body: `{"type":"ack","seq":1,"msgs":1}`, acked: 10, bytes: 15, batch: "b"},
		"to the next":            {subject: "b.1.fail.2.1.$FI", body: `{"type":"ack","seq":2,"msgs":1}`, acked: 11, bytes: 14, batch: "b"},
		"in another order":       {subject: "b.1.fail.3.1.$FI", body: `{"seq":3,"msgs":2,"type":"ack"}`, acked: 12, bytes: 12, batch: "b"},
		"to the last":            {subject: "b.1.fail.5.1.$FI", body: `{"type":"ack","seq":5,"msgs":2}`, acked: 14, bytes: 0, batch: "b"},
		"to the last, ending":    {ending: true, subject: "b.1.fail.5.1.$FI", body: `{"type":"ack","seq":5,"msgs":2}`, acked: 14},
		"that it has begun":      {subject: "b.1.fail.1.0.$FI", body: `{"type":"ack","seq":0,"msgs":1}`, acked: 10, bytes: 15, batch: "b", quietly: true},
		"of the end":             {ending: true, subject: "b.1.fail.6.3.$FI", body: `{"stream":"S","seq":14,"batch":"b","count":5}`, acked: 14},
		"of the end, too early":  {ending: true, subject: "b.1.fail.6.3.$FI", body: `{"stream":"S","seq":12,"batch":"b","count":3}`, acked: 12, bytes: 12, batch: "b", is: errBatchOver, says: "commit 15: "},
		"of an end not asked":    {subject: "b.1.fail.5.1.$FI", body: `{"stream":"S","seq":14,"batch":"b","count":5}`, acked: 14, batch: "b", is: errBatchOver, says: "commit 14: "},
		"to more than was sent":  {subject: "b.1.fail.5.1.$FI", body: `{"type":"ack","seq":6,"msgs":2}`, acked: 10, bytes: 15, batch: "b", is: errAnswer, says: "commit 14: invalid answer: commit 6 of the batch; expected at most 5"},
		"to far more":            {subject: "b.1.fail.5.1.$FI", body: `{"type":"ack","seq":18446744073709551607,"m":2}`, acked: 10, bytes: 15, batch: "b", is: errAnswer},
		"a gap":                  {subject: "b.1.fail.4.1.$FI", body: `{"type":"gap","last_seq":1,"seq":4}`, acked: 10, bytes: 15, batch: "b", is: errGap, says: "commit 13: "},
		"another was faster":     {subject: "b.1.fail.2.1.$FI", body: notLast, acked: 10, bytes: 15, batch: "b", is: journal.ErrNotLast, says: "commit 11: ", other: 12},
		"and does not say which": {subject: "b.1.fail.2.1.$FI", body: constant, acked: 10, bytes: 15, batch: "b", is: journal.ErrNotLast},
		"the stream is full":     {subject: "b.1.fail.2.1.$FI", body: full, acked: 10, bytes: 15, batch: "b", is: &jetstream.APIError{ErrorCode: 10077}, says: "maximum bytes"},
		"no responder":           {subject: "b.1.fail.2.1.$FI", status: "503", acked: 10, bytes: 15, batch: "b", is: nats.ErrNoResponders},
		"another status":         {subject: "b.1.fail.2.1.$FI", status: "100", body: `{"type":"ack","seq":2,"msgs":1}`, acked: 11, bytes: 14, batch: "b"},
		"no JSON":                {subject: "b.1.fail.2.1.$FI", body: `{"type":"ack","seq":`, acked: 10, bytes: 15, batch: "b", is: errAnswer, says: `seq`},
		"nothing known":          {subject: "b.1.fail.2.1.$FI", body: `{}`, acked: 10, bytes: 15, batch: "b", is: errAnswer, says: `"{}"`},
		"as long as can be":      {subject: "b.1.fail.2.1.$FI", body: pad(`{"seq":2,"type":"ack"}`, maxAnswer), acked: 11, bytes: 14, batch: "b"},
		"longer":                 {subject: "b.1.fail.2.1.$FI", body: pad(`{"seq":2,"type":"ack"}`, maxAnswer) + " ", acked: 10, bytes: 15, batch: "b", is: errAnswer, says: "4097 bytes"},
		"to an earlier batch":    {subject: "a.1.fail.3.1.$FI", body: notLast, acked: 10, bytes: 15, batch: "b", quietly: true},
		"to something else":      {subject: "b.3", body: notLast, acked: 10, bytes: 15, batch: "b", quietly: true},
		"to nothing":             {subject: "", body: notLast, acked: 10, bytes: 15, batch: "b", quietly: true},

		"alone: to the next":            {plain: true, subject: "b.2", body: `{"stream":"S","seq":11}`, acked: 11, bytes: 14, batch: "b"},
		"alone: to the last, ending":    {plain: true, ending: true, subject: "b.5", body: `{"stream":"S","seq":14}`, acked: 14},
		"alone: another number":         {plain: true, subject: "b.2", body: `{"stream":"S","seq":12}`, acked: 10, bytes: 15, batch: "b", is: errAnswer, says: "commit 11: "},
		"alone: no stream":              {plain: true, subject: "b.2", body: `{"seq":11}`, acked: 10, bytes: 15, batch: "b", is: errAnswer},
		"alone: to more than was sent":  {plain: true, subject: "b.6", body: `{"stream":"S","seq":15}`, acked: 10, bytes: 15, batch: "b", is: errAnswer, says: "commit 6 of the batch; expected at most 5"},
		"alone: another was faster":     {plain: true, subject: "b.2", body: notLast, acked: 10, bytes: 15, batch: "b", is: journal.ErrNotLast, says: "commit 11: ", other: 12},
		"alone: the stream is full":     {plain: true, subject: "b.2", body: full, acked: 10, bytes: 15, batch: "b", is: &jetstream.APIError{ErrorCode: 10077}},
		"alone: no responder":           {plain: true, subject: "b.2", status: "503", acked: 10, bytes: 15, batch: "b", is: nats.ErrNoResponders},
		"alone: no JSON":                {plain: true, subject: "b.2", body: `{`, acked: 10, bytes: 15, batch: "b", is: errAnswer, says: `"{"`},
		"alone: as long as can be":      {plain: true, subject: "b.2", body: pad(`{"stream":"S","seq":11}`, maxAnswer), acked: 11, bytes: 14, batch: "b"},
		"alone: longer":                 {plain: true, subject: "b.2", body: pad(`{"stream":"S","seq":11}`, maxAnswer) + " ", acked: 10, bytes: 15, batch: "b", is: errAnswer, says: "4097 bytes"},
		"alone: to an earlier batch":    {plain: true, subject: "a.2", body: notLast, acked: 10, bytes: 15, batch: "b", quietly: true},
		"alone: to a batch that is not": {plain: true, subject: "b.1.fail.2.1.$FI", body: notLast, acked: 10, bytes: 15, batch: "b", quietly: true},
	} {
		l := &Log{name: "S", inbox: "in.box", plain: c.plain}
		l.pipe = pipe{sent: 14, acked: 10, bytes: 15, sizes: []int{0, 0, 0, 1, 2, 4, 8, 0}, batch: "b", base: 9, ending: c.ending}
		change := make(chan struct{})
		l.change = change
		m := &nats.Msg{Subject: "in.box", Data: []byte(c.body)}
		if c.subject != "" {
			m.Subject += "." + c.subject
		}
		if c.status != "" {
			m.Header = nats.Header{"Status": {c.status}}
		}
		l.answer(m)

		p := &l.pipe
		if p.acked != c.acked || p.bytes != c.bytes || p.batch != c.batch || p.sent != 14 || p.other != c.other || p.ending != (c.ending && c.batch != "") {
			t.Errorf("%s: %+v; want %+v", name, p, c)
		}
		var refused, want *jetstream.APIError
		switch {
		case c.is == nil && p.stopped != nil, c.is != nil && (!errors.Is(p.stopped, journal.ErrStopped) || !strings.Contains(p.stopped.Error(), c.says)):
			t.Errorf("%s: %v, want %v with the text %q", name, p.stopped, c.is, c.says)
		case errors.As(c.is, &want):
			if !errors.As(p.stopped, &refused) || refused.ErrorCode != want.ErrorCode || errors.Is(p.stopped, journal.ErrNotLast) {
				t.Errorf("%s: %v, want %v", name, p.stopped, c.is)
			}
		case !errors.Is(p.stopped, c.is):
			t.Errorf("%s: %v, want %v", name, p.stopped, c.is)
		}
		select {
		case <-change:
			if c.quietly {
				t.Errorf("%s: a waiting caller is woken", name)
			}
		default:
			if !c.quietly {
				t.Errorf("%s: a waiting caller is not woken", name)
			}
		}
	}
}

// A log that waits for no answer of its own confirms the commits of others that were
// read from the stream, and no later ones.
func TestConfirmOfCommitsThatOthersWrote(t *testing.T) {
	s := natstest.Start(t, natstest.Options())
	l, _ := scriptedLog(t, natstest.Connect(t, s), &script{})
	l.found(3)
	for _, upTo := range []uint64{1, 2, 3} {
		if err := l.Confirm(t.Context(), upTo); err != nil {
			t.Errorf("commit %d of 3: %v", upTo, err)
		}
	}
	if err := l.Confirm(t.Context(), 4); !errors.Is(err, journal.ErrAhead) {
		t.Errorf("commit 4, which does not exist: %v", err)
	}
}
