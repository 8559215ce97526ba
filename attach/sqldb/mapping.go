// SPDX-License-Identifier: Apache-2.0

package sqldb

import (
	"embed"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/pnagent/pnagent/attach/internal/shipped"
	"github.com/pnagent/pnagent/petri"
	"github.com/pnagent/pnagent/stats"
)

// Mapping is the SQL for one engine, as named queries with fixed columns.
// docs/attach/sql.md describes the format.
type Mapping struct {
	Name  string
	About string // one line for people
	Tool  string // what people act on instances with, for telemetry.Config

	commands map[stats.Reason]command

	task    string // the only one of each definition, where an instance is one token; "" if there are more
	needs   []need
	queries map[string]*query
}

// need is a table with columns that the queries read, or of which the first is
// to be that of an index.
type need struct {
	schema  string // "" for the one that the database chooses
	table   string
	columns []string
	index   bool
}

// name returns the table's name in SQL.
func (n *need) name() string { return strings.TrimLeft(n.schema+"."+n.table, ".") }

// query is one SQL statement. Its parameters are written as :name.
type query struct {
	parts  []string // the text between the parameters
	params []string // one less than parts
}

// shape is what a query must have.
type shape struct {
	columns  []string
	extra    []string // columns that may be absent; they are NULL then
	params   []string
	optional bool
}

// shapes are the queries of a mapping.
var shapes = map[string]shape{
	"probe":       {columns: []string{"version"}},
	"definitions": {columns: []string{"definition", "net", "version", "name"}},
	"model":       {columns: []string{"model"}, extra: []string{"compressed"}, params: []string{"definition"}, optional: true},
	"tasks":       {columns: []string{"task", "downstream", "name"}, params: []string{"definition"}, optional: true},
	"open":        {columns: []string{"token", "definition", "activity", "instance", "since", "label"}, params: []string{"limit", "now", "now_ms"}},
	"done":        {columns: []string{"definition", "instance", "activity", "at"}, params: []string{"limit"}, optional: true},
	"why":         {columns: []string{"token", "activity", "reason", "until", "what", "detail"}, extra: []string{"heartbeat", "before", "late", "count", "holder"}, params: []string{"limit", "now", "now_ms"}},
	"schedules":   {columns: []string{"definition", "activity", "next"}, extra: []string{"last", "cron", "zone", "token"}, params: []string{"limit", "now", "now_ms"}, optional: true},
	"started":     {columns: []string{"id", "at", "definition", "activity"}, params: []string{"since", "since_ms", "after", "limit", "floor"}, optional: true},
	"ended":       {columns: []string{"id", "at", "definition", "activity", "millis", "canceled"}, params: []string{"since", "since_ms", "after", "limit", "floor"}, optional: true},
	"created":     {columns: []string{"id", "at", "definition"}, params: []string{"since", "since_ms", "after", "limit", "floor"}, optional: true},
	"finished":    {columns: []string{"id", "at", "definition", "failed"}, params: []string{"since", "since_ms", "after", "limit", "floor"}, optional: true},
	"flow":        {columns: []string{"flow"}, optional: true},
	"floor":       {columns: []string{"floor"}, optional: true},
	acts:          {columns: []string{"token"}, params: []string{"token"}, optional: true},
}

// acts is the query that changes the engine: it makes it try the job of a token again. The others only
// read.
const acts = "retry"

// maxMapping bounds a file, in bytes.
const maxMapping = 1 << 20

// ReadMapping reads a mapping. The file's name is for messages. The error is a
// *petri.Fault.
func ReadMapping(r io.Reader, file string) (*Mapping, error) {
	text, err := io.ReadAll(io.LimitReader(r, maxMapping+1))
	if err != nil {
		return nil, fmt.Errorf("reading %s: %w", file, err)
	}
	p := mappingParser{file: file, m: &Mapping{queries: map[string]*query{}}}
	if len(text) > maxMapping {
		return nil, p.fault(1, "more than %d bytes", maxMapping)
	}
	for i, line := range strings.Split(string(text), "\n") {
		if err := p.line(i+1, strings.TrimRight(line, "\r")); err != nil {
			return nil, err
		}
	}
	return p.end()
}

