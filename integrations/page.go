// SPDX-License-Identifier: Apache-2.0

package integrations

import (
	"bytes"
	"embed"
	"path"
	"strings"
	"text/template"

	"github.com/pnagent/pnagent/internal/plaintext"
	"github.com/pnagent/pnagent/mib"
)

// templates are the files that are written nearly as they are: a folder for each tool, of
// templates.
//
//go:embed files
var templates embed.FS

// files returns files of a tool's folder.
func (s *site) files(tool string, names ...string) (all []File) {
	for _, name := range names {
		to := path.Join(tool, name)
		all = append(all, File{Path: to, Content: s.filled(to, nil), Program: name == "zabbix-trap"})
	}
	return all
}

// filled returns the text of a template about something.
func (s *site) filled(name string, about any) []byte {
	text, err := templates.ReadFile("files/" + name)
	if err != nil {
		panic(err) // the name is one of this package
	}
	var out bytes.Buffer
	if err := template.Must(template.New(name).Funcs(s.functions()).Parse(string(text))).Execute(&out, about); err != nil {
		panic(err) // a test fills each of them
	}
	return out.Bytes()
}

// functions are those of the templates.
func (s *site) functions() template.FuncMap {
	return template.FuncMap{
		"root": s.Root.String, "notifications": func() []mib.Notification { return s.described.Notifications },
		"scalars": func() []mib.Object { return s.known(scalars()) }, "tables": tables,
		"names": func(t shown) []mib.Object { return s.known(t.names()) }, "numbers": func(t shown) []mib.Object { return s.numbers(&t) },
		"oid": func(name string) string { return s.objects[name].OID.String() }, "tag": func(t shown, o mib.Object) string { return strings.TrimPrefix(snake(o), t.Key+"_") },
		"checks": s.checks, "services": s.services, "limits": limits,
		"snake": snake, "spaced": spaced, "lower": strings.ToLower, "quoted": quoted, "collectd": collectdType, "parse": s.cactiParse,
	}
}

// quoted returns a text as a string of Icinga's language.
func quoted(s string) string {
	return `"` + strings.NewReplacer(`\`, `\\`, `"`, `\"`).Replace(plaintext.Escape(s)) + `"`
}

// collectdType returns the type of a number in collectd's types.db.
func collectdType(o mib.Object) string {
	switch {
	case isCounter(o):
		return "derive"
	case o.Units == "seconds":
		return "duration"
	}
	return "gauge"
}
