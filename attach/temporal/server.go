// SPDX-License-Identifier: Apache-2.0

package temporal

import (
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"maps"
	"strings"
	"sync"

	"go.temporal.io/api/workflowservice/v1"
	"golang.org/x/time/rate"
	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/credentials"
	"google.golang.org/grpc/credentials/insecure"
	"google.golang.org/grpc/metadata"
	"google.golang.org/grpc/status"

	"github.com/pnagent/pnagent/attach/internal/ledger"
)

// Access says how to reach a server.
type Access struct {
	Address string      // HOST:PORT
	TLS     *tls.Config // nil for none
	APIKey  string      // sent as a bearer token, by TLS only; "" for none
	RPS     float64     // the largest number of calls a second
	ListRPS float64     // of these, the largest number of pages of lists a second
}

// ErrConfig is wrapped by errors about a Config or an Access.
var ErrConfig = ledger.ErrConfig

// largestAnswer is the largest answer that is read, in bytes. A page of a history
// may have many payloads.
const largestAnswer = 128 << 20

// Server is a Temporal server. Its calls keep to the budget and are counted.
type Server struct {
	conn  *grpc.ClientConn
	api   workflowservice.WorkflowServiceClient
	rps   float64
	limit *rate.Limiter
	lists *rate.Limiter // of pages of lists

	mu     sync.Mutex
	calls  map[string]uint64    // by method
	errors map[[2]string]uint64 // by method and code
}

// Dial returns a server, without connecting to it. The error wraps ErrConfig.
func Dial(a Access) (*Server, error) {
	if !strings.Contains(a.Address, ":") {
		return nil, fmt.Errorf("%w: address %q; expected HOST:PORT", ErrConfig, a.Address)
	}
	for _, rps := range []float64{a.RPS, a.ListRPS} {
		if rps < 0.1 || rps > 1e6 {
			return nil, fmt.Errorf("%w: %g calls a second; expected 0.1 to 1000000", ErrConfig, rps)
		}
	}
	if a.APIKey != "" && a.TLS == nil {
		return nil, fmt.Errorf("%w: an API key would be sent in clear; expected TLS with it", ErrConfig)
	}
	secure := insecure.NewCredentials()
	if a.TLS != nil {
		secure = credentials.NewTLS(a.TLS)
	}
	s := &Server{rps: a.RPS, limit: limiter(a.RPS), lists: limiter(a.ListRPS), calls: map[string]uint64{}, errors: map[[2]string]uint64{}}
	key := a.APIKey
	var err error
	s.conn, err = grpc.NewClient(a.Address, grpc.WithTransportCredentials(secure), grpc.WithUserAgent("pnagent"),
		grpc.WithDefaultCallOptions(grpc.MaxCallRecvMsgSize(largestAnswer)),
		grpc.WithUnaryInterceptor(func(ctx context.Context, method string, req, answer any, cc *grpc.ClientConn, invoke grpc.UnaryInvoker, opts ...grpc.CallOption) error {
			if key != "" {
				ctx = metadata.AppendToOutgoingContext(ctx, "authorization", "Bearer "+key)
			}
			if of, ok := req.(interface{ GetNamespace() string }); ok {
				ctx = metadata.AppendToOutgoingContext(ctx, "temporal-namespace", of.GetNamespace())
			}
			err := wait(ctx, s.limit)
			if err == nil {
				err = invoke(ctx, method, req, answer, cc, opts...)
			}
			s.count(method[strings.LastIndexByte(method, '/')+1:], err)
			return err
		}))
	if err != nil {
		return nil, fmt.Errorf("%w: address %q: %w", ErrConfig, a.Address, err)
	}
	s.api = workflowservice.NewWorkflowServiceClient(s.conn)
	return s, nil
}

// Close closes the connection.
func (s *Server) Close() error { return s.conn.Close() }

func limiter(rps float64) *rate.Limiter { return rate.NewLimiter(rate.Limit(rps), max(1, int(rps))) }

// wait waits until the budget allows a call.
func wait(ctx context.Context, budget *rate.Limiter) error {
	if err := budget.Wait(ctx); err != nil {
		return status.Error(codes.ResourceExhausted, "the budget of calls does not suffice within the time-out")
	}
	return nil
}

func (s *Server) count(method string, err error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.calls[method]++
	if err != nil {
		s.errors[[2]string{method, status.Code(err).String()}]++
	}
}

// counts returns the calls by method, and their errors by method and code.
func (s *Server) counts() (map[string]uint64, map[[2]string]uint64) {
	s.mu.Lock()
	defer s.mu.Unlock()
	return maps.Clone(s.calls), maps.Clone(s.errors)
}

// failed reports whether an error is about the server, not about what was asked.
func failed(err error) bool {
	switch status.Code(err) {
	case codes.Unavailable, codes.DeadlineExceeded, codes.Canceled, codes.Unauthenticated, codes.PermissionDenied:
		return true
	}
	return isNamespaceNotFound(err) || errors.Is(err, context.Canceled) || errors.Is(err, context.DeadlineExceeded)
}
