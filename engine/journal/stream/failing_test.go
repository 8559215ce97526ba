// SPDX-License-Identifier: Apache-2.0

package stream

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"reflect"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/nats-io/nats-server/v2/server"
	"github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"

	"github.com/pnagent/pnagent/engine/journal"
	"github.com/pnagent/pnagent/internal/natstest"
)

// failing makes one request to the server fail, or all from one on.
type failing struct {
	calls, at int
	all       bool
	err       error
	before    func(request string) // called before each request if not nil
}

func (f *failing) call(request string) error {
	if f.before != nil {
		f.before(request)
	}
	if f.calls++; f.calls == f.at || f.all && f.calls > f.at {
		return f.err
	}
	return nil
}

type failingStream struct {
	jetstream.Stream
	f *failing
}

func (s failingStream) Info(ctx context.Context, o ...jetstream.StreamInfoOpt) (*jetstream.StreamInfo, error) {
	if err := s.f.call("info"); err != nil {
		return nil, err
	}
	return s.Stream.Info(ctx, o...)
}

func (s failingStream) GetLastMsgForSubject(ctx context.Context, subject string) (*jetstream.RawStreamMsg, error) {
	if err := s.f.call("last"); err != nil {
		return nil, err
	}
	return s.Stream.GetLastMsgForSubject(ctx, subject)
}

func (s failingStream) Purge(ctx context.Context, o ...jetstream.StreamPurgeOpt) error {
	if err := s.f.call("purge"); err != nil {
		return err
	}
	return s.Stream.Purge(ctx, o...)
}

func (s failingStream) OrderedConsumer(ctx context.Context, c jetstream.OrderedConsumerConfig) (jetstream.Consumer, error) {
	if err := s.f.call("consumer"); err != nil {
		return nil, err
	}
	consumer, err := s.Stream.OrderedConsumer(ctx, c)
	return failingConsumer{consumer, s.f}, err
}

type failingConsumer struct {
	jetstream.Consumer
	f *failing
}

func (c failingConsumer) Messages(o ...jetstream.PullMessagesOpt) (jetstream.MessagesContext, error) {
	if err := c.f.call("messages"); err != nil {
		return nil, err
	}
	m, err := c.Consumer.Messages(o...)
	return failingMessages{m, c.f}, err
}

type failingMessages struct {
	jetstream.MessagesContext
	f *failing
}

func (m failingMessages) Next(o ...jetstream.NextOpt) (jetstream.Msg, error) {
	if err := m.f.call("next"); err != nil {
		return nil, err
	}
	return m.MessagesContext.Next(o...)
}

type failingStore struct {
	jetstream.ObjectStore
	f *failing
}

func (s failingStore) Put(ctx context.Context, m jetstream.ObjectMeta, r io.Reader) (*jetstream.ObjectInfo, error) {
	if err := s.f.call("put"); err != nil {
		return nil, err
	}
	return s.ObjectStore.Put(ctx, m, r)
}

// fail makes requests about snapshots fail until mend is called.
func (l *Log) fail(f *failing) (mend func()) {
	stream, bucket, store := l.stream, l.bucket, l.store
	l.stream, l.bucket, l.store = failingStream{stream, f}, failingStream{bucket, f}, failingStore{store, f}
	return func() { l.stream, l.bucket, l.store = stream, bucket, store }
}

var errFailing = errors.New("this request fails")

