// SPDX-License-Identifier: Apache-2.0

package api

import (
	"bytes"
	"encoding/json"
	"flag"
	"go/ast"
	"go/parser"
	"go/token"
	"os"
	"reflect"
	"strings"
	"testing"
)

var update = flag.Bool("update", false, "write openapi.json")

// object is a JSON object of the description. Its keys are sorted as it is written.
type object = map[string]any

// path describes GET of a path below /api/v1, or POST if it has a body.
type path struct {
	name, summary string
	body          any // of a POST; nil for GET
	parameters    []parameter
	kind          string // of the answer; "" is application/json
	document      any    // of the answer; nil where it is not JSON
	errors        []string
}

type parameter struct {
	name, description string
	optional, time    bool
}

func paths() []path {
	net := parameter{name: "net", description: "id of the net"}
	moment := parameter{name: "at", description: "a time, for the newest moment that is kept at or before it; without it now", optional: true, time: true}
	older := []string{"400", "404", "502"}
	of, changed := []string{"400", "404"}, []string{"400", "403", "404"}
	return []path{
		{name: "/view", summary: "Everything: all nets with their places and transitions, and all sources.", document: View{}},
		{name: "/alarms", summary: "The active alarms.", document: Alarms{}},
		{name: "/alarms/cleared", summary: "The alarms that were cleared last; --alarm-history is how many.", document: ClearedAlarms{}},
		{name: "/alarms/close", summary: "Close alarms of which it is not known whether they hold.", body: CloseAlarms{}, document: Closed{}, errors: []string{"400", "403", "404", "409"}},
		{name: "/alarms/ack", summary: "Acknowledge active alarms.", body: Acknowledge{}, document: Done{}, errors: changed},
		{name: "/alarms/unack", summary: "Withdraw acknowledgements of active alarms.", body: Acknowledge{}, document: Done{}, errors: changed},
		{name: "/alarms/silence", summary: "Hold back notifications of alarms for a time.", body: NewSilence{}, document: Silence{}, errors: []string{"400", "403"}},
		{name: "/alarms/unsilence", summary: "End a silence before its time.", body: EndSilence{}, document: Done{}, errors: changed},
		{name: "/act", summary: "Fire a transition of an instance, inject tokens into it, or retry an incident.", body: Act{}, document: Acted{}, errors: []string{"400", "403", "409", "504"}},
		{name: "/overview", summary: "All nets without their places and transitions, sources and alarms, as of the View, or as of the newest moment that is kept at or before a time.",
			parameters: []parameter{moment}, document: Overview{}, errors: older},
		{name: "/live", summary: "A stream of server-sent events: overview (Overview) at once and once a View; with net also frame (Frame) at once and where there is no " +
			"difference to send, else diff (Diff). The id of an event is the generation of its View.", parameters: []parameter{{name: "net", description: "id of the net; without it overviews only", optional: true}}, kind: "text/event-stream"},
		{name: "/place", summary: "One place, with the buckets of its histogram, reasons for people, and the last hour.",
			parameters: []parameter{net, {name: "place", description: "id of the place"}, moment}, document: PlaceDetail{}, errors: older},
		{name: "/transition", summary: "One transition, with the buckets of its histogram, what blocks it, and the last hour.",
			parameters: []parameter{net, {name: "transition", description: "id of the transition"}, moment}, document: TransitionDetail{}, errors: older},
		{name: "/instance", summary: "Where one instance is, as its engine says, and where it was seen among the oldest tokens of the last hour.",
			parameters: []parameter{net, {name: "instance", description: "name of the instance"}}, document: Instance{}, errors: of},
		{name: "/stuck", summary: "The tokens that wait in places, the oldest first, as their engines report them.",
			parameters: []parameter{net, {name: "place", description: "id of the place; without it all places that are not final", optional: true}, {name: "name", description: "text that the name of the instance holds", optional: true},
				{name: "data", description: "a part of field=value of a field of the token's data, in upper or lower case", optional: true},
				{name: "older", description: "the least age, seconds", optional: true}, {name: "limit", description: "how many, 1 to 1000; without it 50", optional: true}, {name: "after", description: "next of the answer before", optional: true}}, document: Stuck{}, errors: of},
		{name: "/actions", summary: "What people did to instances, the newest first: requests to engines to inject, to fire and to deliver messages, since the start of the sidecar.",
			parameters: []parameter{{name: "net", description: "id of the net; without it all", optional: true}, {name: "instance", description: "name of the instance; without it all", optional: true}}, document: Actions{}},
		{name: "/history", summary: "A net as it was: the newest moment that is kept at or before a time.",
			parameters: []parameter{net, {name: "at", description: "the time", time: true}}, document: Frame{}, errors: older},
		{name: "/trends", summary: "The age of the oldest token of each net over the last hour, for the 100 nets with the oldest tokens.", document: Trends{}},
		{name: "/search", summary: "The places, transitions and instances of all nets whose name or id has a text. Of instances, those with the oldest tokens of a place are known.",
			parameters: []parameter{{name: "q", description: "the text, in upper or lower case, at most 200 bytes"}}, document: Matches{}, errors: []string{"400"}},
		{name: "/drawing", summary: "Where the nodes and arcs of a net are drawn. The hash of the drawing is the ETag. With a place or a transition, only the nodes around it, laid out apart; all if they are many.",
			parameters: []parameter{net, {name: "place", description: "id of the place whose surroundings are drawn", optional: true},
				{name: "transition", description: "id of the transition whose surroundings are drawn", optional: true},
				{name: "upright", description: "a large net is laid out for an upright screen", optional: true},
				{name: "steps", description: "how many arcs they reach, from 1 to 5", optional: true}}, document: Drawing{}, errors: of},
		{name: "/drawing.svg", summary: "The drawing as a picture, with the tokens of now.", parameters: []parameter{net}, kind: "image/svg+xml", errors: of},
		{name: "/model", summary: "A file that a net was made from, for nets whose drawing has a model. Its digest is the ETag.",
			parameters: []parameter{net, {name: "file", description: "which one of the files, from 0; that with the net's process if it is absent", optional: true}}, kind: "application/xml", errors: of},
		{name: "/places.csv", summary: "The places of a net as a table, the oldest token first.", parameters: []parameter{net, moment}, kind: "text/csv", errors: older},
		{name: "/transitions.csv", summary: "The transitions of a net as a table, those that fire most first.", parameters: []parameter{net, moment}, kind: "text/csv", errors: older},
		{name: "/alarms.csv", summary: "The active alarms as a table.", parameters: []parameter{{name: "severity", description: "only alarms of that severity", optional: true}, {name: "net", description: "only alarms of that net", optional: true},
			{name: "alarm", description: "only alarms of that kind", optional: true}, {name: "acknowledged", description: "yes or no: only alarms that are, or are not", optional: true},
			{name: "silenced", description: "yes or no: only alarms that are, or are not", optional: true}}, kind: "text/csv"},
		{name: "/stuck.csv", summary: "All tokens that wait in places as a table, the oldest first. The header Pnagent-Incomplete says why there may be more.",
			parameters: []parameter{net, {name: "place", description: "id of the place; without it all places that are not final", optional: true}, {name: "name", description: "text that the name of the instance holds", optional: true},
				{name: "data", description: "a part of field=value of a field of the token's data, in upper or lower case", optional: true},
				{name: "older", description: "the least age, seconds", optional: true}}, kind: "text/csv", errors: of},
		{name: "/openapi.json", summary: "This description.", document: object{}},
	}
}

