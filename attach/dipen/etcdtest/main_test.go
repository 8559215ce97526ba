// SPDX-License-Identifier: Apache-2.0

package etcdtest

import (
	"flag"
	"testing"
)

// The tests mostly wait, so more of them run in parallel.
func TestMain(m *testing.M) {
	flag.Parse()
	if err := flag.Set("test.parallel", "6"); err != nil {
		panic(err)
	}
	m.Run()
}
