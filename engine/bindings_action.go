// SPDX-License-Identifier: Apache-2.0

package engine

import (
	"cmp"
	"time"

	"github.com/pnagent/pnagent/engine/action"
	"github.com/pnagent/pnagent/petri/yamlfile"
)

// readAction reads the action of a transition.
func (b *binding) readAction(key yamlfile.Key, value yamlfile.Node) (err error) {
	if b.action != nil {
		return key.Fault("a second action %q; expected one of nats, http and command", key.Name)
	}
	b.acts = key
	switch key.Name {
	case "nats":
		b.action, err = natsOf(value)
	case "http":
		b.action, err = httpOf(value)
	case "command":
		b.action, err = commandOf(value)
	}
	return err
}

// margin is how much longer the limit of an action is than that of its
// transition. So it is always the transition's limit that ends an action,
// counted as a time-out.
const margin = time.Second

// limitAction sets the limit of an action without one from its transition.
func (b *binding) limitAction() {
	if b.timeout == 0 {
		return
	}
	limit := func(own *time.Duration) {
		*own = cmp.Or(*own, b.timeout+margin)
	}
	switch a := b.action.(type) {
	case action.NATS:
		limit(&a.Timeout)
		b.action = a
	case action.HTTP:
		limit(&a.Timeout)
		b.action = a
	case action.Command:
		limit(&a.Timeout)
		b.action = a
	}
}

func natsOf(n yamlfile.Node) (a action.NATS, err error) {
	err = n.Fields("a mapping with subject, and timeout if need be", "subject or timeout", map[string]func(yamlfile.Node) error{
		"subject": textInto(&a.Subject, "a subject such as pay.card"),
		"timeout": yamlfile.Into(&a.Timeout, limitOf),
	})
	return a, err
}

func httpOf(n yamlfile.Node) (a action.HTTP, err error) {
	err = n.Fields("a mapping with url, and method, headers and timeout if need be", "url, method, headers or timeout", map[string]func(yamlfile.Node) error{
		"url":     textInto(&a.URL, "a URL such as https://example.org/pay"),
		"method":  textInto(&a.Method, "POST, PUT or PATCH"),
		"timeout": yamlfile.Into(&a.Timeout, limitOf),
		"headers": func(value yamlfile.Node) error {
			a.Headers = map[string]action.Secret{}
			return value.Each("a mapping from names of headers", func(key yamlfile.Key, value yamlfile.Node) (err error) {
				a.Headers[key.Name], err = secretOf(value)
				return err
			})
		},
	})
	return a, err
}

func secretOf(n yamlfile.Node) (s action.Secret, err error) {
	const forms = "a value, {env: NAME} or {file: path}"
	if text, ok := n.Scalar(); ok {
		return action.Secret{Value: text}, nil
	}
	err = single(n, forms, func(key yamlfile.Key, value yamlfile.Node) (err error) {
		switch key.Name {
		case "env":
			err = textInto(&s.Env, "the name of a variable")(value)
		case "file":
			err = textInto(&s.File, "the path of a file")(value)
		default:
			err = key.Fault("unknown key %q; expected %s", key.Name, forms)
		}
		return err
	})
	return s, err
}

// commandOf reads a list of a program and its arguments, or a mapping with one.
func commandOf(n yamlfile.Node) (a action.Command, err error) {
	if _, ok := n.List(); ok {
		a.Args, err = argsOf(n)
		return a, err
	}
	err = n.Fields("a list of a program and its arguments, or a mapping with args, and dir and timeout if need be", "args, dir or timeout", map[string]func(yamlfile.Node) error{
		"args":    yamlfile.Into(&a.Args, argsOf),
		"dir":     textInto(&a.Dir, "the path of a folder"),
		"timeout": yamlfile.Into(&a.Timeout, limitOf),
	})
	return a, err
}

func argsOf(n yamlfile.Node) ([]string, error) {
	list, ok := n.List()
	if !ok || len(list) == 0 {
		return nil, n.Expected("a list of a program and its arguments")
	}
	args := make([]string, len(list))
	for i, e := range list {
		if args[i], ok = e.Scalar(); !ok {
			return nil, e.Expected("a text")
		}
	}
	return args, nil
}

// textInto returns a function that stores a text in to. The text must not be empty.
func textInto(to *string, expected string) func(yamlfile.Node) error {
	return func(n yamlfile.Node) error {
		if *to, _ = n.Scalar(); *to == "" {
			return n.Expected(expected)
		}
		return nil
	}
}
