// SPDX-License-Identifier: Apache-2.0

package feel

import "slices"

func (p *parser) expression() node {
	defer p.Enter()()
	p.Skip()
	switch w := p.word(p.Pos); w {
	case "if":
		return p.conditional()
	case "for":
		return p.loop()
	case "some", "every":
		return p.quantified(w)
	case "function":
		return p.function()
	}
	return p.or()
}

func (p *parser) conditional() node {
	p.expectWord("if")
	cond := p.expression()
	p.expectWord("then")
	yes := p.expression()
	p.expectWord("else")
	no := p.expression()
	return func(r *run) any {
		r.spend(1)
		if cond(r) == true {
			return yes(r)
		}
		return no(r)
	}
}

func (p *parser) or() node {
	left := p.and()
	for p.keyword("or") {
		l, right := left, p.and()
		left = func(r *run) any { return either(r, l, right, true) }
	}
	return left
}

func (p *parser) and() node {
	left := p.comparison()
	for p.keyword("and") {
		l, right := left, p.comparison()
		left = func(r *run) any { return either(r, l, right, false) }
	}
	return left
}

// either computes or (decides is true) and and (decides is false) of three-valued
// logic: a value that decides does so beside one that is null.
func either(r *run, a, b node, decides bool) any {
	r.spend(1)
	x := a(r)
	if x == decides {
		return decides
	}
	y := b(r)
	switch {
	case y == decides:
		return decides
	case x == !decides && y == !decides:
		return !decides
	}
	return nil
}

func (p *parser) comparison() node {
	left := p.additive()
	for {
		l := left
		op := p.comparator()
		switch {
		case op != "":
			right := p.additive()
			left = func(r *run) any { return compared(r, op, l(r), right(r)) }
		case p.keyword("between"):
			low := p.additive()
			p.expectWord("and")
			high := p.additive()
			left = func(r *run) any {
				v, lo, hi := l(r), low(r), high(r)
				return both(compared(r, ">=", v, lo), compared(r, "<=", v, hi))
			}
		case p.keyword("in"):
			test := p.tests()
			left = func(r *run) any { return test(r, l(r)) }
		default:
			return left
		}
	}
}

func (p *parser) comparator() string {
	for _, op := range []string{"!=", "<=", ">=", "=", "<", ">"} {
		if p.Sign(op) {
			return op
		}
	}
	return ""
}

// test computes whether a value passes a test.
type test func(*run, any) any

// tests takes what follows in: one test, or several in parentheses.
func (p *parser) tests() test {
	start := p.Pos
	if !p.Sign("(") {
		return p.test()
	}
	all := []test{p.test()}
	for p.Sign(",") {
		all = append(all, p.test())
	}
	if p.Is("..") || len(all) == 1 && !p.closes() { // a range, or an expression that only begins with a parenthesis
		p.Pos = start
		return p.test()
	}
	p.Expect(")")
	return func(r *run, v any) any {
		var out any = false
		for _, t := range all {
			switch t(r, v) {
			case true:
				return true
			case nil:
				out = nil
			}
		}
		return out
	}
}

// closes reports whether a parenthesis closes here and nothing continues the
// expression within.
func (p *parser) closes() bool {
	defer func(at int) { p.Pos = at }(p.Pos)
	return p.Sign(")") && !slices.ContainsFunc([]string{".", "[", "*", "/", "+", "-", "("}, p.Is)
}

func (p *parser) test() test {
	if op := p.comparator(); op != "" {
		right := p.additive()
		return func(r *run, v any) any { return compared(r, op, v, right(r)) }
	}
	of := p.additive()
	return func(r *run, v any) any { return within(r, v, of(r)) }
}

// operator is a sign between two operands, and what it computes.
type operator struct {
	sign    string
	compute func(r *run, a, b any) any
}

func (p *parser) additive() node {
	return p.chain(p.multiplicative, operator{"+", add}, operator{"-", subtract})
}

func (p *parser) multiplicative() node {
	return p.chain(p.power, operator{"*", multiply}, operator{"/", divide})
}

func (p *parser) power() node { return p.chain(p.unary, operator{"**", power}) }

// chain takes operands with any of some operators between them, which are computed from the left.
func (p *parser) chain(operand func() node, operators ...operator) node {
	left := operand()
	for {
		k := slices.IndexFunc(operators, func(o operator) bool { return p.Is(o.sign) })
		if k < 0 {
			return left
		}
		o := operators[k]
		p.Expect(o.sign)
		a, b := left, operand()
		left = func(r *run) any { return o.compute(r, a(r), b(r)) }
	}
}

func (p *parser) unary() node {
	if p.Sign("-") {
		defer p.Enter()()
		of := p.unary()
		return func(r *run) any { return negate(r, of(r)) }
	}
	return p.postfix()
}
