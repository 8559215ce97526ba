// SPDX-License-Identifier: Apache-2.0

package journal

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"testing"
	"time"
)

const (
	benchCommit = 128       // bytes
	benchFull   = 256 << 20 // bytes on the disk before the journal is removed
)

// BenchmarkAppend appends groups of commits of 128 bytes in each mode. The base
// writes the same bytes to a bare file and syncs it as often.
func BenchmarkAppend(b *testing.B) {
	for _, mode := range []SyncMode{SyncAlways, SyncInterval, SyncNone} {
		for _, n := range []int{1, 64, 1024} {
			group := make([][]byte, n)
			for i := range group {
				group[i] = make([]byte, benchCommit)
			}
			name := fmt.Sprintf("mode=%v/group=%d", mode, n)
			b.Run("journal/"+name, func(b *testing.B) { benchJournal(b, mode, group) })
			b.Run("base=file/"+name, func(b *testing.B) { benchFile(b, mode, n) })
		}
	}
}

func benchJournal(b *testing.B, mode SyncMode, group [][]byte) {
	ctx := context.Background()
	f := mustOpen(b, b.TempDir(), Options{Mode: mode})
	last, written := uint64(0), 0
	for b.Loop() {
		var err error
		if last, err = f.Append(ctx, last, group...); err != nil {
			b.Fatal(err)
		}
		if err := f.Sync(ctx, time.Now().UnixMicro()); err != nil {
			b.Fatal(err)
		}
		if written += len(group) * benchCommit; written > benchFull {
			b.StopTimer()
			if err := f.SaveSnapshot(ctx, last, func(io.Writer) error { return nil }); err != nil {
				b.Fatal(err)
			}
			written = 0
			b.StartTimer()
		}
	}
	reportCommits(b, len(group))
}

func benchFile(b *testing.B, mode SyncMode, n int) {
	f, err := os.Create(filepath.Join(b.TempDir(), "bare"))
	if err != nil {
		b.Fatal(err)
	}
	defer f.Close()
	group := make([]byte, n*benchCommit)
	synced, written := int64(0), 0
	for b.Loop() {
		if _, err := f.Write(group); err != nil {
			b.Fatal(err)
		}
		now := time.Now().UnixMicro()
		if mode == SyncAlways || mode == SyncInterval && now-synced >= defaultInterval.Microseconds() || mode == SyncNone && written/defaultSegmentBytes != (written+len(group))/defaultSegmentBytes {
			if err := f.Sync(); err != nil {
				b.Fatal(err)
			}
			synced = now
		}
		if written += len(group); written > benchFull {
			b.StopTimer()
			if err := f.Truncate(0); err != nil {
				b.Fatal(err)
			}
			if _, err := f.Seek(0, io.SeekStart); err != nil {
				b.Fatal(err)
			}
			written = 0
			b.StartTimer()
		}
	}
	reportCommits(b, n)
}

func reportCommits(b *testing.B, group int) {
	b.SetBytes(int64(group * benchCommit))
	b.ReportMetric(float64(b.N)*float64(group)/b.Elapsed().Seconds(), "commits/s")
}

// BenchmarkReplay opens and reads a journal of 64 MB in commits of 128 bytes
// and of 4 KiB. The base only reads the files.
func BenchmarkReplay(b *testing.B) {
	for _, size := range []int{128, 4096} {
		dir := b.TempDir()
		commits := 64_000_000 / size
		fillJournal(b, dir, commits, size)
		report := func(b *testing.B) {
			b.SetBytes(int64(commits * size))
			b.ReportMetric(float64(b.N)*float64(commits)/b.Elapsed().Seconds(), "commits/s")
		}
		b.Run(fmt.Sprintf("open/commit=%d", size), func(b *testing.B) {
			for b.Loop() {
				mustOpen(b, dir, Options{}).Close()
			}
			report(b)
		})
		b.Run(fmt.Sprintf("open_and_read/commit=%d", size), func(b *testing.B) {
			for b.Loop() {
				replay(b, dir, commits)
			}
			report(b)
		})
		b.Run(fmt.Sprintf("base=file/commit=%d", size), func(b *testing.B) {
			buf := make([]byte, readBuffer)
			for b.Loop() {
				readBare(b, dir, buf)
			}
			report(b)
		})
	}
}

func fillJournal(b *testing.B, dir string, commits, size int) {
	f := mustOpen(b, dir, Options{Mode: SyncNone, SegmentBytes: 16 << 20})
	group := make([][]byte, 100)
	for i := range group {
		group[i] = make([]byte, size)
	}
	for last := uint64(0); last < uint64(commits); {
		var err error
		if last, err = f.Append(context.Background(), last, group[:min(len(group), commits-int(last))]...); err != nil {
			b.Fatal(err)
		}
	}
	if err := f.Close(); err != nil {
		b.Fatal(err)
	}
}

func replay(b *testing.B, dir string, commits int) {
	f := mustOpen(b, dir, Options{})
	defer f.Close()
	n := 0
	for _, err := range f.Read(context.Background(), 1) {
		if err != nil {
			b.Fatal(err)
		}
		n++
	}
	if n != commits {
		b.Fatalf("%d commits, want %d", n, commits)
	}
}

func readBare(b *testing.B, dir string, buf []byte) {
	files, err := filepath.Glob(filepath.Join(dir, "*"+segmentSuffix))
	if err != nil || len(files) == 0 {
		b.Fatal(files, err)
	}
	for _, name := range files {
		f, err := os.Open(name)
		if err != nil {
			b.Fatal(err)
		}
		for err == nil {
			_, err = f.Read(buf)
		}
		f.Close()
		if !errors.Is(err, io.EOF) {
			b.Fatal(err)
		}
	}
}
