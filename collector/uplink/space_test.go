// SPDX-License-Identifier: Apache-2.0

package uplink

import "testing"

func TestAnUplinkDoesNotPublishToItsOwnCollector(t *testing.T) {
	for up, refused := range map[string]bool{"own": true, "own.shared": true, "own.shared.x": true, "own.other": false, "owner": false, "root": false} {
		if err := CheckSpace(up, "own"); (err != nil) != refused {
			t.Errorf("%s: %v; refused should be %t", up, err, refused)
		}
	}
}
