// SPDX-License-Identifier: Apache-2.0

package petri

// Decision is a decision of a DMN file, whose result data of a net can be: the expression
// dmn: value "dish" is that of the decision dish. Its expressions are texts that are not compiled here.
type Decision struct {
	ID       string
	Name     string
	Variable string // the name of its result
	File     string
	Pos      Pos

	Requires []string          // ids of the decisions of the file whose results it reads
	Names    []string          // the names of what it reads: inputs and decisions
	Types    map[string]string // of inputs and, as "order.due", of their fields, such as "date", as far as the file has them

	Table      *DecisionTable  // nil for a literal expression and a boxed context
	Entries    []DecisionEntry // of a boxed context
	Expression DecisionText    // without both
	Refused    string          // why it cannot be evaluated; "" if it can
}

// DecisionEntry is an entry of a boxed context. Those after it see its value by its name. The value of
// one without a name is that of the decision.
type DecisionEntry struct {
	Name string
	DecisionText
}

// DecisionText is the text of an expression in a decision.
type DecisionText struct {
	Text     string
	Language string // "feel" or "uel"
	Pos      Pos
}

// DecisionTable is a decision table. Each rule has a test for each input and a value for each output.
type DecisionTable struct {
	HitPolicy   HitPolicy
	Aggregation string // of Collect: "SUM", "MIN", "MAX", "COUNT", or "" for a list
	Inputs      []DecisionInput
	Outputs     []DecisionOutput
	Rules       []DecisionRule
}

// HitPolicy is which of the rules that match give the result of a table.
type HitPolicy string

// The hit policies of DMN (1.5, 8.2.8).
const (
	Unique      HitPolicy = "UNIQUE"
	AnyHit      HitPolicy = "ANY"
	PriorityHit HitPolicy = "PRIORITY"
	First       HitPolicy = "FIRST"
	Collect     HitPolicy = "COLLECT"
	RuleOrder   HitPolicy = "RULE ORDER"
	OutputOrder HitPolicy = "OUTPUT ORDER"
)

// Several reports whether the result of the table is a list.
func (t *DecisionTable) Several() bool {
	return t.HitPolicy == RuleOrder || t.HitPolicy == OutputOrder || t.HitPolicy == Collect && t.Aggregation == ""
}

// DecisionInput is an input of a table.
type DecisionInput struct {
	DecisionText
	Type string // of its values, such as "date"; "" if the file has none
}

// DecisionOutput is an output of a table.
type DecisionOutput struct {
	Name    string
	Values  DecisionText // the allowed values by their priority, separated by commas; "" if the file has none
	Default DecisionText // "" if there is none
}

// DecisionRule is a rule of a table.
type DecisionRule struct {
	Tests  []DecisionText
	Values []DecisionText
	Pos    Pos
}
