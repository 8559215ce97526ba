// SPDX-License-Identifier: Apache-2.0

// Package mibs carries the generated MIB modules of the example nets and the
// lock that their numbers come from. "make generate" writes them. It also has stubs of the
// base modules that all of them import from.
package mibs

import "embed"

// Lock is the text of oids.lock.
//
//go:embed oids.lock
var Lock []byte

// Base has in its directory smi what the generated modules need of SNMPv2-SMI, SNMPv2-TC,
// SNMPv2-CONF and SNMP-FRAMEWORK-MIB, a file for each, named as the module is. These are
// enough to read the generated modules; the modules of the RFCs replace them.
//
//go:embed smi
var Base embed.FS
