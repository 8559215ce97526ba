// SPDX-License-Identifier: Apache-2.0

package pnml

import (
	"bytes"
	"encoding/binary"
	"errors"
	"os"
	"testing"

	"github.com/pnagent/pnagent/petri"
)

// For any bytes, Read returns valid nets that Write and Read keep, or an error that
// consists of faults.
func FuzzRead(f *testing.F) {
	for _, seed := range []string{
		net(`<place id="p" marking="1" positionX="1" positionY="2"/><transition id="t" priority="2"/><arc id="a" source="p" target="t" type="tapnInhibitor" weight="2"/>`),
		net(`<page id="g"><name><text>x</text></name><place id="p"><name><text> a&#13;
b </text></name><initialMarking><value>Default,2,Red,0</value></initialMarking><graphics><position x="1e3" y="-.5"/></graphics></place></page>`),
		net(`<referencePlace id="r" ref="s"/><referencePlace id="s" ref="p"/><place id="p"/><transition id="t"/><arc id="a" source="t" target="r" type="prohibit"/>`),
		pt("", `<type value="join"/><toolspecific tool="pnagent" version="1"><default/></toolspecific>`),
		net(`<transition id="t"><toolspecific tool="pnagent" version="1"><guard value=" a"/><trigger kind="delay" micros="5" name="x"/><preempts/></toolspecific></transition><place id="p"/><arc id="a" source="t" target="p" type="branch"><toolspecific tool="pnagent" version="1"><guard value="g"/></toolspecific></arc>`),
		net(`<toolspecific tool="pnagent" version="1"><shared/><scope id="s"><apart/><local value="a"/></scope></toolspecific><place id="p"><toolspecific tool="pnagent" version="1"><scope value="s"/><around/></toolspecific></place>`),
		pt("", `<type value="reset"/><inscription><text>0</text></inscription>`),
		pt("", `<arctype><text>test</text></arctype><inscription><variable>x</variable></inscription>`),
		net(`<place id="p"><hlinitialMarking><structure/></hlinitialMarking><capacity><value>1</value></capacity></place>`),
		`<?xml version="1.0" encoding="ISO-8859-1"?><q:pnml xmlns:q="u"><q:net id="` + "\xe9" + `"><q:documentation>x</q:documentation></q:net></q:pnml>`,
		subProcess(`<page id="s"><net><place id="in"/><place id="out"/><transition id="a"/><arc id="3" source="in" target="a"/></net></page>`),
		"\ufeff<!DOCTYPE pnml SYSTEM 'x'><pnml><net id='a'/><net id='b' type='x'/></pnml>",
		"<!DOCTYPE pnml [<!ENTITY a 'b'>]><pnml>&a;</pnml>",
		utf16Bytes(binary.LittleEndian, "\ufeff"+net(`<place id="ä"/>`)),
	} {
		f.Add([]byte(seed))
	}
	for _, path := range corpusFiles(f) {
		if content, err := os.ReadFile(path); err == nil && len(content) < 4096 {
			f.Add(content)
		}
	}
	f.Fuzz(func(t *testing.T, content []byte) {
		file, err := Read(bytes.NewReader(content), "fuzz", Limits{Depth: 50, Nodes: 1000, Nets: 10})
		if err != nil {
			var fault *petri.Fault
			if file != nil || !errors.As(err, &fault) {
				t.Errorf("file %v, error %v", file, err)
			}
			return
		}
		for _, n := range file.Nets {
			if err := n.Validate(); err != nil {
				t.Errorf("read a net that is not valid: %v", err)
			}
			roundTrip(t, n)
		}
	})
}
