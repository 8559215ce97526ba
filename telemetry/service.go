// SPDX-License-Identifier: Apache-2.0

package telemetry

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strconv"
	"time"

	"github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/micro"

	"github.com/pnagent/pnagent/stats"
	"github.com/pnagent/pnagent/telemetry/natslink"
	"github.com/pnagent/pnagent/telemetry/wire"
)

// ServiceName is the name of a source in NATS' service conventions
// ($SRV.PING, $SRV.INFO, $SRV.STATS), and ServiceVersion the version of its
// wire.
const (
	ServiceName    = "petrinet-source"
	ServiceVersion = "1.0.0"
)

// Bounds of a request for a place's oldest tokens.
const (
	maxRequest   = 4 << 10 // bytes
	defaultLimit = 100     // tokens
)

// MaxFound is the largest number of rows of tokens in an answer.
const MaxFound = 1000

// closeTimeout bounds the time for the server to confirm the last messages if
// the context of Close has no deadline.
const closeTimeout = 5 * time.Second

// natsLink is a NATS connection.
type natsLink struct{ nc *nats.Conn }

func (l natsLink) publish(subject string, payload []byte) error {
	return l.nc.Publish(subject, payload)
}

func (l natsLink) ping() { natslink.Ping(l.nc) }

func (l natsLink) state() (bool, uint64) { return l.nc.IsConnected(), l.nc.Stats().Reconnects }

// limit returns the server's limit, or MaxMessage before the first connection.
func (l natsLink) limit() int {
	if n := l.nc.MaxPayload(); n > 0 {
		return int(min(n, MaxMessage))
	}
	return MaxMessage
}

// service holds the subscriptions of a source; nil has none.
type service struct {
	nc    *nats.Conn
	micro micro.Service
	subs  []*nats.Subscription
}

// serve subscribes to all requests that a source answers.
func (p *Publisher) serve() (*service, error) {
	meta := map[string]string{"source": p.cfg.Source, "epoch": strconv.FormatInt(p.epoch, 10), "prefix": p.cfg.Subjects.Prefix()}
	if p.cfg.Tool != "" {
		meta["tool"] = p.cfg.Tool
	}
	s := &service{nc: p.cfg.Conn}
	var err error
	s.micro, err = micro.AddService(s.nc, micro.Config{
		Name: ServiceName, Version: ServiceVersion, Description: "Petri nets that run in one process", Metadata: meta,
		StatsHandler: func(*micro.Endpoint) any { return p.Stats() },
	})
	if err != nil {
		return nil, err
	}
	err = p.listen(s)
	for i := range p.feeds {
		if err == nil {
			err = p.serveNet(i, s.micro)
		}
	}
	if err != nil {
		return nil, errors.Join(err, s.unsubscribe())
	}
	return s, nil
}

// listen subscribes to the requests that a snapshot answers, and to notices.
func (p *Publisher) listen(s *service) error {
	var err error
	subscribe := func(subject string, handle nats.MsgHandler) {
		if err != nil {
			return
		}
		var sub *nats.Subscription
		if sub, err = s.nc.Subscribe(subject, handle); err == nil {
			s.subs = append(s.subs, sub)
		}
	}
	subscribe(p.cfg.Subjects.Hello(), func(m *nats.Msg) {
		if p.paces.take(m.Data, time.Now()) {
			return
		}
		for i := range p.feeds {
			p.ask(i)
		}
	})
	for i, f := range p.feeds {
		subscribe(p.cfg.Subjects.Full(f.head.Net, f.head.Source), func(*nats.Msg) { p.ask(i) })
		subscribe(p.cfg.Subjects.Notice(f.head.Net, f.head.Source), func(m *nats.Msg) { p.noticed(m.Data, time.Now()) })
	}
	return err
}

// serveNet answers requests about one net. A definition is the same at every
// source that has it, so one of them answers; tokens are the source's own.
func (p *Publisher) serveNet(net int, s micro.Service) error {
	n := &p.cfg.Nets[net]
	err := p.serveDefinition(s, n)
	if err != nil || p.cfg.Oldest == nil && p.cfg.Instance == nil {
		return err
	}
	meta := endpointMetadata(n.ID, Digest(n.PNML))
	return s.AddEndpoint("instances", micro.HandlerFunc(func(req micro.Request) {
		reply, code, err := p.oldest(net, req.Data())
		if err != nil {
			p.replied(req, req.Error(code, err.Error(), nil))
			return
		}
		p.replied(req, req.Respond(reply, micro.WithHeaders(micro.Headers{ContentTypeHeader: {ContentTypeJSON}})))
	}), micro.WithEndpointSubject(p.cfg.Subjects.Instances(n.ID, p.cfg.Source)), micro.WithEndpointQueueGroupDisabled(), meta)
}