// One request fails while a snapshot is saved: each in turn. The caller gets an
// error, and a snapshot and the commits after it still exist. The next snapshot
// is saved, and removes what the failed one left.
func TestASnapshotWhoseSavingFailsAtAnyRequest(t *testing.T) {
	nc := natstest.Connect(t, natstest.Start(t, natstest.JetStream(t.TempDir())))
	requests := 1
	for at := 0; at <= requests; at++ { // the first round, at 0, counts the requests
		l := openLog(t, Config{Conn: nc, Name: fmt.Sprint("log", at)})
		mustAppend(t, l, "1", "2", "3", "4")
		err := save(l, 2, "at 2")
		if err == nil {
			_, err = l.js.Publish(soon(t), l.pieceSubject("orphan"), []byte("piece"))
		}
		if err != nil {
			t.Fatal(err)
		}
		f := &failing{at: at, err: errFailing}
		mend := l.fail(f)
		err = save(l, 3, "at 3")
		mend()
		switch {
		case at == 0:
			if requests = f.calls; err != nil || requests < 10 {
				t.Fatalf("%d requests, none of which failed: %v", requests, err)
			}
		case !errors.Is(err, errFailing) || !strings.Contains(err.Error(), "stream "+l.name+" up to commit 3"):
			t.Errorf("request %d fails: %v", at, err)
		}
		state, upTo := load(t, l)
		if state != fmt.Sprint("at ", upTo) || upTo < 2 || upTo > 3 || firstOf(t, l) > upTo+1 {
			t.Errorf("request %d fails: %q up to %d, the first is %d", at, state, upTo, firstOf(t, l))
		}
		if err := errors.Join(save(l, 4, "at 4"), l.dropOrphans(soon(t), 0)); err != nil {
			t.Error(err)
		}
		if state, upTo := load(t, l); state != "at 4" || upTo != 4 || pieces(t, l) != 2 || firstOf(t, l) != 5 {
			t.Errorf("request %d failed: %q up to %d, %d messages, the first is %d", at, state, upTo, pieces(t, l), firstOf(t, l))
		}
		if err := l.Close(); err != nil {
			t.Error(err)
		}
	}
}

// One request fails while a snapshot is loaded, or all from one on.
// LoadSnapshot either reads a whole snapshot or returns an error.
func TestASnapshotWhoseLoadingFailsAtAnyRequest(t *testing.T) {
	_, l := oneServer(t)
	mustAppend(t, l, "1")
	want := strings.Repeat("state ", 50_000)
	if err := save(l, 1, want); err != nil {
		t.Fatal(err)
	}
	for _, way := range []string{"once", "always", "with the context"} {
		for at := 1; ; at++ {
			ctx, cancel := context.WithCancel(t.Context())
			f := &failing{at: at, all: way != "once", err: errFailing}
			if way == "with the context" {
				f.before = func(string) {
					if f.calls+1 == at {
						cancel()
						f.err = ctx.Err()
					}
				}
			}
			mend := l.fail(f)
			got := ""
			upTo, err := l.LoadSnapshot(ctx, func(r io.Reader) error {
				b, err := io.ReadAll(r)
				got = string(b)
				return err
			})
			mend()
			cancel()
			switch {
			case err == nil && (got != want || upTo != 1), err != nil && (got != "" || upTo != 0 || !errors.Is(err, f.err)):
				t.Errorf("request %d fails %s: %d bytes up to %d, %v", at, way, len(got), upTo, err)
			case err == nil && f.all && f.calls >= at:
				t.Errorf("request %d fails %s, and LoadSnapshot returns no error", at, way)
			case way == "with the context" && f.calls > at:
				t.Errorf("%d requests after the end of the context", f.calls-at)
			}
			if f.calls < at {
				break
			}
		}
	}
	failed := errors.New("no")
	if upTo, err := l.LoadSnapshot(soon(t), func(io.Reader) error { return failed }); !errors.Is(err, failed) || upTo != 0 {
		t.Errorf("the reader fails: up to %d, %v", upTo, err)
	}
}

// LoadSnapshot ignores snapshots that another process removes while they are
// listed.
func TestASnapshotThatGoesWhileItIsListed(t *testing.T) {
	_, l := oneServer(t)
	mustAppend(t, l, "1", "2", "3")
	for upTo := uint64(1); upTo <= 3; upTo++ {
		f := &failing{all: true, err: jetstream.ErrMsgNotFound}
		f.before = func(request string) {
			f.at = 1 << 30
			if request == "last" {
				f.at = f.calls + 1
			}
			f.all = false
		}
		mend := l.fail(f)
		err := save(l, upTo, "state")
		there, failed := l.snapshots(soon(t))
		mend()
		if err != nil || failed != nil || len(there) != 0 {
			t.Errorf("up to %d: %v; %d are there, %v", upTo, err, len(there), failed)
		}
	}
	if state, upTo := load(t, l); state != "state" || upTo != 3 {
		t.Errorf("%q up to %d", state, upTo)
	}
}

