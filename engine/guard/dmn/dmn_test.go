// SPDX-License-Identifier: Apache-2.0

package dmn

import (
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/pnagent/pnagent/engine/guard/feel"
	"github.com/pnagent/pnagent/petri"
	"github.com/pnagent/pnagent/petri/dmn"
)

// now is Saturday 2026-01-31, 10:00 UTC.
var now = time.Unix(1769853600, 0)

// tableOf returns a file with a decision d: rows are rules, with entries between bars, inputs before outputs.
func tableOf(attrs string, inputs, outputs []string, rows ...string) string {
	var b strings.Builder
	b.WriteString(`<definitions xmlns="https://www.omg.org/spec/DMN/20191111/MODEL/" id="f">` + "\n" + `<decision id="d" name="The decision">` + "\n<decisionTable " + attrs + ">\n")
	for _, in := range inputs {
		name, typ, _ := strings.Cut(in, ":")
		fmt.Fprintf(&b, "<input><inputExpression typeRef=%q><text>%s</text></inputExpression></input>\n", typ, name)
	}
	for _, out := range outputs {
		name, values, _ := strings.Cut(out, ":")
		fmt.Fprintf(&b, "<output name=%q>", name)
		if values != "" {
			fmt.Fprintf(&b, "<outputValues><text>%s</text></outputValues>", values)
		}
		b.WriteString("</output>\n")
	}
	for _, row := range rows {
		b.WriteString("<rule>")
		for i, cell := range strings.Split(row, "|") {
			kind := "inputEntry"
			if i >= len(inputs) {
				kind = "outputEntry"
			}
			cell = strings.NewReplacer("<", "&lt;", "&", "&amp;").Replace(strings.TrimSpace(cell))
			fmt.Fprintf(&b, "<%s><text>%s</text></%s>", kind, cell, kind)
		}
		b.WriteString("</rule>\n")
	}
	b.WriteString("</decisionTable></decision></definitions>")
	return b.String()
}

func decide(t testing.TB, file, id, data string) (*Result, error) {
	t.Helper()
	all, err := dmn.Read(strings.NewReader(file), "d.dmn", dmn.DefaultLimits())
	if err != nil {
		return nil, err
	}
	d, err := Compile(all, id)
	if err != nil {
		return nil, err
	}
	return d.Eval(now, variables(t, data))
}

func variables(t testing.TB, data string) func(string) (any, bool) {
	t.Helper()
	d := json.NewDecoder(strings.NewReader(data))
	d.UseNumber()
	var vars map[string]any
	if err := d.Decode(&vars); err != nil {
		t.Fatal(err)
	}
	return func(name string) (any, bool) { v, ok := vars[name]; return v, ok }
}

func jsonOf(t testing.TB, v any) string {
	t.Helper()
	out, err := json.Marshal(feel.Export(v))
	if err != nil {
		t.Fatal(err)
	}
	return string(out)
}

