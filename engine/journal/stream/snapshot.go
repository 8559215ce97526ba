// SPDX-License-Identifier: Apache-2.0

package stream

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"strconv"
	"strings"
	"time"

	"github.com/nats-io/nats.go/jetstream"
	"github.com/nats-io/nuid"

	"github.com/pnagent/pnagent/engine/journal"
	"github.com/pnagent/pnagent/internal/ordered"
)

// snapshot is an object in the bucket of snapshots. Its name is the number of
// the last commit in it, with 20 digits, "-" and a unique text. So two writers
// never write the same object, even if one has not noticed yet that it was
// replaced. The highest number counts.
type snapshot struct {
	upTo   uint64
	object *jetstream.ObjectInfo
}

const (
	upToDigits = 20
	chunkSize  = 128 << 10
	// bucketPrefix precedes a bucket's name in that of its stream.
	bucketPrefix = "OBJ_"
	// orphanAge is the age at which pieces without an object are removed: their
	// writer died. Younger pieces may belong to an object that is still being
	// written.
	orphanAge = time.Hour
)

// errDigest reports a snapshot that differs from what its writer wrote.
var errDigest = errors.New("the digest is wrong")

func snapshotName(upTo uint64) string {
	return fmt.Sprintf("%0*d-%s", upToDigits, upTo, nuid.Next())
}

// parseSnapshotName is the reverse of snapshotName.
func parseSnapshotName(name string) (upTo uint64, ok bool) {
	digits, unique, ok := strings.Cut(name, "-")
	upTo, err := strconv.ParseUint(digits, 10, 64)
	return upTo, ok && err == nil && len(digits) == upToDigits && unique != "" && upTo > 0
}

// openBucket creates the bucket if it is missing. It does so together with the
// stream, because no bucket can be created while one of the servers is down.
func (l *Log) openBucket(ctx context.Context) error {
	store, err := l.js.ObjectStore(ctx, l.name)
	if errors.Is(err, jetstream.ErrBucketNotFound) {
		store, err = l.js.CreateObjectStore(ctx, jetstream.ObjectStoreConfig{
			Bucket: l.name, Description: "snapshots of a log, written by pnagent",
			Storage: jetstream.FileStorage, Replicas: l.stream.CachedInfo().Config.Replicas,
		})
		if errors.Is(err, jetstream.ErrBucketExists) { // another process was faster
			store, err = l.js.ObjectStore(ctx, l.name)
		}
	}
	if err != nil {
		return fmt.Errorf("bucket of snapshots: %w", err)
	}
	l.store = store
	l.bucket, err = l.js.Stream(ctx, bucketPrefix+l.name)
	return err
}

// SaveSnapshot stores an object in the bucket of snapshots once the server has
// the commits in it. Then it removes older objects, and the commits up to upTo
// that the config's Keep does not need. A writer that was replaced meanwhile
// removes only what is older than its own snapshot.
func (l *Log) SaveSnapshot(ctx context.Context, upTo uint64, write func(io.Writer) error) error {
	l.saving.Lock()
	defer l.saving.Unlock()
	err := l.beginSnapshot(ctx, upTo)
	if err == nil {
		err = l.put(ctx, upTo, write)
	}
	if err != nil {
		return fmt.Errorf("save snapshot of stream %s up to commit %d: %w", l.name, upTo, err)
	}
	if err := l.dropCovered(ctx, upTo); err != nil {
		return fmt.Errorf("snapshot of stream %s up to commit %d is saved; remove what it covers: %w", l.name, upTo, err)
	}
	return nil
}

// beginSnapshot checks upTo and waits until the server has the commits up to
// it.
func (l *Log) beginSnapshot(ctx context.Context, upTo uint64) error {
	l.mu.Lock()
	err, last := l.usable(), l.last()
	l.mu.Unlock()
	switch {
	case err != nil:
		return err
	case upTo == 0 || upTo > last:
		return fmt.Errorf("expected 1 to %d: %w", last, journal.ErrAhead)
	}
	if err := l.Confirm(ctx, upTo); err != nil {
		return err
	}
	there, err := l.snapshots(ctx)
	if err == nil && len(there) > 0 && there[0].upTo > upTo {
		err = fmt.Errorf("a snapshot up to commit %d exists: %w", there[0].upTo, journal.ErrCovered)
	}
	return err
}

// snapshots returns the snapshots in the bucket, newest first. It ignores
// objects of other names.
func (l *Log) snapshots(ctx context.Context) ([]snapshot, error) {
	objects, err := l.objects(ctx)
	if err != nil {
		return nil, fmt.Errorf("list the bucket: %w", err)
	}
	var there []snapshot
	for _, o := range objects {
		if upTo, ok := parseSnapshotName(o.Name); ok {
			there = append(there, snapshot{upTo, o})
		}
	}
	ordered.By(there, func(a, b *snapshot) int { return strings.Compare(b.object.Name, a.object.Name) })
	return there, nil
}

