// SPDX-License-Identifier: Apache-2.0

package temporaltest

import (
	"fmt"
	"os"
	"testing"
)

// binaries is the directory of the programs that are built for the tests.
var binaries string

func TestMain(m *testing.M) {
	var err error
	if binaries, err = os.MkdirTemp("", "pnagent-temporal-"); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
	code := m.Run()
	os.RemoveAll(binaries) //nolint:errcheck // a temporary directory
	os.Exit(code)
}
