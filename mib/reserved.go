// SPDX-License-Identifier: Apache-2.0

package mib

import (
	_ "embed"
	"strings"
	"sync"
)

// reservedWords may not be descriptors: the keywords of RFC 2578 section 3.7
// without a hyphen, and words that net-snmp's parser reads as keywords
// wherever they stand.
//
//go:embed reserved_keywords.txt
var reservedWords string

// importedNames are defined by the modules that a net's module imports from,
// directly or not (SNMPv2-SMI, SNMPv2-TC and SNMP-FRAMEWORK-MIB), or built into
// libsmi. A tool that loads them beside it would have two of one name.
//
//go:embed reserved_imported.txt
var importedNames string

// reservedNames returns the descriptors that no place, transition or net may get, in lower
// case: keywords, names of the imported modules, and those of PETRINET-MIB. Callers must not
// change the map.
var reservedNames = sync.OnceValue(func() map[string]bool {
	reserved := map[string]bool{}
	for _, w := range strings.Fields(reservedWords + importedNames) {
		reserved[w] = true
	}
	for _, name := range petrinetNames() {
		reserved[strings.ToLower(name)] = true
	}
	return reserved
})
