// SPDX-License-Identifier: Apache-2.0

package petritest

import _ "embed"

//go:embed claims.bpmn
var claims string

// Claims returns a BPMN file with 62 elements besides flows, and its diagrams: the process
// "claims", in whose user task "decide" instances wait, with the collapsed sub-process
// "payout" and the call activity "archive", which calls the process "archiving".
func Claims() string { return claims }
