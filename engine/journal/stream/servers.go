// SPDX-License-Identifier: Apache-2.0

package stream

import (
	"context"
	"errors"
	"fmt"
	"sync"

	"github.com/nats-io/nats.go/jetstream"
)

// Servers records the servers that keep replicas of a process's logs. Each
// consumer reads one replica, which the servers choose at random. Share one
// Servers between all logs of a process. The zero value is ready to use.
type Servers struct {
	mu      sync.Mutex
	doubted map[string]map[string]bool // names of servers, by stream
	tooOld  map[string]string          // a version, by stream
}

// doubt makes later consumers of a stream avoid a server. When all servers with
// a replica are in doubt, doubt clears all of them.
func (s *Servers) doubt(stream, server string, replicas int) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.doubted == nil {
		s.doubted = map[string]map[string]bool{}
	}
	of := s.doubted[stream]
	if of == nil {
		of = map[string]bool{}
		s.doubted[stream] = of
	}
	of[server] = true
	if len(of) >= replicas {
		delete(s.doubted, stream)
	}
}

func (s *Servers) isDoubted(stream, server string) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.doubted[stream][server]
}

// old records that a server with a replica of a stream is too old.
func (s *Servers) old(stream, version string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.tooOld == nil {
		s.tooOld = map[string]string{}
	}
	s.tooOld[stream] = version
}

// oldOf returns the version of a server that is too old for the replica of a
// stream that it has.
func (s *Servers) oldOf(stream string) (version string, found bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	version, found = s.tooOld[stream]
	return version, found
}

// Doubt reports that the commits read last may be wrong. If the stream has
// replicas, later reads use another one.
func (l *Log) Doubt() {
	l.mu.Lock()
	server := l.origin
	l.mu.Unlock()
	if replicas := l.stream.CachedInfo().Config.Replicas; replicas > 1 && server != "" {
		l.config.Servers.doubt(l.name, server, replicas)
		l.config.Log.Warn("another replica is read from now on", "stream", l.name, "doubted", server)
	}
}

// choices is how many consumers a reader makes to find one at a server that is
// not in doubt. With three replicas, two of them in doubt, all 16 miss the
// third once in 650 times.
const choices = 16

// subscribe makes consumers until one reads from a server that is not in doubt,
// at most choices. last is the last commit of the stream.
func (t *tail) subscribe(ctx context.Context, last uint64) error {
	one, cancel := context.WithTimeout(ctx, askWait)
	defer cancel()
	err := t.consume(one, last)
	for n := 1; n < choices && errors.Is(err, errDoubted); n++ {
		t.leave()
		if err = t.log.stream.DeleteConsumer(one, t.consumer); err == nil {
			err = t.consume(one, last)
		}
	}
	t.push = false
	if errors.Is(err, errDoubted) {
		err = nil // only servers in doubt answer: read from one of them
	}
	if err == nil && t.until > 0 {
		err = t.askPiece()
	}
	if err != nil {
		t.leave()
		return fmt.Errorf("create consumer: %w", err)
	}
	return nil
}

var errDoubted = errors.New("the server's replica is in doubt")

// suits checks which server reads for a consumer.
func (t *tail) suits(info *jetstream.ConsumerInfo) error {
	replicas := t.log.stream.CachedInfo().Config.Replicas
	if replicas <= 1 || info.Cluster == nil {
		return nil
	}
	t.server = info.Cluster.Leader
	if version := info.Config.Metadata[answeredBy]; tooOld(version) {
		t.log.config.Servers.old(t.log.name, version)
		return tooOldFor(replicas, version)
	}
	if t.log.config.Servers.isDoubted(t.log.name, t.server) {
		return errDoubted
	}
	return nil
}
