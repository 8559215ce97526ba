// SPDX-License-Identifier: Apache-2.0

// Package mibs carries the generated MIB modules of the example nets and the
// lock that their numbers come from. "make generate" writes them.
package mibs

import _ "embed"

// Lock is the text of oids.lock.
//
//go:embed oids.lock
var Lock []byte