// The hit policies of DMN 1.5, 8.2.8 and 8.2.11.
func TestHitPolicies(t *testing.T) {
	size := []string{`> 10 | "big" | 1`, `> 100 | "huge" | 2`, `> 1000 | "huge" | 2`}
	ranked := []string{`size:"huge", "big"`, "rate"}
	plain := []string{"size", "rate"}
	one := []string{"rate"}
	rates := []string{`> 10 | 1`, `> 100 | 2.5`, `> 1000 | 2.5`}
	for _, c := range []struct {
		policy  string
		outputs []string
		rows    []string
		n       int
		want    string
	}{
		{"", plain, size, 50, `{"rate":1,"size":"big"}`},
		{`hitPolicy="UNIQUE"`, one, rates, 50, `1`},
		{`hitPolicy="UNIQUE"`, one, rates, 5, `null`},
		{`hitPolicy="UNIQUE"`, one, rates, 500, "d.dmn:7:1: decision \"d\": the rules 1 and 2 match, with the hit policy UNIQUE; expected at most one"},
		{`hitPolicy="ANY"`, plain, size[1:], 5000, `{"rate":2,"size":"huge"}`},
		{`hitPolicy="ANY"`, plain, size, 500, "the rules 1 and 2 match with different outputs, with the hit policy ANY; expected equal ones"},
		{`hitPolicy="FIRST"`, plain, size, 5000, `{"rate":1,"size":"big"}`},
		{`hitPolicy="PRIORITY"`, ranked, size, 500, `{"rate":2,"size":"huge"}`},
		{`hitPolicy="OUTPUT ORDER"`, ranked, size, 500, `[{"rate":2,"size":"huge"},{"rate":1,"size":"big"}]`},
		{`hitPolicy="PRIORITY"`, plain, size, 500, "the hit policy PRIORITY without outputValues; expected the values of an output in their order"},
		{`hitPolicy="RULE ORDER"`, one, rates, 5000, `[1,2.5,2.5]`},
		{`hitPolicy="COLLECT"`, plain, size, 500, `[{"rate":1,"size":"big"},{"rate":2,"size":"huge"}]`},
		{`hitPolicy="COLLECT" aggregation="SUM"`, one, rates, 5000, `6`},
		{`hitPolicy="COLLECT" aggregation="MIN"`, one, rates, 5000, `1`},
		{`hitPolicy="COLLECT" aggregation="MAX"`, one, rates, 5000, `2.5`},
		{`hitPolicy="COLLECT" aggregation="COUNT"`, one, rates, 5000, `3`},
		{`hitPolicy="COLLECT" aggregation="COUNT"`, one, rates, 5, `0`},
		{`hitPolicy="COLLECT" aggregation="SUM"`, one, rates, 5, `null`},
		{`hitPolicy="COLLECT" aggregation="SUM"`, one, []string{`- | "a"`}, 5, `the SUM of "[a]"; expected numbers`},
		{`hitPolicy="MANY"`, one, rates, 5, `d.dmn:3:1: the hit policy "MANY"; expected UNIQUE, ANY`},
		{`hitPolicy="COLLECT" aggregation="AVG"`, one, rates, 5, `the aggregation "AVG"; expected SUM, MIN, MAX or COUNT`},
		{`hitPolicy="COLLECT" aggregation="SUM"`, plain, size, 5, `2 outputs; expected one or more, and one with an aggregation`},
	} {
		r, err := decide(t, tableOf(c.policy, []string{"n:number"}, c.outputs, c.rows...), "d", fmt.Sprintf(`{"n": %d}`, c.n))
		switch {
		case err != nil && !strings.Contains(err.Error(), c.want):
			t.Errorf("%s of %d: %v; want %s", c.policy, c.n, err, c.want)
		case err == nil && jsonOf(t, r.Value()) != c.want:
			t.Errorf("%s of %d: %s; want %s", c.policy, c.n, jsonOf(t, r.Value()), c.want)
		}
	}
}

// Unary tests of DMN 1.5, 10.3.2.7 and what engines add.
func TestUnaryTests(t *testing.T) {
	for cell, inputs := range map[string]map[string]bool{
		`-`:                       {`1`: true, `null`: true},
		``:                        {`"x"`: true},
		`"a", "b"`:                {`"a"`: true, `"c"`: false, `null`: false},
		`not("a", "b")`:           {`"a"`: false, `"c"`: true},
		`not(< 5)`:                {`7`: true, `3`: false},
		`< 5, [10..20), > 30`:     {`4`: true, `10`: true, `20`: false, `31`: true},
		`]1..3[`:                  {`1`: false, `2`: true},
		`>= limit`:                {`7`: true, `6`: false},
		`null`:                    {`null`: true, `1`: false},
		`true`:                    {`true`: true, `false`: false},
		`? > 3 and ? < limit`:     {`5`: true, `8`: false},
		`contains(?, "an")`:       {`"Anna"`: false, `"Hanna"`: true},
		`not(contains(?, "an"))`:  {`"Hanna"`: false, `"Bob"`: true},
		`limit > 5`:               {`1`: true},
		`["a", "b"]`:              {`"b"`: true, `"c"`: false},
		`"why?"`:                  {`"why?"`: true, `"why"`: false},
		`== "BRONZE"`:             {`"BRONZE"`: true, `"GOLD"`: false},
		`!= "BRONZE"`:             {`"BRONZE"`: false, `"GOLD"`: true},
		`-5`:                      {`-5`: true, `5`: false},
		`date("2026-01-31")`:      {`"2026-01-31"`: false},
		`not(limit > 5) or false`: {`1`: false},
	} {
		for in, want := range inputs {
			r, err := decide(t, tableOf("", []string{"x:"}, []string{"y"}, cell+" | 1"), "d", `{"limit": 7, "x": `+in+`}`)
			if err != nil || (len(r.Rows) == 1) != want {
				t.Errorf("%s of %s: %v, %v; want %v", cell, in, r, err, want)
			}
		}
	}
}

