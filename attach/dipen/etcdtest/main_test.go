// SPDX-License-Identifier: Apache-2.0

package etcdtest

import (
	"flag"
	"testing"
)

// Tests wait more than they work, so more of them run at a time.
func TestMain(m *testing.M) {
	flag.Parse()
	if err := flag.Set("test.parallel", "6"); err != nil {
		panic(err)
	}
	m.Run()
}
