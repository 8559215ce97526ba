// SPDX-License-Identifier: Apache-2.0

package temporaltest

import (
	"context"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"go.temporal.io/api/workflowservice/v1"
	"google.golang.org/grpc"
	"google.golang.org/grpc/credentials/insecure"

	"github.com/pnagent/pnagent/internal/cachetest"
	"github.com/pnagent/pnagent/internal/logtest"
	"github.com/pnagent/pnagent/internal/porttest"
)

const (
	patience  = 60 * time.Second
	pollEvery = 25 * time.Millisecond
)

// until waits until check returns "", which otherwise says what is missing.
func until(t *testing.T, what string, check func() string) {
	t.Helper()
	end := time.After(patience)
	for {
		missing := check()
		if missing == "" {
			return
		}
		select {
		case <-end:
			t.Fatalf("waiting until %s: %s", what, missing)
		case <-time.After(pollEvery):
		}
	}
}

// server is a development server with its data in a directory of the test.
type server struct {
	t       *testing.T
	program string
	address string
	conn    *grpc.ClientConn
	api     workflowservice.WorkflowServiceClient

	database string
	running  *exec.Cmd
	ended    chan struct{} // closed when the process has ended
	said     logtest.Buffer
}

// newServer starts a server, or skips the test.
func newServer(t *testing.T) *server {
	t.Helper()
	s := &server{t: t, program: cachetest.Temporal().Path(t), address: porttest.Addr(t), database: filepath.Join(t.TempDir(), "temporal.db")}
	var err error
	if s.conn, err = grpc.NewClient(s.address, grpc.WithTransportCredentials(insecure.NewCredentials())); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { s.conn.Close() })
	s.api = workflowservice.NewWorkflowServiceClient(s.conn)
	s.start()
	t.Cleanup(s.kill)
	return s
}

// start starts the server and waits until it answers. It takes more ports than its
// address, at random; if another process has one of them, it ends, and is started
// again.
func (s *server) start() {
	s.t.Helper()
	for range 3 {
		s.launch()
		answers := false
		until(s.t, "the server answers", func() string {
			select {
			case <-s.ended:
				return ""
			default:
			}
			missing := s.answers()
			answers = missing == ""
			return missing
		})
		if answers {
			return
		}
	}
	s.t.Fatalf("the server ends: %.2000s", s.said.String())
}

// launch starts the process.
func (s *server) launch() {
	s.t.Helper()
	_, port, _ := strings.Cut(s.address, ":")
	cmd := exec.Command(s.program, "server", "start-dev", "--headless", "--ip", "127.0.0.1", "--port", port, "--db-filename", s.database,
		"--namespace", "second", "--log-level", "error", "--disable-config-file", "--disable-config-env")
	cmd.Env = append(os.Environ(), "HOME="+filepath.Dir(s.database))
	cmd.Stdout, cmd.Stderr = &s.said, &s.said
	if err := cmd.Start(); err != nil {
		s.t.Fatal(err)
	}
	ended := make(chan struct{})
	go func() {
		defer close(ended)
		cmd.Wait() //nolint:errcheck // it is killed
	}()
	s.running, s.ended = cmd, ended
}

// answers returns "" if the server answers for its namespaces, or why it does not.
func (s *server) answers() string {
	ctx, cancel := context.WithTimeout(s.t.Context(), time.Second)
	defer cancel()
	for _, namespace := range []string{"default", "second"} {
		if _, err := s.api.ListWorkflowExecutions(ctx, &workflowservice.ListWorkflowExecutionsRequest{Namespace: namespace, PageSize: 1}); err != nil {
			return err.Error()
		}
	}
	return ""
}

// kill ends the server with all at once.
func (s *server) kill() {
	if s.running == nil {
		return
	}
	s.running.Process.Kill() //nolint:errcheck // it may have ended
	<-s.ended
	s.running = nil
}
