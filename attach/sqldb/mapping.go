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
	"open":        {columns: []string{"token", "definition", "activity", "instance", "since", "label"}, params: []string{"limit", "now"}},
	"done":        {columns: []string{"definition", "instance", "activity", "at"}, params: []string{"limit"}, optional: true},
	"why":         {columns: []string{"token", "activity", "reason", "until", "what", "detail"}, extra: []string{"heartbeat", "before"}, params: []string{"limit", "now"}},
	"started":     {columns: []string{"id", "at", "definition", "activity"}, params: []string{"since", "after", "limit", "floor"}},
	"ended":       {columns: []string{"id", "at", "definition", "activity", "millis", "canceled"}, params: []string{"since", "after", "limit", "floor"}},
	"created":     {columns: []string{"id", "at", "definition"}, params: []string{"since", "after", "limit", "floor"}, optional: true},
	"finished":    {columns: []string{"id", "at", "definition", "failed"}, params: []string{"since", "after", "limit", "floor"}, optional: true},
	"flow":        {columns: []string{"flow"}, optional: true},
	"floor":       {columns: []string{"floor"}, optional: true},
}

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
		if p.m.Tool = value; len(value) > stats.MaxWhat {
			return p.fault(n, "%d bytes; expected at most %d", len(value), stats.MaxWhat)
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
		if !ok || !closed || !isWord(name) || qualified && !isWord(schema) || !all(columns, isWord) {
			return p.fault(n, "%q; expected TABLE(COLUMN, …) or SCHEMA.TABLE(COLUMN, …)", value)
		}
		p.m.needs = append(p.m.needs, need{schema, name, columns, key == "index"})
	default:
		return p.fault(n, "%q; expected mapping, about, tool, needs, index or query", key)
	}
	return nil
}

func all(words []string, is func(string) bool) bool {
	return !slices.ContainsFunc(words, func(w string) bool { return !is(w) })
}

// isWord reports whether a name needs no quotes in SQL.
func isWord(s string) bool {
	return s != "" && strings.Trim(s, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_") == ""
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
	if (p.m.queries["model"] == nil) == (p.m.queries["tasks"] == nil) {
		return nil, p.fault(1, "expected one query of model and tasks")
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
			name := rest[:len(rest)-len(strings.TrimLeft(rest, "abcdefghijklmnopqrstuvwxyz"))]
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

var mappings = shipped.Mappings[*Mapping]{Files: files, Ext: ".sql", Adapter: "sql", Read: ReadMapping}

// Shipped returns the mappings that come with pnagent, by name.
func Shipped() ([]*Mapping, error) { return mappings.All() }

// Source returns the text of a shipped mapping. The error wraps fs.ErrNotExist
// if there is none of the name.
func Source(name string) ([]byte, error) { return mappings.Source(name) }

// Load reads a shipped mapping by its name, or else a file.
func Load(name string) (*Mapping, error) { return mappings.Load(name) }
