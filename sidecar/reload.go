// SPDX-License-Identifier: Apache-2.0

package sidecar

import (
	"context"
	"errors"
	"slices"
	"sync"

	"github.com/pnagent/pnagent/collector/alarm/watch"
	"github.com/pnagent/pnagent/notify"
)

// Reload reads the configuration again, as a POST to /-/reload does, and applies what can
// change while the sidecar runs: the rules for alarms with their sinks, the credentials of SNMP and
// the keys of a pair.
func (s *Sidecar) Reload() error { return s.exporter.Reload() }

func (s *Sidecar) reload() error {
	read, err := s.cfg.Reread()
	if err != nil {
		return err
	}
	cfg := s.cfg // all else takes effect at the next start
	cfg.Alarms, cfg.Sinks, cfg.StandbyKeys = read.Alarms, read.Sinks, read.StandbyKeys
	cfg.Community, cfg.Users, cfg.TrapUser = read.Community, read.Users, read.TrapUser
	if err := s.setCredentials(&cfg); err != nil {
		return err
	}
	if s.member == nil && len(cfg.Sinks) > 0 {
		s.cfg.Log.Warn("the first sinks take effect at the next start: a sidecar that notifies has to know the others that do")
		cfg.Sinks = nil
	}
	if s.member != nil {
		s.member.SetKeys(cfg.StandbyKeys)
		s.member.Move(s.group(&cfg))
	}
	s.watcher.Reload(cfg.Alarms, s.receivers.set(&cfg)...)
	s.cfg.Log.Info("configuration read again")
	return nil
}

// setCredentials replaces those of SNMP. Whether there are users of SNMPv3 changes at the next start,
// since the engine belongs to them.
func (s *Sidecar) setCredentials(cfg *Config) (err error) {
	if (len(cfg.Users) > 0) != (s.engine != nil) {
		return nil
	}
	if s.responder != nil {
		err = s.responder.SetCredentials(cfg.Community, cfg.Users)
	}
	if s.sender != nil {
		user, bad := cfg.trapUser()
		if bad == nil {
			bad = s.sender.SetCredentials(cfg.Community, user)
		}
		err = errors.Join(err, bad)
	}
	return err
}

// receivers are the senders of the sinks of the rules, one for each name.
type receivers struct {
	mu      sync.Mutex // guards the fields below
	senders []*notify.Sender
	running func(*notify.Sender) // nil before run
}

// set makes the senders of a configuration: one that there is sends as the configuration says from now on, and one
// that it does not name gives up what waits.
func (r *receivers) set(cfg *Config) (queues []watch.Sink) {
	r.mu.Lock()
	defer r.mu.Unlock()
	site := &notify.Site{Source: "urn:pnagent:" + cfg.Subjects.Prefix(), Enterprise: cfg.enterprise(), Runbooks: cfg.Links.Runbooks}
	if cfg.Alarms != nil {
		site.Page = cfg.Alarms.Page
	}
	before := r.senders
	r.senders = nil
	for _, settings := range cfg.Sinks {
		i := slices.IndexFunc(before, func(s *notify.Sender) bool { return s.Counters().Name == settings.Name })
		var sender *notify.Sender
		if i >= 0 {
			sender = before[i]
			sender.Use(settings, site)
		} else {
			sender = notify.NewSender(settings, site, cfg.queueFile(settings.Name), cfg.Log)
			if r.running != nil {
				r.running(sender)
			}
		}
		r.senders = append(r.senders, sender)
		queues = append(queues, watch.Sink{Name: settings.Name, Queue: sender})
	}
	for _, sender := range before {
		if !slices.Contains(r.senders, sender) {
			sender.Retire()
		}
	}
	return queues
}

// run runs all senders until ctx ends.
func (r *receivers) run(ctx context.Context) {
	var all sync.WaitGroup
	r.mu.Lock()
	r.running = func(s *notify.Sender) { all.Go(func() { s.Run(ctx) }) }
	for _, s := range r.senders {
		r.running(s)
	}
	r.mu.Unlock()
	<-ctx.Done()
	r.mu.Lock()
	r.running = func(*notify.Sender) {}
	r.mu.Unlock()
	all.Wait()
}