// LoadSnapshot gives up if the newest snapshot is another one in every list,
// and never whole.
func TestSnapshotsThatChangeWithoutEnd(t *testing.T) {
	_, l := oneServer(t)
	mustAppend(t, l, "1")
	store, n := l.store, uint64(0)
	add := func() {
		if n++; n > 100 {
			t.Fatal("LoadSnapshot does not return")
		}
		if _, err := store.PutString(soon(t), snapshotName(n), "state"); err != nil {
			t.Fatal(err)
		}
	}
	add()
	listed := 0
	f := &failing{err: errFailing}
	f.before = func(request string) {
		f.at = 0
		if request == "consumer" {
			f.at = f.calls + 1
			listed++
			add()
		}
	}
	mend := l.fail(f)
	upTo, err := l.LoadSnapshot(soon(t), func(io.Reader) error { t.Error("called"); return nil })
	mend()
	// The bucket is listed four times: with snapshot 1, with 2 and 1, with 4 to
	// 1, and with 8 to 1. The log tries each of them once in each list.
	if upTo != 0 || !errors.Is(err, errFailing) || listed != 1+2+4+8 {
		t.Errorf("up to %d after %d tries: %v", upTo, listed, err)
	}
}

// Objects that are not snapshots are neither loaded nor removed. A snapshot
// that was deleted or damaged is ignored.
func TestABucketWithMoreThanSnapshots(t *testing.T) {
	dir := t.TempDir()
	t.Setenv("TMPDIR", dir)
	_, l := oneServer(t)
	mustAppend(t, l, "1", "2", "3", "4")
	put := func(name, text string) *jetstream.ObjectInfo {
		t.Helper()
		o, err := l.store.PutString(soon(t), name, text)
		if err != nil {
			t.Fatal(err)
		}
		return o
	}
	publish := func(object, text string) {
		t.Helper()
		if _, err := l.js.Publish(soon(t), l.nameSubject(object), []byte(text)); err != nil {
			t.Fatal(err)
		}
	}
	put("other", "other")
	publish("no JSON", "no JSON")
	publish("nothing", "{}")
	before := pieces(t, l)
	for _, state := range []string{"", "state"} { // objects of no piece and of one
		if err := save(l, 1, state); err != nil {
			t.Fatal(err)
		}
	}
	deleted := put(snapshotName(2), "deleted")
	if err := l.store.Delete(soon(t), deleted.Name); err != nil {
		t.Fatal(err)
	}
	for _, digest := range []string{"SHA-256=!", "SHA-256=AAAA", ""} {
		damaged := put(snapshotName(3), "damaged")
		publish(damaged.Name, fmt.Sprintf(`{"name":%q,"bucket":%q,"nuid":%q,"size":7,"chunks":1,"digest":%q}`, damaged.Name, l.name, damaged.NUID, digest))
	}
	upTo, err := l.LoadSnapshot(soon(t), func(r io.Reader) error {
		if _, err := io.ReadAll(r); err != nil {
			return err
		}
		if files, err := os.ReadDir(dir); err != nil || slices.ContainsFunc(files, func(f os.DirEntry) bool { return strings.HasPrefix(f.Name(), "pnagent") }) {
			t.Errorf("a process that is killed now leaves %v; %v", files, err)
		}
		return nil
	})
	if upTo != 1 || err != nil {
		t.Errorf("up to %d, %v", upTo, err)
	}
	if err := save(l, 4, "state"); err != nil {
		t.Fatal(err)
	}
	if state, upTo := load(t, l); state != "state" || upTo != 4 || pieces(t, l) != before+3 { // and the marker of the deleted object
		t.Errorf("%q up to %d, %d messages, were %d", state, upTo, pieces(t, l), before)
	}
	if text, err := l.store.GetString(soon(t), "other"); text != "other" || err != nil {
		t.Errorf("%q, %v", text, err)
	}
}

