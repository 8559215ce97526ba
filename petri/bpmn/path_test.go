// SPDX-License-Identifier: Apache-2.0

package bpmn

import "testing"

func TestThePathOfAResultBeginsAtAVariable(t *testing.T) {
	for expression, want := range map[string]string{
		"=a": "a", "= a ": "a", "=_a1.b . c": "_a1", "=für.x": "für", "=`a b`": "a b", "= `a.b` .c": "a.b",
		"a": "", "": "", "=": "", "=1": "", "=a+1": "", "=a.": "", "=a..b": "", "=a.1": "", "=`a": "", "=``": "", "=`a`b": "", "=f(x)": "", "=a b": "",
	} {
		if is := variableOf(expression); is != want {
			t.Errorf("%q begins at %q; expected %q", expression, is, want)
		}
	}
}
