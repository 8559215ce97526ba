// SPDX-License-Identifier: Apache-2.0

package engine

import (
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
		if *own == 0 {
			*own = b.timeout + margin
		}
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
	err = n.Each("a mapping with subject, and timeout if need be", func(key yamlfile.Key, value yamlfile.Node) (err error) {
		switch key.Name {
		case "subject":
			a.Subject, err = textOf(value, "a subject such as pay.card")
		case "timeout":
			a.Timeout, err = limitOf(value)
		default:
			err = key.Fault("unknown key %q; expected subject or timeout", key.Name)
		}
		return err
	})
	return a, err
}

func httpOf(n yamlfile.Node) (a action.HTTP, err error) {
	err = n.Each("a mapping with url, and method, headers and timeout if need be", func(key yamlfile.Key, value yamlfile.Node) (err error) {
		switch key.Name {
		case "url":
			a.URL, err = textOf(value, "a URL such as https://example.org/pay")
		case "method":
			a.Method, err = textOf(value, "POST, PUT or PATCH")
		case "headers":
			a.Headers = map[string]action.Secret{}
			err = value.Each("a mapping from names of headers", func(key yamlfile.Key, value yamlfile.Node) (err error) {
				a.Headers[key.Name], err = secretOf(value)
				return err
			})
		case "timeout":
			a.Timeout, err = limitOf(value)
		default:
			err = key.Fault("unknown key %q; expected url, method, headers or timeout", key.Name)
		}
		return err
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
			s.Env, err = textOf(value, "the name of a variable")
		case "file":
			s.File, err = textOf(value, "the path of a file")
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
	err = n.Each("a list of a program and its arguments, or a mapping with args, and dir and timeout if need be", func(key yamlfile.Key, value yamlfile.Node) (err error) {
		switch key.Name {
		case "args":
			a.Args, err = argsOf(value)
		case "dir":
			a.Dir, err = textOf(value, "the path of a folder")
		case "timeout":
			a.Timeout, err = limitOf(value)
		default:
			err = key.Fault("unknown key %q; expected args, dir or timeout", key.Name)
		}
		return err
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

// textOf returns a text that is not empty.
func textOf(n yamlfile.Node, expected string) (string, error) {
	s, _ := n.Scalar()
	if s == "" {
		return "", n.Expected(expected)
	}
	return s, nil
}
