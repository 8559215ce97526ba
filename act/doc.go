// SPDX-License-Identifier: Apache-2.0

// Package act lets a person act on one instance of a net that an engine runs: fire a
// transition, inject tokens, retry an incident. It takes the names that all faces show.
//
// [Client.Do] asks the sources of the net which of them has the instance, reads the
// instance from it and the definition of the net, and sends the request there. A dry run
// ends before the request. What happened is an [Outcome]; the error names what was found
// and what was expected. Requests of [Client.Do] are those of docs/wire.md, with the
// headers of telemetry.Who, which engines write into their audit logs.
//
// [Line] is the command line of a request: the page, the runbooks and the tests show what
// it returns.
//
// A net in parts has an instance in several sources: each part has some transitions, or
// some instances. A request is sent to one part after the other until one of them has the
// place or transition. An engine that does not have it changes nothing.
package act
