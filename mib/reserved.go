// SPDX-License-Identifier: Apache-2.0

package mib

import (
	"strings"
	"sync"
)

// reservedWords may not be descriptors: the keywords of RFC 2578 section 3.7
// without a hyphen, and words that net-snmp's parser reads as keywords
// wherever they stand.
const reservedWords = `
absent access any application augments begin bit bits boolean by choice component components counter32 counter64
default defined definitions defval description end enumerated enterprise explicit exports external false from group
gauge32 identifier implicit implied imports includes index integer integer32 ipaddress max min module null object
objects octet of optional organization opaque present real reference revision sequence set size status string
supports syntax tags true timeticks units universal unsigned32 variables variation with
current deprecated mandatory obsolete counter gauge networkaddress uinteger32 nsapaddress macro read write
`

// importedNames are defined by the modules that a net's module imports from,
// directly or not (SNMPv2-SMI, SNMPv2-TC and SNMP-FRAMEWORK-MIB), or built into
// libsmi. A tool that loads them beside it would have two of one name.
const importedNames = `
iso ccitt jointisoccitt org dod internet directory mgmt transmission experimental private enterprises security snmpv2
snmpdomains snmpproxys snmpmodules zerodotzero objectname notificationname objectsyntax simplesyntax applicationsyntax
displaystring physaddress macaddress truthvalue testandincr autonomoustype instancepointer variablepointer rowpointer
rowstatus timestamp timeinterval dateandtime storagetype tdomain taddress
snmpframeworkmib snmpengineid snmpsecuritymodel snmpmessageprocessingmodel snmpsecuritylevel snmpadminstring
snmpframeworkadmin snmpframeworkmibobjects snmpframeworkmibconformance snmpengine snmpengineboots snmpenginetime
snmpenginemaxmessagesize snmpauthprotocols snmpprivprotocols snmpframeworkmibcompliances snmpframeworkmibgroups
snmpframeworkmibcompliance snmpenginegroup
objectidentifier octetstring integer64 unsigned64 float32 float64 float128 enum pointer
`

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