// TestOpenAPIIsMadeOfTheTypes writes the description with -update, and else
// compares it: paths from the list above, schemas from the Go types, descriptions
// from their comments.
func TestOpenAPIIsMadeOfTheTypes(t *testing.T) {
	g := generator{comments: comments(t), schemas: object{}}
	g.schema(reflect.TypeFor[Diff]())
	all := object{}
	for _, p := range paths() {
		all["/api/v1"+p.name] = object{p.method(): g.operation(p)}
	}
	text, err := json.MarshalIndent(object{"openapi": "3.1.0",
		"info": object{"title": "pnagent", "version": "1", "description": "What a sidecar shows of Petri nets. Only a sidecar with --web.actions takes POST, for notes about alarms and requests to engines. Times are RFC 3339 in UTC by the sidecar's clock; " +
			"ages and durations are seconds, ages as of the answer. What no source of a net knows is an absent field. Fields may be added."},
		"paths": all, "components": object{"schemas": g.schemas}}, "", "") // a line for each value, without spaces: the program holds it
	if err != nil {
		t.Fatal(err)
	}
	text = append(text, '\n')
	if *update {
		if err := os.WriteFile("openapi.json", text, 0o644); err != nil {
			t.Fatal(err)
		}
	} else if !bytes.Equal(text, OpenAPI) {
		t.Error("openapi.json is not what the types are; expected: go test ./web/api -update")
	}
}

type generator struct {
	comments map[string]string // by type, and by type and field
	schemas  object
}

func (p *path) method() string {
	if p.body == nil {
		return "get"
	}
	return "post"
}