type mappingParser struct {
	file  string
	m     *Mapping
	query string // the name of the present query; "" in the head
	from  int    // its line
	text  strings.Builder
}

func (p *mappingParser) fault(line int, format string, args ...any) error {
	return &petri.Fault{File: p.file, Pos: petri.Pos{Line: line, Column: 1}, Msg: fmt.Sprintf(format, args...)}
}

func (p *mappingParser) line(n int, line string) error {
	key, value, is := strings.Cut(strings.TrimPrefix(line, "-- "), ": ")
	directive := is && strings.HasPrefix(line, "-- ") && !strings.Contains(key, " ")
	switch {
	case directive && key == "query":
		if err := p.endQuery(); err != nil {
			return err
		}
		value = strings.TrimSpace(value)
		if _, known := shapes[value]; !known {
			return p.fault(n, "query %q; expected one of %s", value, strings.Join(queryNames(), ", "))
		}
		if p.m.queries[value] != nil {
			return p.fault(n, "a second query %q", value)
		}
		p.query, p.from = value, n
	case p.query != "":
		p.text.WriteString(line + "\n")
	case directive:
		return p.head(n, key, strings.TrimSpace(value))
	case strings.TrimSpace(line) != "" && !strings.HasPrefix(line, "--"):
		return p.fault(n, "SQL before the first line \"-- query: NAME\"")
	}
	return nil
}

func (p *mappingParser) head(n int, key, value string) error {
	switch key {
	case "mapping":
		p.m.Name = value
	case "about":
		p.m.About = value
	case "tool":
		p.m.Tool = value
		if len(value) > stats.MaxWhat {
			return p.fault(n, "%d bytes; expected at most %d", len(value), stats.MaxWhat)
		}
	case "command":
		return p.command(n, value)
	case "task":
		p.m.task = value
		if !isWord(value) {
			return p.fault(n, "%q; expected letters, digits and _", value)
		}
	case "needs", "index":
		table, rest, ok := strings.Cut(value, "(")
		rest, closed := strings.CutSuffix(rest, ")")
		columns := strings.Split(rest, ",")
		for i := range columns {
			columns[i] = strings.TrimSpace(columns[i])
		}
		schema, name, qualified := strings.Cut(strings.TrimSpace(table), ".")
		if !qualified {
			schema, name = "", schema
		}
		if !ok || !closed || !isWord(name) || qualified && !isWord(schema) || !all(columns, isColumn) {
			return p.fault(n, "%q; expected TABLE(COLUMN, …) or SCHEMA.TABLE(COLUMN, …)", value)
		}
		p.m.needs = append(p.m.needs, need{schema, name, columns, key == "index"})
	default:
		return p.fault(n, "%q; expected mapping, about, tool, command, task, needs, index or query", key)
	}
	return nil
}

// command reads a command line for tokens that wait for a reason.
func (p *mappingParser) command(n int, value string) error {
	name, text, _ := strings.Cut(value, ": ")
	reason := stats.ReasonNamed(name)
	if reason == stats.ReasonUnknown || p.m.commands[reason] != nil {
		return p.fault(n, "%q; expected a reason that has no command yet, such as incident, and \": \"", name)
	}
	c, err := parseCommand(text)
	if err != nil {
		return p.fault(n, "command for %s: %v", name, err)
	}
	if p.m.commands == nil {
		p.m.commands = map[stats.Reason]command{}
	}
	p.m.commands[reason] = c
	return nil
}

func all(words []string, is func(string) bool) bool {
	return !slices.ContainsFunc(words, func(w string) bool { return !is(w) })
}

