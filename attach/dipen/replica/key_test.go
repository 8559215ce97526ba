// SPDX-License-Identifier: Apache-2.0

package replica

import (
	"strings"
	"testing"
)

func TestKeysAreReadAsDiPeNWritesThem(t *testing.T) {
	for key, want := range map[string]Key{
		"place_ids/raw":                       {Kind: KindPlace, Name: "raw"},
		"place_ids/pallet/1":                  {Kind: KindPlace, Name: "pallet/1"},
		"transition_ids/mill":                 {Kind: KindTransition, Name: "mill"},
		"transition_ids/mill/region":          {Kind: KindRegion, Name: "mill"},
		"id_generator/to":                     {Kind: KindGenerator, Name: "to"},
		"region/north/election/694d81ab":      {Kind: KindElection, Name: "north", Lease: 0x694d81ab},
		"region/a/election/b/election/1f":     {Kind: KindElection, Name: "a/election/b", Lease: 0x1f},
		"pl/3/17":                             {Kind: KindToken, Place: 3, Token: 17},
		"pl/3/18446744073709551615":           {Kind: KindToken, Place: 3, Token: 1<<64 - 1},
		"pl/3/17/2":                           {Kind: KindTaken, Place: 3, Token: 17, Transition: 2},
		"pl/3/lock/694d81ab":                  {Kind: KindLock, Place: 3, Lease: 0x694d81ab},
		"transition_ids/" + "x/region/region": {Kind: KindRegion, Name: "x/region"},
	} {
		if got, fault := ParseKey(key); got != want || fault != FaultNone {
			t.Errorf("%s: %+v, %q; want %+v", key, got, fault, want)
		}
	}
}

func TestOtherKeysAreRejectedWithAReason(t *testing.T) {
	for key, want := range map[string]Fault{
		"": FaultForeign, "pl": FaultForeign, "pl/": FaultForeign, "pl/1": FaultForeign, "pl/1/2/3/4": FaultForeign, "lock": FaultForeign,
		"place_ids/": FaultForeign, "id_generator/xx": FaultForeign, "region/north": FaultForeign, "region//election/1": FaultForeign,
		"pl/x/1": FaultBadID, "pl/1/x": FaultBadID, "pl/1/2/x": FaultBadID, "pl/01/1": FaultBadID, "pl/1/+1": FaultBadID, "pl/1/": FaultBadID,
		"pl/1/18446744073709551616": FaultBadID, "pl/1/lock/FF": FaultBadID, "region/n/election/XYZ": FaultBadID, "pl/1/lock": FaultBadID,
		"place_ids/" + strings.Repeat("x", MaxKey): FaultLong,
	} {
		if got, fault := ParseKey(key); fault != want {
			t.Errorf("%.40q: %+v, %q; want %q", key, got, fault, want)
		}
	}
}
