// SPDX-License-Identifier: Apache-2.0

package main

import (
	"testing"

	"github.com/pnagent/pnagent/sidecar/doctor"
)

func TestTheDoctorNamesFlagsOfServe(t *testing.T) {
	flags, err := serveFlags()
	if err != nil {
		t.Fatal(err)
	}
	for _, name := range doctor.Flags() {
		if flags[name] == nil {
			t.Errorf("the doctor names --%s, which serve does not have", name)
		}
	}
}
