// SPDX-License-Identifier: Apache-2.0

package replica

import (
	"strconv"
	"strings"
)

// Kind is the kind of a key.
type Kind uint8

// The kinds of keys, without the prefix.
const (
	KindPlace      Kind = iota // place_ids/<name>: the value is the place's id
	KindTransition             // transition_ids/<name>: the value is the transition's id
	KindRegion                 // transition_ids/<name>/region: the value is the region's name
	KindGenerator              // id_generator/{pl,tr,to}
	KindElection               // region/<region>/election/<lease>
	KindToken                  // pl/<p>/<t>
	KindTaken                  // pl/<p>/<t>/<tr>
	KindLock                   // pl/<p>/lock/<lease>
)

// Key is a parsed key.
type Key struct {
	Kind       Kind
	Name       string // of the place or transition; of the region for KindElection
	Place      uint64
	Token      uint64
	Transition uint64
	Lease      uint64
}

// MaxKey is the largest length of a key without the prefix, in bytes.
const MaxKey = 1024

// Fault is why a key or its value is skipped.
type Fault string

// The faults, which are also label values of a metric.
const (
	FaultNone       Fault = ""
	FaultForeign    Fault = "foreign"     // a key that DiPeN does not write
	FaultBadID      Fault = "bad_id"      // an id that is not a decimal number, or a lease that is not hex
	FaultLong       Fault = "long"        // a key of more than MaxKey bytes
	FaultRoom       Fault = "no_room"     // a token, name or region beyond the limits
	FaultUnseen     Fault = "unseen"      // the end of a token or run whose start was not seen
	FaultOldRunning Fault = "lost_run"    // a run that ended in a gap of the history: a firing or a cancel
	FaultBadName    Fault = "bad_name"    // a name that is invalid in a net; its id is shown instead
	FaultBadValue   Fault = "bad_value"   // a change whose key is not in base64 or has no revision
	FaultLongLine   Fault = "long_answer" // an answer that is too large to read
)

// ParseKey parses a key without its prefix.
func ParseKey(key string) (Key, Fault) {
	if len(key) > MaxKey {
		return Key{}, FaultLong
	}
	head, rest, found := strings.Cut(key, "/")
	if !found || rest == "" {
		return Key{}, FaultForeign
	}
	switch head {
	case "place_ids":
		return Key{Kind: KindPlace, Name: rest}, FaultNone
	case "transition_ids":
		if name, is := strings.CutSuffix(rest, "/region"); is && name != "" {
			return Key{Kind: KindRegion, Name: name}, FaultNone
		}
		return Key{Kind: KindTransition, Name: rest}, FaultNone
	case "id_generator":
		if rest == "pl" || rest == "tr" || rest == "to" {
			return Key{Kind: KindGenerator, Name: rest}, FaultNone
		}
	case "region":
		return election(rest)
	case "pl":
		return placeKey(rest)
	}
	return Key{}, FaultForeign
}

// election parses <region>/election/<lease>, where a region may contain slashes.
func election(rest string) (Key, Fault) {
	const middle = "/election/"
	at := strings.LastIndex(rest, middle)
	if at <= 0 {
		return Key{}, FaultForeign
	}
	lease, ok := hexID(rest[at+len(middle):])
	if !ok {
		return Key{}, FaultBadID
	}
	return Key{Kind: KindElection, Name: rest[:at], Lease: lease}, FaultNone
}

// placeKey parses the part of a key after pl/.
func placeKey(rest string) (Key, Fault) {
	parts := strings.Split(rest, "/")
	if len(parts) < 2 || len(parts) > 3 {
		return Key{}, FaultForeign
	}
	k := Key{Kind: KindToken}
	var ok bool
	if k.Place, ok = ID(parts[0]); !ok {
		return Key{}, FaultBadID
	}
	if parts[1] == "lock" && len(parts) == 3 {
		if k.Lease, ok = hexID(parts[2]); !ok {
			return Key{}, FaultBadID
		}
		k.Kind = KindLock
		return k, FaultNone
	}
	if k.Token, ok = ID(parts[1]); !ok {
		return Key{}, FaultBadID
	}
	if len(parts) == 3 {
		if k.Transition, ok = ID(parts[2]); !ok {
			return Key{}, FaultBadID
		}
		k.Kind = KindTaken
	}
	return k, FaultNone
}

// ID parses an id as DiPeN writes it: a decimal number in its shortest form, so
// that each token has one key.
func ID(text string) (uint64, bool) { return number(text, 10) }

// hexID parses a lease, in lower-case hex.
func hexID(text string) (uint64, bool) { return number(text, 16) }

func number(text string, base int) (uint64, bool) {
	n, err := strconv.ParseUint(text, base, 64)
	return n, err == nil && strconv.FormatUint(n, base) == text
}