// objects lists the bucket. (The store's own List waits forever if the
// connection is lost meanwhile.)
func (l *Log) objects(ctx context.Context) ([]*jetstream.ObjectInfo, error) {
	info, err := l.bucket.Info(ctx, jetstream.WithSubjectFilter(l.nameSubjects()))
	if err != nil {
		return nil, err
	}
	var all []*jetstream.ObjectInfo
	for subject := range info.State.Subjects {
		m, err := l.bucket.GetLastMsgForSubject(ctx, subject)
		if errors.Is(err, jetstream.ErrMsgNotFound) {
			continue // removed meanwhile
		} else if err != nil {
			return nil, err
		}
		var o jetstream.ObjectInfo
		if err := json.Unmarshal(m.Data, &o); err == nil && !o.Deleted { // other messages are not the log's
			all = append(all, &o)
		}
	}
	return all, nil
}

// put writes the object. Its name is stored after its pieces, so an object with
// a name is whole.
func (l *Log) put(ctx context.Context, upTo uint64, write func(io.Writer) error) error {
	from, to := io.Pipe()
	done := make(chan struct{})
	go func() {
		defer close(done)
		to.CloseWithError(write(to))
	}()
	// If ctx ends, the reader returns an error, and the store removes the
	// pieces that it has stored. For that it needs a context that has not
	// ended.
	stop := context.AfterFunc(ctx, func() { to.CloseWithError(ctx.Err()) })
	meta := jetstream.ObjectMeta{Name: snapshotName(upTo), Opts: &jetstream.ObjectMetaOptions{ChunkSize: chunkSize}}
	_, err := l.store.Put(context.WithoutCancel(ctx), meta, fullReader{from})
	stop()
	from.CloseWithError(io.ErrClosedPipe) // makes write return if it is still running
	<-done
	return err
}

// fullReader fills each buffer completely, so that the pieces of an object have
// the full size even if write writes little at a time.
type fullReader struct{ from io.Reader }

func (r fullReader) Read(b []byte) (int, error) {
	n, err := io.ReadFull(r.from, b)
	if errors.Is(err, io.ErrUnexpectedEOF) {
		err = io.EOF
	}
	return n, err
}

// dropCovered removes the snapshots before upTo, the pieces that dead writers
// have left, and the commits up to upTo.
func (l *Log) dropCovered(ctx context.Context, upTo uint64) error {
	there, err := l.snapshots(ctx)
	if err != nil {
		return err
	}
	for _, s := range there {
		if s.upTo >= upTo {
			continue
		}
		// Deleting the object would leave a marker forever, so the messages of
		// its name and pieces are removed instead.
		for _, subject := range []string{l.nameSubject(s.object.Name), l.pieceSubject(s.object.NUID)} {
			if err := l.bucket.Purge(ctx, jetstream.WithPurgeSubject(subject)); err != nil {
				return fmt.Errorf("remove snapshot %s: %w", s.object.Name, err)
			}
		}
	}
	if err := l.dropOrphans(ctx, orphanAge); err != nil {
		return fmt.Errorf("remove pieces of snapshots that were not finished: %w", err)
	}
	limit := upTo
	if l.config.Keep != nil {
		limit = min(limit, max(l.config.Keep(), 1)-1)
	}
	if limit == 0 {
		return nil
	}
	return l.stream.Purge(ctx, jetstream.WithPurgeSequence(limit+1))
}

// The subjects of an object store's bucket (NATS ADR-20).
func (l *Log) nameSubject(object string) string {
	return "$O." + l.name + ".M." + base64.URLEncoding.EncodeToString([]byte(object))
}

func (l *Log) nameSubjects() string { return "$O." + l.name + ".M.*" }

func (l *Log) pieceSubject(nuid string) string { return "$O." + l.name + ".C." + nuid }

// dropOrphans removes the pieces that belong to no object, if the last one is
// older than age.
func (l *Log) dropOrphans(ctx context.Context, age time.Duration) error {
	info, err := l.bucket.Info(ctx, jetstream.WithSubjectFilter(l.pieceSubject("*")))
	if err != nil {
		return err
	}
	// The objects are listed after the pieces: if a piece belongs to an object,
	// that object has its name by now or is being written.
	objects, err := l.objects(ctx)
	if err != nil {
		return err
	}
	for _, o := range objects {
		delete(info.State.Subjects, l.pieceSubject(o.NUID))
	}
	for subject := range info.State.Subjects {
		last, err := l.bucket.GetLastMsgForSubject(ctx, subject)
		if errors.Is(err, jetstream.ErrMsgNotFound) || err == nil && info.TimeStamp.Sub(last.Time) < age {
			continue
		} else if err != nil {
			return err
		}
		if err := l.bucket.Purge(ctx, jetstream.WithPurgeSubject(subject)); err != nil {
			return err
		}
	}
	return nil
}

