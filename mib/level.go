// SPDX-License-Identifier: Apache-2.0

package mib

import (
	"errors"
	"fmt"
	"slices"
)

// Level is how many objects each place and transition has in the module of its net.
// PETRINET-MIB has all of them in any case.
type Level string

// LevelAll has every object; LevelFew the tokens and the oldest age of a place, and the firings
// and the enabled age of a transition; LevelOne only these ages. LevelAuto is the level of the
// lock or, for a module that was never written, the first of the others with at most MostObjects.
// Only Generate with LevelAll itself gives objects to places and transitions that are not work.
const (
	LevelAuto Level = "auto"
	LevelAll  Level = "all"
	LevelFew  Level = "few"
	LevelOne  Level = "one"
)

// ErrLevel is wrapped by the error of an unknown Level.
var ErrLevel = errors.New("invalid level of objects")

// MostObjects is the largest number of objects of places and transitions in a module that
// tools read within seconds: net-snmp searches the module for each member of a group.
const MostObjects = 10_000

// longTexts is the largest number of objects in a module whose descriptions are in full.
const longTexts = 1_500

// validLevel reports whether a locked level is valid.
func validLevel(s string) bool { return slices.Contains(levels(), Level(s)) }

// levels returns the levels by the number of objects, the largest first.
func levels() []Level { return []Level{LevelAll, LevelFew, LevelOne} }

// of returns the objects of a place or transition that are in a module.
func (l Level) of(objects []object) []object {
	keep := []string{"OldestAge", "EnabledAge"}
	switch l {
	case LevelFew:
		keep = append(keep, "Tokens", "Firings")
	case LevelOne:
	default:
		return namedOnly(objects)
	}
	return slices.DeleteFunc(namedOnly(objects), func(o object) bool { return !slices.Contains(keep, o.suffix) })
}

// objects returns the number of objects of places and transitions in the module at a level.
func (n *LockedNet) objects(l Level) int {
	return len(n.places.byID)*len(l.of(objectsOf(placeColumns()))) + len(n.transitions.byID)*len(l.of(objectsOf(transitionColumns())))
}

// choose sets the level of the net's module, and reports whether it changed one that was
// published. A module from before there were levels has all objects.
func (n *LockedNet) choose(l Level) (changed bool, err error) {
	before := n.level
	if before == "" && len(n.revisions) > 0 {
		before = LevelAll
	}
	switch {
	case validLevel(string(l)):
		n.level = l
	case l != LevelAuto && l != "":
		return false, fmt.Errorf("%w: %q; expected auto, all, few or one", ErrLevel, string(l))
	case before != "":
		n.level = before
	default:
		for _, n.level = range levels() {
			if n.objects(n.level) <= MostObjects {
				break
			}
		}
	}
	return before != "" && n.level != before, nil
}