// If the snapshot cannot be written to a temporary file, LoadSnapshot returns
// an error.
func TestASnapshotThatCanNotBeWrittenToDisk(t *testing.T) {
	_, l := oneServer(t)
	mustAppend(t, l, "1")
	if err := save(l, 1, "state"); err != nil {
		t.Fatal(err)
	}
	there, err := l.snapshots(soon(t))
	if err != nil {
		t.Fatal(err)
	}
	full, out := io.Pipe()
	_ = full.CloseWithError(errFailing)
	if err := l.download(soon(t), there[0], out); !errors.Is(err, errFailing) {
		t.Error(err)
	}
	t.Setenv("TMPDIR", t.TempDir()+"/none")
	if upTo, err := l.LoadSnapshot(soon(t), func(io.Reader) error { t.Error("called"); return nil }); upTo != 0 || !errors.Is(err, os.ErrNotExist) {
		t.Errorf("no directory for it: up to %d, %v", upTo, err)
	}
}

// The pieces of unfinished snapshots are removed when they are an hour old, in
// any order. The pieces of a finished snapshot are not.
func TestOnlyOldPiecesOfUnfinishedSnapshotsGo(t *testing.T) {
	natstest.Bubble(t, func(t *testing.T) {
		_, l := oneServer(t)
		name := snapshotName(1)
		if _, err := l.js.Publish(soon(t), l.nameSubject(name), fmt.Appendf(nil, `{"name":%q,"nuid":"whole","chunks":2}`, name)); err != nil {
			t.Fatal(err)
		}
		want := map[string]uint64{l.pieceSubject("whole"): 2}
		put := func(id string) {
			for range 2 {
				if _, err := l.js.Publish(soon(t), l.pieceSubject(id), []byte("piece")); err != nil {
					t.Fatal(err)
				}
			}
		}
		put("whole")
		for k := range 6 {
			put(fmt.Sprint("old", k))
		}
		time.Sleep(orphanAge - time.Minute)
		for k := range 6 {
			put(fmt.Sprint("new", k))
			want[l.pieceSubject(fmt.Sprint("new", k))] = 2
		}
		time.Sleep(orphanAge - time.Minute)
		if err := l.dropOrphans(soon(t), orphanAge); err != nil {
			t.Fatal(err)
		}
		info, err := l.bucket.Info(soon(t), jetstream.WithSubjectFilter(l.pieceSubject("*")))
		if err != nil || !reflect.DeepEqual(info.State.Subjects, want) {
			t.Errorf("%v, %v; want %v", info.State.Subjects, err, want)
		}
	})
}

// If any request of Open gets no answer, Open returns an error.
func TestALogThatCanNotBeOpened(t *testing.T) {
	natstest.Bubble(t, func(t *testing.T) {
		o := natstest.JetStream(t.TempDir())
		denied := []string{
			"$JS.API.STREAM.INFO.pnagent-log-log", "$JS.API.STREAM.CREATE.pnagent-log-log",
			"$JS.API.STREAM.INFO.OBJ_pnagent-log-log", "$JS.API.STREAM.CREATE.OBJ_pnagent-log-log",
		}
		for i, subject := range denied {
			o.Users = append(o.Users, &server.User{Username: fmt.Sprint(i), Permissions: &server.Permissions{Publish: &server.SubjectPermission{Deny: []string{subject}}}})
		}
		s := natstest.Start(t, o)
		for i, subject := range denied {
			nc := natstest.Connect(t, s, nats.UserInfo(fmt.Sprint(i), ""), nats.ErrorHandler(func(*nats.Conn, *nats.Subscription, error) {}))
			l, err := Open(soon(t), Config{Conn: nc, Name: "log"})
			if l != nil || err == nil || !strings.Contains(err.Error(), `open log "log": stream pnagent-log-log: `) {
				t.Errorf("without %s: %v", subject, err)
			}
		}
	})
	if l, err := Open(t.Context(), Config{Name: "log"}); l != nil || err == nil {
		t.Error(err)
	}
}

// late is a JetStream as seen by a process that looks for a stream or a bucket
// just before another process creates it.
type late struct {
	jetstream.JetStream
	looked int
}

func (l *late) Stream(ctx context.Context, name string) (jetstream.Stream, error) {
	if l.looked++; l.looked == 1 {
		return nil, jetstream.ErrStreamNotFound
	}
	return l.JetStream.Stream(ctx, name)
}

