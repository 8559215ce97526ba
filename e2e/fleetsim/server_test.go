// SPDX-License-Identifier: Apache-2.0

package fleetsim

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"time"

	"github.com/nats-io/nats-server/v2/server"

	"github.com/pnagent/pnagent/telemetry"
)

// startNATS starts a NATS server in this process. It divides subjects into shares
// with the configuration that docs/tree.md describes.
func startNATS(dir string, shares int) (*server.Server, error) {
	file := filepath.Join(dir, "nats.conf")
	text := "listen: \"127.0.0.1:-1\"\n"
	if shares > 0 {
		text += telemetry.Subjects{}.Mappings(shares, false)
	}
	if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
		return nil, err
	}
	opts, err := server.ProcessConfigFile(file)
	if err != nil {
		return nil, fmt.Errorf("configure nats-server: %w", err)
	}
	opts.NoLog, opts.NoSigs = true, true
	s, err := server.NewServer(opts)
	if err != nil {
		return nil, fmt.Errorf("make nats-server: %w", err)
	}
	s.Start()
	if !s.ReadyForConnections(time.Minute) {
		s.Shutdown()
		return nil, errors.New("nats-server is not ready after one minute")
	}
	return s, nil
}
