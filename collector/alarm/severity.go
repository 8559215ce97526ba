// SPDX-License-Identifier: Apache-2.0

package alarm

// Severity is how serious an alarm is. Its numbers are those of ItuPerceivedSeverity
// of RFC 3877. A rule has one of Critical to Warning.
type Severity uint8

// The severities.
const (
	Cleared       Severity = 1 + iota // the alarm is over
	Indeterminate                     // not known
	Critical                          // act now: work has stopped, or the numbers cannot be trusted
	Major                             // act soon: work is lost or about to stop
	Minor                             // act today
	Warning                           // look into it
)

// severities is one more than the last Severity.
const severities = int(Warning) + 1

// Severities lists the severities of rules, the most serious first.
func Severities() []Severity { return []Severity{Critical, Major, Minor, Warning} }

// String returns the name of the severity.
func (s Severity) String() string {
	names := [severities]string{"unknown", "cleared", "indeterminate", "critical", "major", "minor", "warning"}
	if int(s) < len(names) {
		return names[s]
	}
	return names[0]
}

// SeverityNamed returns the severity of rules with a name, and whether there is one.
func SeverityNamed(name string) (Severity, bool) {
	for _, s := range Severities() {
		if s.String() == name {
			return s, true
		}
	}
	return 0, false
}

// rate sets the severity of each change by the rules.
func (m *Machine) rate(changes []Change) {
	for i := range changes {
		changes[i].Alarm.Severity = m.ruleOf(&changes[i].Alarm).Severity
	}
}

// rated returns an active alarm with what the rules, which do not change in a Machine, say
// of it.
func (m *Machine) rated(h *held) Alarm {
	r, a := m.ruleOfHeld(h), h.Alarm
	a.Severity, a.Outdated = r.Severity, h.says != ofRow || h.restored
	switch a.Kind {
	case TokenStuck, TransitionStarved:
		a.After = r.After
	case NetDeadlocked:
		a.Above = r.Above
	case FailureRatio, TransitionLoop:
		a.Above, a.Window, a.Measured = r.Above, r.Window, h.also
	case FiringMissed:
		a.After, a.LastFired = r.After, int64(h.also)
	}
	return a
}

// ruleOfHeld returns the rule of an active alarm.
func (m *Machine) ruleOfHeld(h *held) *Rule {
	if h.rule == nil {
		h.rule = new(m.ruleOf(&h.Alarm))
	}
	return h.rule
}
