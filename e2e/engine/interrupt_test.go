// SPDX-License-Identifier: Apache-2.0

package engine

import (
	"errors"
	"fmt"
	"syscall"
	"testing"

	"github.com/pnagent/pnagent/e2e/kit"
)

// reviewBPMN waits for a user, and continues without the answer after a time.
const reviewBPMN = `<definitions xmlns="http://www.omg.org/spec/BPMN/20100524/MODEL"><process id="review">
  <startEvent id="start"/><serviceTask id="ask"/><endEvent id="answered"/><endEvent id="escalated"/>
  <boundaryEvent id="late" attachedToRef="ask"><timerEventDefinition><timeDuration>%s</timeDuration></timerEventDefinition></boundaryEvent>
  <sequenceFlow id="f1" sourceRef="start" targetRef="ask"/><sequenceFlow id="f2" sourceRef="ask" targetRef="answered"/>
  <sequenceFlow id="f3" sourceRef="late" targetRef="escalated"/>
</process></definitions>
`

// hangingBindings ask a program that does not answer and does not want to end.
const hangingBindings = `nets: {review: {transitions: {ask: {command: [sh, -c, "trap '' TERM; sleep 600"], timeout: 1h}}}}`

// A boundary timer event interrupts a task whose program hangs: the program
// ends, and the process goes the timer's way.
func TestABoundaryTimerInterruptsAProgramThatHangs(t *testing.T) {
	t.Parallel()
	r := kit.Pnagent(t, "engine", "--instances", "3", "--firings", "1000", "--bindings", kit.Write(t, "b.yaml", hangingBindings), kit.Write(t, "review.bpmn", fmt.Sprintf(reviewBPMN, "PT0.5S")))
	did := kit.ParseReport(t, r.Out).Nets["review"]
	if r.Code != 0 || did.Tokens["escalated/end"] != 3 || len(did.Tokens) != 1 || did.Transitions["late"] != 3 || did.Transitions["ask"] != 0 {
		t.Errorf("got exit code %d, %+v; want 0, and three tokens escalated by the timer", r.Code, did)
	}
}

// An engine that is stopped does not wait for programs that hang, and does not lose
// their tokens.
func TestAnEngineStopsAlthoughItsProgramsHang(t *testing.T) {
	t.Parallel()
	natsURL := kit.StartNATS(t)
	side := kit.Serve(t, natsURL, "--mib-dir", "")
	e := kit.RunEngine(t, natsURL, "desk", "--instances", "3", "--bindings", kit.Write(t, "b.yaml", hangingBindings), kit.Write(t, "review.bpmn", fmt.Sprintf(reviewBPMN, "PT1H")))
	kit.Until(t, "three programs run", func() error {
		if n, _ := side.Scrape(t).Value("petrinet_transition_running", "net", "review", "transition", "ask"); n != 3 {
			return fmt.Errorf("%v run", n)
		}
		return nil
	})
	e.Signal(t, syscall.SIGTERM)
	if did := e.End(t).Nets["review"]; did.Tokens["ask/active"] != 3 || len(did.Tokens) != 1 {
		t.Errorf("%+v", did)
	}
	kit.Until(t, "the cancels are shown", func() error {
		if n, _ := side.Scrape(t).Value("petrinet_transition_cancels_total", "net", "review", "transition", "ask"); n != 3 {
			return errors.New(fmt.Sprint(n, " are"))
		}
		return nil
	})
}
