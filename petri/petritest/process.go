// SPDX-License-Identifier: Apache-2.0

package petritest

import (
	"fmt"
	"strings"
)

// Claims returns a BPMN file with 62 elements besides flows, and its diagrams: the process
// "claims", in whose user task "decide" instances wait, with the collapsed sub-process
// "payout" and the call activity "archive", which calls the process "archiving".
func Claims() string {
	p := &processFile{}
	p.shape("startEvent", "received", "Claim received", `<outgoing>f1</outgoing>`)
	for i := range 6 {
		p.choice(i)
	}
	p.shape("userTask", "decide", "Decide on the claim", "")
	for i := 6; i < 13; i++ {
		p.choice(i)
	}
	p.shape("subProcess", "payout", "Pay the claim", `<startEvent id="payStart"/><userTask id="transfer" name="Transfer the money"/><endEvent id="payEnd"/>`+
		`<sequenceFlow id="pf1" sourceRef="payStart" targetRef="transfer"/><sequenceFlow id="pf2" sourceRef="transfer" targetRef="payEnd"/>`)
	p.shape("callActivity", "archive", `Archive the file" calledElement="archiving`, "")
	p.shape("endEvent", "settled", "Claim settled", "")
	const inner = `<bpmndi:BPMNDiagram id="%[1]sDiagram"><bpmndi:BPMNPlane id="%[1]sPlane" bpmnElement="%[1]s">` +
		`<bpmndi:BPMNShape id="%[2]sShape" bpmnElement="%[2]s"><dc:Bounds x="100" y="102" width="36" height="36"/></bpmndi:BPMNShape>` +
		`<bpmndi:BPMNShape id="%[3]sShape" bpmnElement="%[3]s"><dc:Bounds x="200" y="80" width="100" height="80"/></bpmndi:BPMNShape>` +
		`<bpmndi:BPMNShape id="%[4]sShape" bpmnElement="%[4]s"><dc:Bounds x="364" y="102" width="36" height="36"/></bpmndi:BPMNShape>` +
		`<bpmndi:BPMNEdge id="%[5]sEdge" bpmnElement="%[5]s"><di:waypoint x="136" y="120"/><di:waypoint x="200" y="120"/></bpmndi:BPMNEdge>` +
		`<bpmndi:BPMNEdge id="%[6]sEdge" bpmnElement="%[6]s"><di:waypoint x="300" y="120"/><di:waypoint x="364" y="120"/></bpmndi:BPMNEdge></bpmndi:BPMNPlane></bpmndi:BPMNDiagram>`
	return `<?xml version="1.0" encoding="UTF-8"?>` + "\n" + `<definitions xmlns="http://www.omg.org/spec/BPMN/20100524/MODEL" xmlns:bpmndi="http://www.omg.org/spec/BPMN/20100524/DI" ` +
		`xmlns:dc="http://www.omg.org/spec/DD/20100524/DC" xmlns:di="http://www.omg.org/spec/DD/20100524/DI" id="file" targetNamespace="urn:pnagent:test">` +
		`<process id="claims" name="Claims">` + p.elements.String() + `</process>` +
		`<process id="archiving" name="Archiving"><startEvent id="archiveStart"/><userTask id="scan" name="Scan the papers"/><endEvent id="archiveEnd"/>` +
		`<sequenceFlow id="af1" sourceRef="archiveStart" targetRef="scan"/><sequenceFlow id="af2" sourceRef="scan" targetRef="archiveEnd"/></process>` +
		`<bpmndi:BPMNDiagram id="claimsDiagram"><bpmndi:BPMNPlane id="claimsPlane" bpmnElement="claims">` + p.drawn.String() + `</bpmndi:BPMNPlane></bpmndi:BPMNDiagram>` +
		fmt.Sprintf(inner, "payout", "payStart", "transfer", "payEnd", "pf1", "pf2") +
		fmt.Sprintf(inner, "archiving", "archiveStart", "scan", "archiveEnd", "af1", "af2") + `</definitions>`
}

// processFile is a process of one sequence, drawn in rows.
type processFile struct {
	elements, drawn strings.Builder
	last            string // the element before the next one
	from            [2]int // where a flow leaves it
	x, y, flows     int
}

// shape adds an element behind the last one.
func (p *processFile) shape(kind, id, name, content string) {
	w, h := 100, 80
	if strings.HasSuffix(kind, "Event") {
		w, h, content = 36, 36, ""
	}
	p.add(kind, id, name, content, p.x, p.y-h/2, w, h)
	p.follow(id, [2]int{p.x, p.y}, [2]int{p.x + w, p.y})
	p.x += w + 60
}

// follow leads a flow from the last element to the next, which is left at another point.
func (p *processFile) follow(id string, in, out [2]int) {
	if p.last != "" {
		way := [][2]int{p.from, in}
		if p.from[1] != in[1] { // in the next row
			way = [][2]int{p.from, {p.from[0] + 30, p.from[1]}, {p.from[0] + 30, p.from[1] + 110}, {in[0] - 30, p.from[1] + 110}, {in[0] - 30, in[1]}, in}
		}
		p.flow(p.last, id, way...)
	}
	p.last, p.from = id, out
}

func (p *processFile) add(kind, id, name, content string, x, y, w, h int) {
	fmt.Fprintf(&p.elements, `<%s id="%s" name="%s">%s</%s>`, kind, id, name, content, kind)
	fmt.Fprintf(&p.drawn, `<bpmndi:BPMNShape id="%sShape" bpmnElement="%s"><dc:Bounds x="%d" y="%d" width="%d" height="%d"/></bpmndi:BPMNShape>`, id, id, x, y, w, h)
}

func (p *processFile) flow(from, to string, way ...[2]int) {
	p.flows++
	fmt.Fprintf(&p.elements, `<sequenceFlow id="f%d" sourceRef="%s" targetRef="%s"/>`, p.flows, from, to)
	fmt.Fprintf(&p.drawn, `<bpmndi:BPMNEdge id="f%dEdge" bpmnElement="f%d">`, p.flows, p.flows)
	for _, at := range way {
		fmt.Fprintf(&p.drawn, `<di:waypoint x="%d" y="%d"/>`, at[0], at[1])
	}
	p.drawn.WriteString(`</bpmndi:BPMNEdge>`)
}

// choice adds a gateway, two tasks of which one is done, and the gateway behind them.
func (p *processFile) choice(i int) {
	if i%4 == 0 && i > 0 { // the next row
		p.x, p.y = 0, p.y+280
	}
	split, merge, x, y := fmt.Sprintf("ask%d", i), fmt.Sprintf("asked%d", i), p.x, p.y
	p.add("exclusiveGateway", split, "", "", x, y-25, 50, 50)
	p.follow(split, [2]int{x, y}, [2]int{x + 50, y})
	for k, verb := range []string{"Check", "Skip"} {
		task, at := fmt.Sprintf("task%d%c", i, 'a'+k), y-60+120*k
		p.add("task", task, fmt.Sprintf("%s part %d", verb, i+1), "", x+90, at-40, 100, 80)
		p.flow(split, task, [2]int{x + 25, y - 25 + 50*k}, [2]int{x + 25, at}, [2]int{x + 90, at})
		p.flow(task, merge, [2]int{x + 190, at}, [2]int{x + 255, at}, [2]int{x + 255, y - 25 + 50*k})
	}
	p.add("exclusiveGateway", merge, "", "", x+230, y-25, 50, 50)
	p.last, p.from, p.x = merge, [2]int{x + 280, y}, x+340
}
