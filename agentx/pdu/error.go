// SPDX-License-Identifier: Apache-2.0

package pdu

import "fmt"

// Error is the res.error of a Response (RFC 2741 section 6.2.16). Those below
// 256 are the error-status of SNMP (RFC 3416 section 3).
type Error uint16

// The errors that a subagent sends or receives.
const (
	NoError               Error = 0
	GenErr                Error = 5
	CommitFailed          Error = 14
	NotWritable           Error = 17
	OpenFailed            Error = 256
	NotOpen               Error = 257
	IndexWrongType        Error = 258
	IndexAlreadyAllocated Error = 259
	IndexNoneAvailable    Error = 260
	IndexNotAllocated     Error = 261
	UnsupportedContext    Error = 262
	DuplicateRegistration Error = 263
	UnknownRegistration   Error = 264
	UnknownAgentCaps      Error = 265
	ParseError            Error = 266
	RequestDenied         Error = 267
	ProcessingError       Error = 268
)

// Error returns the name of the error in the RFCs.
func (e Error) Error() string {
	names := [...]string{NoError: "noError", GenErr: "genErr", CommitFailed: "commitFailed", NotWritable: "notWritable",
		OpenFailed: "openFailed", NotOpen: "notOpen", IndexWrongType: "indexWrongType",
		IndexAlreadyAllocated: "indexAlreadyAllocated", IndexNoneAvailable: "indexNoneAvailable",
		IndexNotAllocated: "indexNotAllocated", UnsupportedContext: "unsupportedContext",
		DuplicateRegistration: "duplicateRegistration", UnknownRegistration: "unknownRegistration",
		UnknownAgentCaps: "unknownAgentCaps", ParseError: "parseError", RequestDenied: "requestDenied",
		ProcessingError: "processingError"}
	if int(e) < len(names) && names[e] != "" {
		return names[e]
	}
	return fmt.Sprintf("error %d", uint16(e))
}