func (l *late) CreateStream(context.Context, jetstream.StreamConfig) (jetstream.Stream, error) {
	return nil, jetstream.ErrStreamNameAlreadyInUse
}

func (l *late) ObjectStore(ctx context.Context, name string) (jetstream.ObjectStore, error) {
	if l.looked++; l.looked == 1 {
		return nil, jetstream.ErrBucketNotFound
	}
	return l.JetStream.ObjectStore(ctx, name)
}

func (l *late) CreateObjectStore(context.Context, jetstream.ObjectStoreConfig) (jetstream.ObjectStore, error) {
	return nil, jetstream.ErrBucketExists
}

func TestAnotherProcessMakesTheSameLogAtTheSameTime(t *testing.T) {
	_, l := oneServer(t)
	want := settings(l.name, l.subject, 1)
	if s, err := openStream(soon(t), &late{JetStream: l.js}, want, &Config{Replicas: 1}); err != nil || s.CachedInfo().Config.Name != l.name {
		t.Error(err)
	}
	if s, err := openStream(soon(t), &late{JetStream: l.js}, want, &Config{Replicas: 3}); !errors.Is(err, ErrSettings) || s != nil {
		t.Error(s, err)
	}
	other := &Log{js: &late{JetStream: l.js}, name: l.name, stream: l.stream}
	if err := other.openBucket(soon(t)); err != nil || other.store == nil || other.bucket == nil {
		t.Error(err)
	}
	none := &Log{js: &late{JetStream: l.js}, name: "none", stream: l.stream}
	if err := none.openBucket(soon(t)); !errors.Is(err, jetstream.ErrBucketNotFound) {
		t.Error(err)
	}
}

// A log that was used in every way and closed leaves no subscription at its
// connection and no consumer at the server.
func TestAClosedLogLeavesNothing(t *testing.T) {
	s, other := oneServer(t)
	nc := natstest.Connect(t, s)
	subscriptions := -1
	for round := range 3 {
		l := openLog(t, Config{Conn: nc, Name: "a log"})
		mustAppend(t, l, "1", "2")
		list(t, l, l.Last())
		if _, err := followTo(soon(t), l, 1); err != nil && round == 0 {
			t.Fatal(err)
		}
		if err := save(l, l.Last(), "state"); err != nil {
			t.Fatal(err)
		}
		load(t, l)
		info, err := other.stream.Info(soon(t))
		if err != nil || info.State.Consumers != 0 {
			t.Errorf("%d consumers are left: %v", info.State.Consumers, err)
		}
		if err := l.Close(); err != nil {
			t.Fatal(err)
		}
		for open := true; open; {
			select {
			case _, open = <-l.status:
			default:
				t.Fatal("the connection still reports its state to a closed log")
			}
		}
		// The client removes the subscription of an answer a little later.
		n := nc.NumSubscriptions()
		for end := soon(t); subscriptions >= 0 && n > subscriptions; n = nc.NumSubscriptions() {
			if end.Err() != nil {
				t.Fatalf("%d subscriptions after one log more, were %d", n, subscriptions)
			}
			time.Sleep(time.Millisecond)
		}
		subscriptions = n
	}
}

// Close of a stopped log returns the reason, the first time.
func TestClosingReturnsWhyALogHasStopped(t *testing.T) {
	s, old := oneServer(t)
	mustAppend(t, old, "1")
	next := openLog(t, Config{Conn: natstest.Connect(t, s), Name: "a log"})
	mustAppend(t, next, "2")
	n, err := old.Append(soon(t), 1, []byte("no"))
	if err == nil {
		err = old.Confirm(soon(t), n)
	}
	if !errors.Is(err, journal.ErrNotLast) {
		t.Fatal(err)
	}
	if err := old.Close(); !errors.Is(err, journal.ErrNotLast) || !strings.HasPrefix(err.Error(), "close stream "+old.name+": ") {
		t.Error(err)
	}
	if err := old.Close(); err != nil {
		t.Error(err)
	}
	if err := old.Refresh(soon(t)); !errors.Is(err, journal.ErrClosed) {
		t.Error(err)
	}
	if got := list(t, next, 1); !slices.Equal(got, []string{"1", "2"}) {
		t.Errorf("%q", got)
	}
}