// isWord reports whether a name needs no quotes in SQL.
func isWord(s string) bool {
	return s != "" && strings.Trim(s, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_") == ""
}

// isColumn reports whether a name is that of a column in SQL: a word, or one in double quotes, which has capitals.
func isColumn(s string) bool {
	return isWord(s) || len(s) > 2 && isWord(s[1:len(s)-1]) && s[0] == '"' && s[len(s)-1] == '"'
}

func queryNames() []string {
	var names []string
	for n := range shapes {
		names = append(names, n)
	}
	slices.Sort(names)
	return names
}

func (p *mappingParser) endQuery() error {
	if p.query == "" {
		return nil
	}
	q, err := parseQuery(strings.TrimRight(strings.TrimSpace(p.text.String()), ";"))
	p.text.Reset()
	if err != nil {
		return p.fault(p.from, "query %s: %v", p.query, err)
	}
	for _, name := range q.params {
		if !slices.Contains(shapes[p.query].params, name) {
			return p.fault(p.from, "query %s: parameter :%s; expected %s", p.query, name, orNone(shapes[p.query].params))
		}
	}
	p.m.queries[p.query] = q
	return nil
}

func orNone(names []string) string {
	if len(names) == 0 {
		return "none"
	}
	return ":" + strings.Join(names, ", :")
}

func (p *mappingParser) end() (*Mapping, error) {
	if err := p.endQuery(); err != nil {
		return nil, err
	}
	if p.m.Name == "" {
		return nil, p.fault(1, "no line \"-- mapping: NAME\"")
	}
	for _, name := range queryNames() {
		if p.m.queries[name] == nil && !shapes[name].optional {
			return nil, p.fault(1, "no query %q", name)
		}
	}
	models := 0
	for _, has := range []bool{p.m.task != "", p.m.queries["model"] != nil, p.m.queries["tasks"] != nil} {
		if has {
			models++
		}
	}
	if models != 1 {
		return nil, p.fault(1, "expected a query model, a query tasks, or a line \"-- task: NAME\", and one of these")
	}
	if p.m.task != "" && (p.m.queries["created"] != nil || p.m.queries["finished"] != nil) {
		return nil, p.fault(1, "a query created or finished beside \"-- task: %s\"; expected none, because started and ended have the instances", p.m.task)
	}
	if p.m.queries["started"] != nil && p.m.queries["ended"] == nil {
		return nil, p.fault(1, "a query started without ended; expected both, ended alone, or neither")
	}
	return p.m, nil
}

// parseQuery splits a statement at its parameters. What is in quotes or comments
// has none.
func parseQuery(text string) (*query, error) {
	q := &query{}
	first, _, _ := strings.Cut(strings.TrimSpace(withoutComments(text)), " ")
	if first, _, _ = strings.Cut(first, "\n"); !strings.EqualFold(first, "SELECT") && !strings.EqualFold(first, "WITH") {
		return nil, fmt.Errorf("it begins with %q; expected SELECT or WITH", first)
	}
	begin := 0
	for i := 0; i < len(text); i++ {
		switch c := text[i]; {
		case c == '\'' || c == '"' || c == '`':
			end := strings.IndexByte(text[i+1:], c)
			if end < 0 {
				return nil, fmt.Errorf("a quote %c without its end", c)
			}
			i += end + 1
		case strings.HasPrefix(text[i:], "--"):
			end := strings.IndexByte(text[i:], '\n')
			if end < 0 {
				end = len(text) - i
			}
			i += end
		case c == ';':
			return nil, errors.New("more than one statement; expected one")
		case strings.HasPrefix(text[i:], "::"):
			i++
		case c == ':':
			rest := text[i+1:]
			name := rest[:len(rest)-len(strings.TrimLeft(rest, "abcdefghijklmnopqrstuvwxyz_"))]
			if name != "" {
				q.parts, q.params = append(q.parts, text[begin:i]), append(q.params, name)
				i += len(name)
				begin = i + 1
			}
		}
	}
	q.parts = append(q.parts, text[begin:])
	return q, nil
}

// withoutComments returns a statement without the comments that it begins with.
func withoutComments(text string) string {
	for strings.HasPrefix(text, "--") {
		_, text, _ = strings.Cut(text, "\n")
		text = strings.TrimSpace(text)
	}
	return text
}

//go:embed mappings/*.sql
var files embed.FS

// Mappings are those that come with pnagent.
var Mappings = shipped.Mappings[*Mapping]{Files: files, Ext: ".sql", Adapter: "sql", Read: ReadMapping,
	Describe: func(m *Mapping) (name, about string) { return m.Name, m.About }}
