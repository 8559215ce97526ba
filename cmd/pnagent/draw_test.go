// SPDX-License-Identifier: Apache-2.0

package main

import (
	"bytes"
	"os"
	"strings"
	"testing"
)

func TestDrawMakesAPictureOfTheNetOrOfTheProcess(t *testing.T) {
	const claim, order = "../../examples/claim.bpmn", "../../examples/order-fulfilment.pnml"
	content, err := os.ReadFile(claim)
	if err != nil {
		t.Fatal(err)
	}
	for _, tt := range []struct {
		args, want, lacks, fails string
	}{
		{claim, `class="pn"`, `class="bp"`, ""},
		{"--as net " + claim, `class="pn"`, `class="bp"`, ""},
		{"--as bpmn " + claim, `<title>Claim reported</title><desc>start event reported, tokens: 1, enabled</desc>`, `class="pn"`, ""},
		{"--as bpmn -", `<title>Approve the claim</title><desc>user task approve, tokens: 0</desc>`, `class="pn"`, ""},
		{"--as bpmn " + order, "", "", "is not of a BPMN file; expected one for --as bpmn"},
	} {
		var out, log bytes.Buffer
		code := run(t.Context(), append([]string{"draw"}, strings.Fields(tt.args)...), streams{bytes.NewReader(content), &out, &log})
		switch {
		case tt.fails != "":
			if code != 1 || !strings.Contains(log.String(), tt.fails) {
				t.Errorf("draw %s: %d, %s; expected %s", tt.args, code, log.String(), tt.fails)
			}
		case code != 0 || !strings.Contains(out.String(), tt.want) || strings.Contains(out.String(), tt.lacks):
			t.Errorf("draw %s: %d, %s%s; expected %s", tt.args, code, log.String(), out.String(), tt.want)
		}
	}
}
