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
// Besides operators there are the methods that conditions use: size, isEmpty, contains,
// get, indexOf, containsKey and containsValue of lists and maps; equals, compareTo,
// length, startsWith, endsWith, substring and others of texts; intValue and the like of numbers;
// and execution.getVariable('x') and execution.hasVariable('x'). Another function or method is a
// mistake in the text, as are lambdas, assignments and instanceof.
//
// A variable that does not exist is an error, as engines have it; a property that does
// not exist is null. Bounds: 100 levels of nesting, texts of 64 KiB; without loops, the
// length of the text bounds the rest.
package uel
