// SPDX-License-Identifier: Apache-2.0

// Package uel evaluates UEL, the Unified Expression Language of Java (JSR-341), as BPMN
// files of Camunda 7, Activiti and Flowable use it. It is pure.
//
//	p, err := uel.Compile(`${amount gt 100 and not empty items}`)
//	v, err := p.Eval(variable)
//
// Values are coerced as JSR-341 says (1.23): 5 == '5' is true, null + 1 is 1, 7 / 2 is 3.5.
// Whole numbers are of 64 bits and wrap around as in Java; others are of type Double. Texts
// count in UTF-16.
//
// Besides operators there are the methods of Java's texts, numbers, lists and maps that files use;
// Flowable's functions vars:get(x), vars:eq(x, 1) and others; Camunda's now() and dateTime();
// and execution.getVariable('x') and execution.businessKey. docs/design/expressions.md has them all.
// Another function or method is a
// mistake in the text, as are lambdas, assignments and instanceof.
//
// A variable that does not exist is an error, as engines have it; a property that does
// not exist is null. Bounds: 100 levels of nesting, texts of 64 KiB; without loops, the
// length of the text bounds the rest.
package uel