// serveDefinition answers requests for one definition of a net.
func (p *Publisher) serveDefinition(s micro.Service, n *SourceNet) error {
	reply, encoding, err := pack(n.PNML, p.wire.limit())
	if err != nil {
		return fmt.Errorf("net %q: %w", n.ID, err)
	}
	digest := Digest(n.PNML)
	return s.AddEndpoint("definition", micro.HandlerFunc(func(req micro.Request) {
		var opts []micro.RespondOpt
		if encoding != "" {
			opts = append(opts, micro.WithHeaders(micro.Headers{encodingHeader: {encoding}}))
		}
		p.replied(req, req.Respond(reply, opts...))
	}), micro.WithEndpointSubject(p.cfg.Subjects.Definition(n.ID, digest)), endpointMetadata(n.ID, digest))
}

func endpointMetadata(net, digest string) micro.EndpointOpt {
	return micro.WithEndpointMetadata(map[string]string{"net": net, "digest": digest})
}

// replied logs an answer that could not be sent, once a second at most; NATS' service counts it.
func (p *Publisher) replied(req micro.Request, err error) {
	if err == nil {
		return
	}
	last, now := p.unanswered.Load(), time.Now().UnixMicro()
	if now-last >= time.Second.Microseconds() && p.unanswered.CompareAndSwap(last, now) {
		p.log.Warn("answer request", "source", p.cfg.Source, "subject", req.Subject(), "err", err)
	}
}

// oldestRequest requests the oldest tokens of a place, or all tokens of an
// instance; with an instance the other fields are ignored.
type oldestRequest struct {
	Instance string `json:"instance,omitempty"`

	Digest string `json:"digest"` // of the definition that place is an index of
	Place  int    `json:"place"`
	query
}

// query is a stats.Query. Engines of older versions know only Limit.
type query struct {
	Limit int    `json:"limit"` // rows; 0 is 100, at most 1000
	Name  string `json:"name,omitempty"`
	Data  string `json:"data,omitempty"`
	Until int64  `json:"until,omitempty"`
	From  int64  `json:"from,omitempty"`
	// FromName is the instance from which on tokens of the time From are wanted.
	FromName string `json:"from_instance,omitempty"`
}

// oldest answers a request for the oldest tokens of a place as JSON, in the
// form of a snapshot's OldestTokens, or for one instance. An error comes with
// its code, as in HTTP.
func (p *Publisher) oldest(net int, request []byte) (reply []byte, code string, err error) {
	defined := p.defined(net)
	var req oldestRequest
	if len(request) > maxRequest {
		return nil, "413", fmt.Errorf("request of %d bytes, of at most %d", len(request), maxRequest)
	}
	if err := json.Unmarshal(request, &req); err != nil {
		return nil, "400", fmt.Errorf("request is not json: %w", err)
	}
	if req.Instance != "" {
		return p.instance(net, req.Instance)
	}
	switch {
	case p.cfg.Oldest == nil:
		return nil, "501", errors.New("this source does not report the tokens of a place")
	case req.Digest != Digest(defined.PNML):
		return nil, "409", fmt.Errorf("net %q runs with definition %s", defined.ID, Digest(defined.PNML))
	case req.Place < 0 || req.Place >= defined.Places:
		return nil, "404", fmt.Errorf("place %d, of %d", req.Place, defined.Places)
	case req.Limit < 0 || req.Limit > MaxFound:
		return nil, "400", fmt.Errorf("limit of %d tokens, of at most %d", req.Limit, MaxFound)
	case req.Limit == 0:
		req.Limit = defaultLimit
	}
	found, err := p.cfg.Oldest(net, req.Place, (*stats.Query)(&req.query))
	if err != nil {
		return nil, "500", err
	}
	found.Cut(req.Limit)
	limit := p.wire.limit() - replyOverhead
	for {
		reply, err = foundJSON(req.Place, &found)
		if err != nil {
			return nil, "500", err
		}
		if len(reply) <= limit {
			return reply, "", nil
		}
		if len(found.Tokens) == 1 {
			return nil, "413", fmt.Errorf("a token takes %d bytes, of at most %d", len(reply), limit)
		}
		found.Cut(len(found.Tokens) / 2)
	}
}

// foundJSON returns an answer as JSON.
func foundJSON(place int, found *stats.Found) ([]byte, error) {
	var e Encoder
	b := e.appendFound(nil, place, found)
	if e.err != nil {
		return nil, e.err
	}
	return wire.AppendJSON(nil, "OldestTokens", b, true)
}

// close stops answering and waits until the server has received everything.
func (s *service) close(ctx context.Context) error {
	if s == nil {
		return nil
	}
	err := s.unsubscribe()
	ctx, cancel := context.WithTimeout(ctx, closeTimeout)
	defer cancel()
	if !s.nc.IsConnected() {
		return errors.Join(err, nats.ErrDisconnected)
	}
	return errors.Join(err, s.nc.FlushWithContext(ctx))
}

func (s *service) unsubscribe() error {
	err := s.micro.Stop()
	for _, sub := range s.subs {
		err = errors.Join(err, sub.Unsubscribe())
	}
	return err
}