func (g *generator) operation(p path) object {
	content := object{"schema": object{"type": "string"}}
	if p.document != nil {
		content = object{"schema": g.schema(reflect.TypeOf(p.document))}
	}
	kind := p.kind
	if kind == "" {
		kind = "application/json"
	}
	responses := object{"200": object{"description": p.summary, "content": object{kind: content}}}
	wrong := object{"content": object{"application/json": object{"schema": g.schema(reflect.TypeFor[Error]())}}}
	for _, status := range append(p.errors, "503") {
		description := map[string]string{"400": "A parameter is missing or invalid.", "404": "There is no such net, place, transition, moment, active alarm or silence.",
			"403": "The sidecar takes no changes (--web.actions), or not from this client.",
			"502": "Prometheus, which has older moments (--web.prometheus), gave no answer.",
			"409": "The engine refused the request, or would.", "504": "The request was sent, and whether it was done is not known.",
			"503": "Too many requests are under way, or too many streams; Retry-After has a number of seconds."}[status]
		responses[status] = object{"description": description, "content": wrong["content"]}
	}
	o := object{"summary": p.summary, "operationId": strings.NewReplacer("/", "", ".", "_").Replace(p.name), "responses": responses}
	if p.body != nil {
		o["requestBody"] = object{"required": true, "content": object{"application/json": object{"schema": g.schema(reflect.TypeOf(p.body))}}}
	}
	if len(p.parameters) > 0 {
		var list []object
		for _, one := range p.parameters {
			schema := object{"type": "string"}
			if one.time {
				schema["format"] = "date-time"
			}
			list = append(list, object{"name": one.name, "in": "query", "required": !one.optional, "description": one.description, "schema": schema})
		}
		o["parameters"] = list
	}
	return o
}

// schema returns the schema of a type, or a reference to that of a struct.
func (g *generator) schema(t reflect.Type) object {
	switch {
	case t == reflect.TypeFor[Time]():
		return object{"type": "string", "format": "date-time"}
	case t == reflect.TypeFor[object](), t == reflect.TypeFor[Data]():
		return object{"type": "object"}
	}
	switch t.Kind() {
	case reflect.Pointer:
		return g.schema(t.Elem())
	case reflect.Bool:
		return object{"type": "boolean"}
	case reflect.String:
		return object{"type": "string"}
	case reflect.Float64:
		return object{"type": "number"}
	case reflect.Int, reflect.Int64:
		return object{"type": "integer"}
	case reflect.Uint8, reflect.Uint32, reflect.Uint64:
		return object{"type": "integer", "minimum": 0}
	case reflect.Slice:
		items := g.schema(t.Elem())
		if t.Elem().Kind() == reflect.Pointer { // of a point, which may be unknown
			items = object{"type": []string{items["type"].(string), "null"}}
		}
		return object{"type": "array", "items": items}
	case reflect.Array:
		return object{"type": "array", "items": g.schema(t.Elem()), "minItems": t.Len(), "maxItems": t.Len()}
	case reflect.Map:
		return object{"type": "object", "additionalProperties": g.schema(t.Elem())}
	case reflect.Struct:
		if g.schemas[t.Name()] == nil {
			s := object{"type": "object", "description": g.comments[t.Name()]}
			g.schemas[t.Name()] = s
			properties, required := object{}, []string{}
			g.fields(t, properties, &required)
			s["properties"], s["required"] = properties, required
		}
		return object{"$ref": "#/components/schemas/" + t.Name()}
	default:
		panic("no schema of " + t.String())
	}
}

// fields adds those of a struct, and of the structs that it embeds.
func (g *generator) fields(t reflect.Type, properties object, required *[]string) {
	for i := range t.NumField() {
		f := t.Field(i)
		if f.Anonymous {
			g.fields(f.Type, properties, required)
			continue
		}
		name, options, _ := strings.Cut(f.Tag.Get("json"), ",")
		s := g.schema(f.Type)
		if c := g.comments[t.Name()+"."+f.Name]; c != "" {
			s["description"] = c
		}
		if properties[name] != nil {
			panic(t.Name() + " has two fields " + name)
		}
		properties[name] = s
		if options == "" {
			*required = append(*required, name)
		}
	}
}

// comments returns those of types and fields.
func comments(t *testing.T) map[string]string {
	t.Helper()
	all := map[string]string{}
	for _, name := range []string{"view.go", "page.go", "action.go", "sidecar.go"} {
		file, err := parser.ParseFile(token.NewFileSet(), name, nil, parser.ParseComments)
		if err != nil {
			t.Fatal(err)
		}
		for _, d := range file.Decls {
			decl, ok := d.(*ast.GenDecl)
			if !ok || decl.Tok != token.TYPE {
				continue
			}
			spec := decl.Specs[0].(*ast.TypeSpec)
			all[spec.Name.Name] = strings.Join(strings.Fields(decl.Doc.Text()), " ")
			fields, ok := spec.Type.(*ast.StructType)
			if !ok {
				continue
			}
			for _, f := range fields.Fields.List {
				for _, n := range f.Names {
					all[spec.Name.Name+"."+n.Name] = strings.TrimSpace(f.Comment.Text())
				}
			}
		}
	}
	return all
}
