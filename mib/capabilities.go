// SPDX-License-Identifier: Apache-2.0

package mib

import (
	"strings"

	"github.com/pnagent/pnagent/mib/smi"
)

// CapsModule is the name of the module with the AGENT-CAPABILITIES of pnagent. It is a
// separate module because net-snmp's parser does not find the groups of an unfinished module.
const CapsModule = "PETRINET-CAPS-MIB"

// CapabilitiesText describes CapabilitiesID, for sysORDescr.
const CapabilitiesText = "The state of Petri nets: all of PETRINET-MIB, read-only."

const (
	capsIdentity  = "petrinetCapsMIB"
	capsStatement = "petrinetAgentCapabilities"
)

// CapabilitiesID returns the name of the AGENT-CAPABILITIES statement below a root,
// for sysORTable (RFC 2741 section 6.2.14, agentx-AddAgentCaps-PDU).
func CapabilitiesID(root smi.OID) smi.OID { return root.Append(subCaps, 1) }

// capsRevisions returns the history of PETRINET-CAPS-MIB, see petrinetRevisions.
func capsRevisions() []revision {
	return []revision{
		{date: "202611251900Z", digest: "f7c510fa30bb6b9f", text: "First version."},
	}
}

func capsModuleIdentity(revisions []revision) identity {
	return identity{
		module: CapsModule, name: capsIdentity, parent: "petrinetRoot", sub: subCaps, contact: Contact, revisions: revisions,
		text: "The part of PETRINET-MIB that pnagent serves. The sysORTable of the SNMP master agent has the name of the statement while " +
			"pnagent is connected: without it, no agent answers for Petri nets.",
	}
}

// CapsMIB returns the text of PETRINET-CAPS-MIB. It does not depend on the
// root, which PETRINET-MIB names.
func CapsMIB() []byte { return capsText().text(capsModuleIdentity(capsRevisions())) }

func capsText() *moduleText {
	of := &petrinetText{moduleText: newModuleText(), root: enterprises().Append(1, 1)}
	of.write()
	m := newModuleText()
	m.use("AGENT-CAPABILITIES")
	m.printf("%s AGENT-CAPABILITIES\n    PRODUCT-RELEASE\n        \"pnagent; pnAgentVersion is the version.\"\n", capsStatement)
	m.printf("    STATUS      current\n%s", descriptionClause("Every group of PETRINET-MIB. An object that no source of a net reports has no "+
		"instance. Nothing can be written."))
	m.printf("    SUPPORTS    %s\n    INCLUDES    {\n        %s\n    }\n", PetrinetModule, strings.Join(of.groups, ",\n        "))
	m.printf("    ::= { %s 1 }\n\n", capsIdentity)
	return m
}
