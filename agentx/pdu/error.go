// SPDX-License-Identifier: Apache-2.0

package pdu

import "fmt"

// Error is the res.error of a Response (RFC 2741 section 6.2.16). Those below
// 256 are the error-status of SNMP (RFC 3416 section 3).
type Error uint16

// The errors that a subagent sends or gets.
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

// Error is the name the RFCs give it: an Error can be returned as an error.
func (e Error) Error() string {
	switch e {
	case NoError:
		return "noError"
	case GenErr:
		return "genErr"
	case CommitFailed:
		return "commitFailed"
	case NotWritable:
		return "notWritable"
	case OpenFailed:
		return "openFailed"
	case NotOpen:
		return "notOpen"
	case IndexWrongType:
		return "indexWrongType"
	case IndexAlreadyAllocated:
		return "indexAlreadyAllocated"
	case IndexNoneAvailable:
		return "indexNoneAvailable"
	case IndexNotAllocated:
		return "indexNotAllocated"
	case UnsupportedContext:
		return "unsupportedContext"
	case DuplicateRegistration:
		return "duplicateRegistration"
	case UnknownRegistration:
		return "unknownRegistration"
	case UnknownAgentCaps:
		return "unknownAgentCaps"
	case ParseError:
		return "parseError"
	case RequestDenied:
		return "requestDenied"
	case ProcessingError:
		return "processingError"
	}
	return fmt.Sprintf("error %d", uint16(e))
}
