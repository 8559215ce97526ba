// SPDX-License-Identifier: Apache-2.0

package sample

import "testing"

func TestSample(t *testing.T) {
	if !Tested(9) || Tested(10) {
		t.Error("the bound is not 10")
	}
	Missed(3)
	Endless()
}
