// SPDX-License-Identifier: Apache-2.0

package alarms

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/pnagent/pnagent/e2e/kit"
	"github.com/pnagent/pnagent/snmp/snmptest"
)

// ticks is a process that a timer begins each two seconds, in a place where a person ends it.
const ticks = `<definitions xmlns="http://www.omg.org/spec/BPMN/20100524/MODEL" targetNamespace="urn:test">
  <process id="ticks" isExecutable="true">
    <startEvent id="tick"><timerEventDefinition><timeCycle>R/PT2S</timeCycle></timerEventDefinition></startEvent>
    <sequenceFlow id="a" sourceRef="tick" targetRef="desk"/><userTask id="desk"/>
    <sequenceFlow id="b" sourceRef="desk" targetRef="end"/><endEvent id="end"/>
  </process>
</definitions>`

const expecting = "settle: 0s\ndefaults: {stuck: off, starved: off, deadlocked: off, lost: {clear_after: 0s}, expect: {grace: 2s}}\n"

// While no instance is free a timer begins none. The sidecar sends a trap, and the alarm stays over a restart of the
// sidecar and while the engine hangs, and ends when the timer fires.
func TestAStartTimerThatBeginsNothingIsReported(t *testing.T) {
	t.Parallel()
	sink, natsURL, dir := snmptest.StartTrapd(t), kit.StartNATS(t), t.TempDir()
	flags := []string{"--mib-dir", dir, "--alarms", kit.Write(t, "alarms.yaml", expecting), "--snmp.trap-sink", sink.Addr}
	side := kit.Serve(t, natsURL, flags...)
	engine := kit.RunEngine(t, natsURL, "berlin", "--instances", "1", kit.Write(t, "ticks.bpmn", ticks))

	raised := kit.NoticeOf(sink.Wait(t, 1)[0])
	late := side.Alarms(t)
	missed := kit.Notice{Notification: kit.OIDRoot + ".1.0.22", Net: "ticks", Place: late[0].Transition, Alarm: raised.Alarm}
	if len(late) != 1 || raised != missed || late[0].Alarm != "firingMissed" || fmt.Sprint(late[0].Index) != raised.Alarm {
		t.Fatalf("the trap is %+v, and the alarms are %+v", raised, late)
	}
	due, at := late[0].Since.Time(), late[0].Raised.Time()
	if waited := at.Sub(due); waited < 2*time.Second {
		t.Errorf("raised %v after it was due; expected 2s or more", waited)
	}
	t.Logf("raised %v after it was due: %s", at.Sub(due), late[0].Text)

	side.Kill(t)
	side = kit.Serve(t, natsURL, flags...)
	engine.Pause(t)
	kit.Until(t, "the engine is lost, and the alarm is there", func() error {
		kinds := ""
		for _, a := range side.Alarms(t) {
			kinds += a.Alarm + " "
		}
		if kinds != "firingMissed sourceLost " {
			return fmt.Errorf("alarms %s", kinds)
		}
		return nil
	})
	engine.Resume(t)
	kit.Until(t, "the engine is found", func() error {
		if n := len(side.Alarms(t)); n != 1 {
			return fmt.Errorf("%d alarms", n)
		}
		return nil
	})
	kit.Request(t, kit.Connect(t, natsURL), "fire", "ticks", "berlin", `{"instance":0,"transition":"desk"}`)
	kit.Until(t, "the timer fires", func() error {
		for _, n := range sink.Wait(t, 2) {
			if got := kit.NoticeOf(n); got.Notification == kit.OIDRoot+".1.0.23" && got.Alarm == raised.Alarm && strings.Contains(textOf(n), " fired at ") {
				return nil
			}
		}
		return fmt.Errorf("no pnFiringSeen of alarm %s", raised.Alarm)
	})
}

// textOf returns pnAlarmText of a notification.
func textOf(n snmptest.Notification) string {
	for _, v := range n.Variables {
		if strings.HasPrefix(v.Name.String(), kit.AlarmTable+".9.") {
			return v.Value.Str
		}
	}
	return ""
}