func TestTextsAreWhatTheTypeOfAnInputMakesOfThem(t *testing.T) {
	for in, test := range map[string]string{`"2026-01-31"`: `x:date|date("2026-01-31")`, `"2026-01-31T10:00:00Z"`: `x:date|[@"2026-01-01"..@"2026-02-01"]`, `"2026-01-31T09:00:00Z" `: `x:dateTime|< now()`,
		`"PT1H"`: `x:feel:dayTimeDuration|< duration("PT2H")`, `"10:00:00"`: `x:time|@"10:00:00"`} {
		input, cell, _ := strings.Cut(test, "|")
		r, err := decide(t, tableOf("", []string{input}, []string{"y"}, cell+" | 1"), "d", `{"x": `+in+`}`)
		if err != nil || len(r.Rows) != 1 {
			t.Errorf("%s of %s: %v, %v", cell, in, r, err)
		}
	}
}

// The mappings of Camunda 7's documentation: "The DMN Decision Result".
func TestMappingsOfResults(t *testing.T) {
	one := tableOf(`hitPolicy="COLLECT"`, []string{"n:number"}, []string{"rate"}, `> 10 | 1`, `> 100 | 2`)
	two := tableOf(`hitPolicy="COLLECT"`, []string{"n:number"}, []string{"rate", "size"}, `> 10 | 1 | "big"`, `> 100 | 2 | "huge"`)
	for _, c := range []struct {
		file string
		n    int
		by   string
		want string
	}{
		{one, 50, "singleEntry", `1`}, {one, 5, "singleEntry", `null`}, {one, 500, "singleEntry", "2 rules match; expected at most one for singleEntry"}, {two, 50, "singleEntry", "2 outputs; expected one for singleEntry"},
		{two, 50, "singleResult", `{"rate":1,"size":"big"}`}, {two, 5, "singleResult", `null`}, {one, 500, "collectEntries", `[1,2]`}, {two, 500, "collectEntries", "2 outputs; expected one for collectEntries"},
		{two, 500, "resultList", `[{"rate":1,"size":"big"},{"rate":2,"size":"huge"}]`}, {one, 5, "resultList", `[]`},
	} {
		r, err := decide(t, c.file, "d", fmt.Sprintf(`{"n": %d}`, c.n))
		if err != nil {
			t.Fatal(err)
		}
		v, err := r.Mapped(c.by)
		if got := fmt.Sprint(err); err != nil && got != c.want || err == nil && jsonOf(t, v) != c.want {
			t.Errorf("%s of %d: %s, %v; want %s", c.by, c.n, jsonOf(t, v), err, c.want)
		}
	}
}

