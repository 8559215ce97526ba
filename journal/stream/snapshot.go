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
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/nats-io/nats.go/jetstream"
	"github.com/nats-io/nuid"

	"github.com/pnagent/pnagent/journal"
)

// snapshot is an object in the bucket of the stream's name. Its name is the
// number of the last commit in it, with 20 digits, "-" and a text that nobody
// else has. So two writers, of which one does not know yet that it is none any
// more, never write the same object, and the highest number counts.
type snapshot struct {
	upTo   uint64
	object *jetstream.ObjectInfo
}

const (
	upToDigits = 20
	chunkSize  = 128 << 10
	// bucketPrefix is before a bucket's name in that of its stream.
	bucketPrefix = "OBJ_"
	// orphanAge is how old the pieces of an object without a name get: of a
	// snapshot whose writer died. Until then it may still be written.
	orphanAge = time.Hour
)

// errDigest is a snapshot that is not what its writer wrote.
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

// openBucket makes the bucket if it is not there. That is done with the stream:
// when one of the servers is down, no bucket can be made.
func (l *Log) openBucket(ctx context.Context) error {
	store, err := l.js.ObjectStore(ctx, l.name)
	if errors.Is(err, jetstream.ErrBucketNotFound) {
		store, err = l.js.CreateObjectStore(ctx, jetstream.ObjectStoreConfig{
			Bucket: l.name, Description: "snapshots of a log, written by pnagent",
			Storage: jetstream.FileStorage, Replicas: l.stream.CachedInfo().Config.Replicas,
		})
		if errors.Is(err, jetstream.ErrBucketExists) { // somebody else was faster
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

// SaveSnapshot stores an object in the bucket of the stream's name when the
// server has the commits that it stands for.
// When it is there, older objects and the commits up to it go, but of these
// none that the config's Keep still needs. An older writer that comes late
// removes only what is older than its own.
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

// beginSnapshot checks upTo and waits for the commits that the snapshot stands
// for.
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
		err = fmt.Errorf("there is one up to commit %d: %w", there[0].upTo, journal.ErrCovered)
	}
	return err
}

// snapshots lists what is in the bucket, newest first. Objects of other names
// are left alone.
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
	slices.SortFunc(there, func(a, b snapshot) int { return strings.Compare(b.object.Name, a.object.Name) })
	return there, nil
}

// objects lists the bucket. (The store's own List waits for ever when the
// connection is lost while it asks.)
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
		if err := json.Unmarshal(m.Data, &o); err == nil && !o.Deleted { // what is no object is somebody else's
			all = append(all, &o)
		}
	}
	return all, nil
}

// put writes the object. Its name is stored after its pieces, so that it is
// there when it is whole.
func (l *Log) put(ctx context.Context, upTo uint64, write func(io.Writer) error) error {
	from, to := io.Pipe()
	done := make(chan struct{})
	go func() {
		defer close(done)
		to.CloseWithError(write(to))
	}()
	// The end of ctx is an error of the reader. The store then removes what it
	// has stored, for which it needs a context that has not ended.
	stop := context.AfterFunc(ctx, func() { to.CloseWithError(ctx.Err()) })
	meta := jetstream.ObjectMeta{Name: snapshotName(upTo), Opts: &jetstream.ObjectMetaOptions{ChunkSize: chunkSize}}
	_, err := l.store.Put(context.WithoutCancel(ctx), meta, fullReader{from})
	stop()
	from.CloseWithError(io.ErrClosedPipe) // lets go of write, if it is still at it
	<-done
	return err
}

// fullReader fills what it is given to read into, so that the pieces of an
// object are as large as they may be however small the writes are.
type fullReader struct{ from io.Reader }

func (r fullReader) Read(b []byte) (int, error) {
	n, err := io.ReadFull(r.from, b)
	if errors.Is(err, io.ErrUnexpectedEOF) {
		err = io.EOF
	}
	return n, err
}

// dropCovered removes the snapshots before upTo, what writers that died have
// left, and the commits up to upTo.
func (l *Log) dropCovered(ctx context.Context, upTo uint64) error {
	there, err := l.snapshots(ctx)
	if err != nil {
		return err
	}
	for _, s := range there {
		if s.upTo >= upTo {
			continue
		}
		// Deleting an object would leave a mark for ever; its name goes first.
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

// dropOrphans removes the pieces that belong to no object, if the last of them
// is older than an age.
func (l *Log) dropOrphans(ctx context.Context, age time.Duration) error {
	info, err := l.bucket.Info(ctx, jetstream.WithSubjectFilter(l.pieceSubject("*")))
	if err != nil {
		return err
	}
	// Listed after the pieces were: an object of which they are has its name now,
	// or is being written.
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

// loadTries is how often the bucket is listed again because what was listed has
// gone meanwhile.
const loadTries = 3

// LoadSnapshot reads the newest snapshot that is whole. It is in a temporary
// file, and its digest was right, when read is called.
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
			l.config.Log.Warn("a snapshot can not be read", "stream", l.name, "upTo", s.upTo, "err", err)
		}
		if there[0].upTo == newest.upTo || try == loadTries {
			return there[0], nil, errors.Join(failed...)
		}
		newest = there[0]
	}
	return newest, nil, err
}

// fetch copies a snapshot into a temporary file without a name.
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

// download copies the pieces of an object and checks their digest. It gives up
// when one has not come for the AckWait. (The store's own Get does not notice
// the end of a context while it waits for a piece that is gone.)
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
