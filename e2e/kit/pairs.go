// SPDX-License-Identifier: Apache-2.0

package kit

import (
	"errors"
	"fmt"
	"path/filepath"
	"testing"

	"github.com/pnagent/pnagent/internal/porttest"
)

// TheNet is shown by every sidecar of these tests.
func TheNet(t *testing.T) string {
	t.Helper()
	path, err := filepath.Abs("../../examples/order-fulfilment.pnml")
	if err != nil {
		t.Fatal(err)
	}
	return path
}

// Registered waits until the sidecar's session is up.
func (side *Sidecar) Registered(t *testing.T) {
	t.Helper()
	Until(t, "a sidecar is registered", func() error {
		if n, _ := side.Self(t).Value("pnagent_agentx_up"); n != 1 {
			return errors.New("it is not")
		}
		return nil
	})
}

// OnDuty waits until one sidecar says that it notifies, and all others that they
// do not.
func OnDuty(t *testing.T, one *Sidecar, others ...*Sidecar) {
	t.Helper()
	Until(t, "the right sidecar is on duty", func() error {
		for i, side := range append([]*Sidecar{one}, others...) {
			s := side.Self(t)
			duty, _ := s.Value("pnagent_sidecar_on_duty")
			peers, _ := s.Value("pnagent_sidecar_peers")
			if (duty == 1) != (i == 0) || int(peers) != len(others) {
				return fmt.Errorf("sidecar %d: on duty %v, peers %v", i, duty, peers)
			}
		}
		return nil
	})
}

// Upper is the subject space of the root.
const Upper = "petrinet.root"

// ServeRoot and serveFlat run the sidecar above, and one that receives from every engine
// directly.
func ServeRoot(t *testing.T, natsURL string) *Sidecar {
	t.Helper()
	return Serve(t, natsURL, "--nats.prefix", Upper, "--snmp", porttest.Addr(t), "--mib-dir", "")
}

// ServeShare runs one below: it keeps its counters in the same place whenever it starts.
func ServeShare(t *testing.T, natsURL, share, name, dir string) *Sidecar {
	t.Helper()
	return Serve(t, natsURL, "--share", share, "--up", Upper, "--up.source", name, "--state-dir", filepath.Join(dir, name), "--mib-dir", "")
}