const required = `<definitions xmlns="https://www.omg.org/spec/DMN/20191111/MODEL/" xmlns:c="http://camunda.org/schema/1.0/dmn">
<inputData id="i1" name="guest count"/>
<decision id="season" name="Season"><literalExpression expressionLanguage="juel"><text>month == 1 ? 'Winter' : 'Summer'</text></literalExpression></decision>
<decision id="dish" name="Dish"><variable name="dish of the day"/>
<informationRequirement><requiredDecision href="#season"/></informationRequirement><informationRequirement><requiredInput href="#i1"/></informationRequirement>
<decisionTable hitPolicy="FIRST"><input><inputExpression><text>Season</text></inputExpression></input><input><inputExpression><text>guest count</text></inputExpression></input>
<output name="dish"><defaultOutputEntry><text>"Soup"</text></defaultOutputEntry></output>
<rule><inputEntry><text>"Winter"</text></inputEntry><inputEntry><text>&lt; 8</text></inputEntry><outputEntry><text>"Roast"</text></outputEntry></rule></decisionTable></decision>
<decision id="menu" name="Menu"><informationRequirement><requiredDecision href="#dish"/></informationRequirement><literalExpression><text>{main: dish, also: dish of the day, count: 1 + 1}</text></literalExpression></decision>
<decision id="a" name="A"><informationRequirement><requiredDecision href="#b"/></informationRequirement><literalExpression><text>1</text></literalExpression></decision>
<decision id="b" name="B"><informationRequirement><requiredDecision href="#a"/></informationRequirement><literalExpression><text>1</text></literalExpression></decision>
<decision id="boxed" name="Boxed"><context/></decision>
<decision id="script" name="Script"><literalExpression expressionLanguage="groovy"><text>1</text></literalExpression></decision>
<decision id="bkm" name="BKM"><knowledgeRequirement/><literalExpression><text>1</text></literalExpression></decision>
<decision id="lost" name="Lost"><informationRequirement><requiredDecision href="#none"/></informationRequirement><literalExpression><text>1</text></literalExpression></decision>
<decision id="wrong" name="Wrong"><literalExpression><text>1 +</text></literalExpression></decision>
</definitions>`

func TestRequiredDecisionsAreVariables(t *testing.T) {
	for data, want := range map[string]string{`{"month": 1, "guest count": 4}`: `{"also":"Roast","count":2,"main":"Roast"}`, `{"month": 7, "guest count": 4}`: `{"also":"Soup","count":2,"main":"Soup"}`} {
		r, err := decide(t, required, "menu", data)
		if err != nil || jsonOf(t, r.Value()) != want {
			t.Errorf("%s: %v, %v; want %s", data, r, err, want)
		}
	}
	for id, want := range map[string]string{
		"a":      `d.dmn:10:1: decision "a": it requires itself, by a → b → a`,
		"boxed":  `d.dmn:12:1: decision "boxed": its boxed context has no entries`,
		"script": `decision "script": an expression in the language "groovy"; expected FEEL or UEL`,
		"bkm":    `decision "bkm": it requires a business knowledge model`,
		"lost":   `decision "lost": it requires "none", which is not in the file`,
		"wrong":  `d.dmn:16:60: decision "wrong": the expression: line 1, column 4: found the end; expected an expression`,
		"nobody": `no decision "nobody"; expected one of a DMN file that is given beside the process`,
	} {
		if _, err := decide(t, required, id, `{}`); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v; want %s", id, err, want)
		}
	}
	var fault *petri.Fault
	if _, err := decide(t, required, "season", `{}`); !errors.As(err, &fault) || !strings.Contains(err.Error(), `d.dmn:3:88: decision "season": the expression: unknown variable "month"`) {
		t.Errorf("%v", err)
	}
}

