// SPDX-License-Identifier: Apache-2.0

package scrape

import (
	"errors"
	"fmt"
)

// Errors of scrapes that have a Prometheus format, and not what the target had before.
var (
	errUnmapped   = errors.New("the answer has no metric of the mapping")
	errIncomplete = errors.New("the answer lacks what the target had before")
)

// whole returns an error if the last scrape cannot stand for the target: it has nothing
// of the mapping, or lost a gauge that an earlier scrape had. A gauge is lost if one of its
// series is no number, or no row of its mapping has a series for it any more. Without an
// error it notes which gauges there are.
func (s *state) whole(all families) error {
	if !s.answered(all) {
		return errUnmapped
	}
	for _, n := range s.nets {
		if err := n.lost(all); err != nil {
			return err
		}
	}
	for _, n := range s.nets {
		for _, r := range n.all {
			r.had |= r.present()
		}
	}
	return nil
}

// answered reports whether the last scrape has a series of the mapping that can be used, or
// declares a metric of it without series.
func (s *state) answered(all families) bool {
	if s.used > 0 {
		return true
	}
	for i := range s.mapping.nets {
		for _, rows := range s.mapping.nets[i].rows {
			for j := range rows {
				if rows[j].declared(all) {
					return true
				}
			}
		}
	}
	return false
}

// declared reports whether a scrape has a metric of the row, without a series.
func (r *rowMap) declared(all families) bool {
	for _, v := range r.values {
		if v == nil {
			continue
		}
		for i := range v.selectors {
			if fam, _ := all.find(v.selectors[i].name); fam != nil && len(fam.Metric) == 0 {
				return true
			}
		}
	}
	return false
}

// lost returns an error that names the first gauge that the last scrape lost.
func (n *netState) lost(all families) error {
	there := map[*rowMap]uint32{}
	for _, r := range n.all {
		there[r.m] |= r.present()
	}
	for _, r := range n.all {
		for c := range numColumns {
			bit := uint32(1) << c
			if r.had&bit == 0 || r.knows(c, all) {
				continue
			}
			switch row := tableName(r.m.table) + " " + r.id; {
			case r.bad&bit != 0:
				return fmt.Errorf("net %q, %s: %s is not a number: %w", n.id, row, specOf(c).key, errIncomplete)
			case there[r.m]&bit == 0:
				return fmt.Errorf("net %q, %s: no series for %s: %w", n.id, row, specOf(c).key, errIncomplete)
			}
		}
	}
	return nil
}

// present returns the gauges that have a series in the last scrape, as bits by column.
func (r *rowState) present() (columns uint32) {
	for c := range numColumns {
		if specOf(c).kind == gauge && r.cells[c].n > 0 {
			columns |= 1 << c
		}
	}
	return columns
}