// loadTries is how often the bucket is listed again because a listed snapshot
// was removed meanwhile.
const loadTries = 3

// LoadSnapshot reads the newest snapshot that is whole. It stores it in a
// temporary file and checks its digest before it calls read.
func (l *Log) LoadSnapshot(ctx context.Context, read func(io.Reader) error) (upTo uint64, err error) {
	l.mu.Lock()
	closed := l.closed
	l.mu.Unlock()
	if closed {
		return 0, fmt.Errorf("load snapshot of stream %s: %w", l.name, journal.ErrClosed)
	}
	s, in, err := l.fetchNewest(ctx)
	if err == nil && in == nil {
		return 0, nil
	}
	if err == nil {
		defer in.Close()
		err = read(in)
	}
	if err != nil {
		return 0, fmt.Errorf("load snapshot of stream %s up to commit %d: %w", l.name, s.upTo, err)
	}
	return s.upTo, nil
}

// fetchNewest returns a file of the newest snapshot that is whole, or nil if
// there is none.
func (l *Log) fetchNewest(ctx context.Context) (newest snapshot, in *os.File, err error) {
	for try := 0; err == nil; try++ {
		var there []snapshot
		if there, err = l.snapshots(ctx); err != nil || len(there) == 0 {
			break
		}
		var failed []error
		for _, s := range there {
			in, err := l.fetch(ctx, s)
			if err == nil {
				return s, in, nil
			}
			if ctx.Err() != nil {
				return s, nil, err
			}
			failed = append(failed, err)
			l.config.Log.Warn("cannot read a snapshot", "stream", l.name, "commit", s.upTo, "err", err)
		}
		if there[0].upTo == newest.upTo || try == loadTries {
			return there[0], nil, errors.Join(failed...)
		}
		newest = there[0]
	}
	return newest, nil, err
}

// fetch copies a snapshot into a temporary file, which has no name.
func (l *Log) fetch(ctx context.Context, s snapshot) (in *os.File, err error) {
	pieces := l.pieceSubject(s.object.NUID)
	info, err := l.bucket.Info(ctx, jetstream.WithSubjectFilter(pieces))
	if err != nil {
		return nil, err
	}
	if got := info.State.Subjects[pieces]; got != uint64(s.object.Chunks) {
		return nil, fmt.Errorf("object %s has %d of its %d pieces", s.object.Name, got, s.object.Chunks)
	}
	if in, err = os.CreateTemp("", "pnagent-snapshot-*"); err != nil {
		return nil, err
	}
	defer func() {
		if err != nil {
			in.Close()
		}
	}()
	if err := os.Remove(in.Name()); err != nil {
		return nil, err
	}
	if err := l.download(ctx, s, in); err != nil {
		return nil, fmt.Errorf("object %s: %w", s.object.Name, err)
	}
	_, err = in.Seek(0, io.SeekStart)
	return in, err
}

// download copies the pieces of an object and checks their digest. It fails if
// a piece does not arrive within the AckWait. (The store's own Get ignores the
// end of a context while it waits for a missing piece.)
func (l *Log) download(ctx context.Context, s snapshot, to io.Writer) error {
	want, err := jetstream.DecodeObjectDigest(s.object.Digest)
	if err != nil || s.object.Chunks == 0 {
		return err
	}
	consumer, err := l.bucket.OrderedConsumer(ctx, jetstream.OrderedConsumerConfig{FilterSubjects: []string{l.pieceSubject(s.object.NUID)}})
	if err != nil {
		return err
	}
	pieces, err := consumer.Messages()
	if err != nil {
		return err
	}
	defer pieces.Stop()
	digest := sha256.New()
	both := io.MultiWriter(digest, to)
	for i := range s.object.Chunks {
		one, cancel := context.WithTimeout(ctx, l.config.AckWait)
		m, err := pieces.Next(jetstream.NextContext(one))
		cancel()
		if err != nil {
			return fmt.Errorf("piece %d: %w", i+1, err)
		}
		if _, err := both.Write(m.Data()); err != nil {
			return err
		}
	}
	if !bytes.Equal(digest.Sum(nil), want) {
		return errDigest
	}
	return nil
}