func TestFilesThatAreNoDecisions(t *testing.T) {
	for text, want := range map[string]string{
		``: `d.dmn`, `<a/>`: `d.dmn:1:1: the root element is <a> in the namespace ""; expected <definitions> of DMN`,
		`<definitions xmlns="https://www.omg.org/spec/DMN/20191111/MODEL/"/>`:                                                                                                    `no decision in the file`,
		`<definitions xmlns="https://www.omg.org/spec/DMN/20191111/MODEL/"><decision/></definitions>`:                                                                            `a decision without an id`,
		`<definitions xmlns="https://www.omg.org/spec/DMN/20191111/MODEL/"><decision id="a"/><decision id="a"/></definitions>`:                                                   `a second decision "a", after that at 1:67`,
		`<definitions xmlns="https://www.omg.org/spec/DMN/20191111/MODEL/"><decision id="a"><decisionTable><output/><rule/></decisionTable></decision></definitions>`:            `a rule of 0 input entries and 0 output entries; expected 0 and 1`,
		`<definitions xmlns="https://www.omg.org/spec/DMN/20191111/MODEL/"><decision id="a"><decisionTable><input/><output/></decisionTable></decision></definitions>`:           `an input without an inputExpression`,
		`<definitions xmlns="https://www.omg.org/spec/DMN/20191111/MODEL/"><decision id="a"><decisionTable><output/><output name="x"/></decisionTable></decision></definitions>`: `an output without a name, of 2`,
	} {
		if _, err := dmn.Read(strings.NewReader(text), "d.dmn", dmn.DefaultLimits()); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v; want %s", text, err, want)
		}
	}
	if _, err := dmn.Read(strings.NewReader(strings.Replace(required, "1 +<", "1 +"+strings.Repeat(" 1 +", 2000)+"<", 1)), "d.dmn", dmn.DefaultLimits()); err == nil || !strings.Contains(err.Error(), "d.dmn:16:60: an expression of 8003 bytes; expected at most 4096") {
		t.Errorf("%v", err)
	}
	few := dmn.DefaultLimits()
	few.Elements = 3
	if _, err := dmn.Read(strings.NewReader(required), "d.dmn", few); err == nil || !strings.Contains(err.Error(), "more than 3 elements") {
		t.Errorf("%v", err)
	}
}

// A type whose fields are of the type itself has no end.
func TestTypesAreBounded(t *testing.T) {
	text := `<definitions xmlns="https://www.omg.org/spec/DMN/20191111/MODEL/"><itemDefinition name="t">` + strings.Repeat(`<itemComponent name="f"><typeRef>t</typeRef></itemComponent>`, 1000) +
		`</itemDefinition><inputData id="i" name="x"><variable typeRef="t"/></inputData><decision id="d"><informationRequirement><requiredInput href="#i"/></informationRequirement><literalExpression><text>x</text></literalExpression></decision></definitions>`
	if r, err := decide(t, text, "d", `{"x": {"f": 1}}`); err != nil || jsonOf(t, r.Value()) != `{"f":1}` {
		t.Errorf("%v, %v", r, err)
	}
}

func TestADecisionIsBounded(t *testing.T) {
	rows := make([]string, 2000)
	for i := range rows {
		rows[i] = `count(for x in 1..1000 return x) > 1 | 1`
	}
	if r, err := decide(t, tableOf(`hitPolicy="COLLECT"`, []string{"n:number"}, []string{"y"}, rows...), "d", `{"n": 1}`); err == nil || !strings.Contains(err.Error(), "steps") {
		t.Errorf("%v, %v", r, err)
	}
}

// An entry of a boxed context sees those before it, and the decisions that it requires; one without a name is the result.
func TestBoxedContexts(t *testing.T) {
	entry := func(name, text string) string {
		if name != "" {
			name = `<variable name="` + name + `"/>`
		}
		return "<contextEntry>" + name + "<literalExpression><text>" + text + "</text></literalExpression></contextEntry>"
	}
	for content, want := range map[string]string{
		entry("a", "x + 1") + entry("the sum", "a + x"):                `{"a":3,"the sum":5}`,
		entry("a", "x + 1") + entry("b", "a * 2") + entry("", "b + a"): `9`,
		entry("x", "x + 1") + entry("", "x"):                           `3`,
		`<contextEntry><variable name="a"/><list/></contextEntry>`:     `decision "d": its boxed context has an entry that is not a literal expression`,
		entry("a", "1 +"):                         `entry 1 of its context, "a": line 1, column 4: found the end; expected an expression`,
		entry("a", "later") + entry("later", "1"): `{"a":null,"later":1}`,
		``: `decision "d": its boxed context has no entries`,
	} {
		file := `<definitions xmlns="https://www.omg.org/spec/DMN/20191111/MODEL/"><decision id="d" name="The decision"><context>` + content + `</context></decision></definitions>`
		r, err := decide(t, file, "d", `{"x":2}`)
		got := ""
		if err == nil {
			text, _ := json.Marshal(feel.Export(r.Value()))
			got = string(text)
		}
		if err == nil && got != want || err != nil && !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %s, %v; want %s", content, got, err, want)
		}
	}
}
