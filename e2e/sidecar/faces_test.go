// SPDX-License-Identifier: Apache-2.0

package sidecar

import (
	"testing"

	"github.com/pnagent/pnagent/e2e/kit"
	"github.com/pnagent/pnagent/mib/smi"
)

func root(t *testing.T) smi.OID {
	t.Helper()
	oid, err := smi.ParseOID(kit.OIDRoot)
	if err != nil {
		t.Fatal(err)
	}
	return oid
}
