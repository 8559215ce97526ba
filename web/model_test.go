// SPDX-License-Identifier: Apache-2.0

package web

import (
	"bytes"
	"net/http"
	"slices"
	"strings"
	"testing"

	"github.com/pnagent/pnagent/collector/merge"
	"github.com/pnagent/pnagent/petri"
	"github.com/pnagent/pnagent/petri/bpmn"
	"github.com/pnagent/pnagent/stats"
	"github.com/pnagent/pnagent/web/api"
)

const helper = `<process id="helper"><startEvent id="hs"/><userTask id="ht"/><endEvent id="he"/>` +
	`<sequenceFlow id="h1" sourceRef="hs" targetRef="ht"/><sequenceFlow id="h2" sourceRef="ht" targetRef="he"/></process>`

func caller(rest string) string {
	return `<definitions xmlns="http://www.omg.org/spec/BPMN/20100524/MODEL"><process id="caller"><startEvent id="s"/><callActivity id="c" calledElement="helper"/><endEvent id="e"/>` +
		`<sequenceFlow id="f1" sourceRef="s" targetRef="c"/><sequenceFlow id="f2" sourceRef="c" targetRef="e"/></process>` + rest + `</definitions>`
}

// netsOf are the nets of files that are read together.
func netsOf(t *testing.T, files ...string) []*petri.Net {
	t.Helper()
	var sources []bpmn.Source
	for _, f := range files {
		sources = append(sources, bpmn.Source{Name: "f", Reader: strings.NewReader(f)})
	}
	read, err := bpmn.ReadAll(sources, bpmn.Limits{})
	if err != nil {
		t.Fatal(err)
	}
	var nets []*petri.Net
	for _, f := range read {
		nets = append(nets, f.Nets...)
	}
	return nets
}

// showing is a stage with a net without numbers.
func showing(t *testing.T, def *petri.Net) *stage {
	t.Helper()
	st := newStage(t, nil)
	rows := stats.NewRows(len(def.Places), len(def.Transitions))
	st.show((&merge.View{At: noon.UnixMicro(), Generation: 1, Nets: []*merge.NetView{{Name: def.ID, Def: def, Final: def.FinalPlaces(), Rows: rows}}}).Sum())
	return st
}

// drawn is the model of a net's drawing, whose rows are named.
func drawn(t *testing.T, def *petri.Net) (m api.DrawnModel, elements map[string]string) {
	t.Helper()
	m, elements = modelOf(def).drawn, map[string]string{}
	for _, e := range m.Elements {
		var words []string
		for _, i := range e.Tokens {
			words = append(words, def.Places[i].ID)
		}
		words = append(words, ">")
		for _, i := range e.Fires {
			words = append(words, def.Transitions[i].ID)
		}
		elements[strings.Join(append(e.Calls, e.ID), ":")] = strings.Join(words, " ")
	}
	return m, elements
}

// The lists and sums of the API have work only; the drawing has the rest, with its role.
func TestTheAPIShowsWorkAndTheDrawingTheRest(t *testing.T) {
	def := netsOf(t, caller(helper))[0]
	st := showing(t, def)
	var nodes, listed, csv []string
	for _, n := range st.document(t, "/api/v1/drawing?net=caller")["nodes"].([]any) {
		n := n.(map[string]any)
		if role, aside := n["role"]; aside {
			nodes = append(nodes, n["id"].(string)+" "+role.(string))
		}
	}
	net := st.document(t, "/api/v1/view")["nets"].([]any)[0].(map[string]any)
	for _, kind := range []string{"places", "transitions"} {
		for _, n := range net[kind].([]any) {
			listed = append(listed, n.(map[string]any)["id"].(string))
		}
		for _, line := range strings.Split(strings.TrimSpace(st.get("/api/v1/"+kind+".csv?net=caller").Body.String()), "\n")[1:] {
			csv = append(csv, strings.Split(line, ",")[2])
		}
	}
	if want := []string{"c/active state", "c/begin state"}; !slices.Equal(nodes, want) {
		t.Errorf("not work is %v; want %v", nodes, want)
	}
	want := []string{"f1", "f2", "s/start", "e/end", "c:h1", "c:h2", "c:hs/start", "s", "c", "e", "c:hs", "c:ht", "c:he"}
	for _, got := range [][]string{listed, csv} {
		slices.Sort(got)
		if !slices.Equal(got, slices.Sorted(slices.Values(want))) {
			t.Errorf("the API lists %v; want %v", got, want)
		}
	}
}

func TestTheElementsOfAModelHaveTheirRows(t *testing.T) {
	m, got := drawn(t, netsOf(t, caller(helper))[0])
	want := map[string]string{"s": "s/start > s", "c": "f1 c/active > c", "e": "f2 e/end > e", "f1": ">", "f2": ">",
		"c:hs": "c:hs/start > c:hs", "c:ht": "c:h1 > c:ht", "c:he": "c:h2 > c:he", "c:h1": ">", "c:h2": ">"}
	for id, words := range want {
		if got[id] != words {
			t.Errorf("element %s has %q; want %q", id, got[id], words)
		}
	}
	if m.Kind != "bpmn" || m.Digest == "" || m.Missing != "" {
		t.Errorf("model %+v; want one that is there", m)
	}
}

// The files of called processes go along.
func TestACallOfAnotherFileHasTheRowsOfTheProcess(t *testing.T) {
	other := `<definitions xmlns="http://www.omg.org/spec/BPMN/20100524/MODEL">` + helper + `</definitions>`
	def := netsOf(t, strings.Replace(caller(""), "caller", "other", 1), other, caller(""))[2]
	m, got := drawn(t, def)
	if m.Files != 2 || m.File != 1 || got["c"] != "f1 c/active > c" || got["c:ht"] != "c:h1 > c:ht" {
		t.Errorf("file %d of %d, the elements are %q", m.File, m.Files, got)
	}
	st := showing(t, def)
	own, called := st.get("/api/v1/model?net=caller"), st.get("/api/v1/model?net=caller&file=0")
	if !strings.Contains(own.Body.String(), `id="caller"`) || !strings.Contains(called.Body.String(), `id="helper"`) || !strings.Contains(called.Body.String(), "BPMNDiagram") {
		t.Errorf("the files are %s and %s", own.Body, called.Body)
	}
	if etag := called.Header().Get("ETag"); etag == own.Header().Get("ETag") || st.get("/api/v1/model?net=caller&file=0", "If-None-Match", etag).Code != http.StatusNotModified {
		t.Errorf("the ETag of the other file is %s", etag)
	}
	for _, file := range []string{"2", "-1", "x"} {
		if w := st.get("/api/v1/model?net=caller&file=" + file); w.Code != http.StatusBadRequest || !strings.Contains(w.Body.String(), "expected a number from 0 to 1") {
			t.Errorf("file=%s: %d %s", file, w.Code, w.Body)
		}
	}
}

// Without the file of the called process, which is too large to go along, the sidecar reads a
// piece of work where the engine has a process.
func TestACallOfAFileThatIsMissingHasTheRowsOfTheProcess(t *testing.T) {
	other := `<definitions xmlns="http://www.omg.org/spec/BPMN/20100524/MODEL">` + helper + `</definitions>`
	def := *netsOf(t, caller(""), other)[0]
	def.Model = petri.NewModel(petri.ModelBPMN, []byte(caller("")))
	m, got := drawn(t, &def)
	if got["c"] != "f1 c/active > c" {
		t.Errorf("the call has %q", got["c"])
	}
	for _, e := range m.Elements {
		if e.ID == "c" && len(e.Places) != 4 { // active, and those inside
			var ids []string
			for _, i := range e.Places {
				ids = append(ids, def.Places[i].ID)
			}
			t.Errorf("the call has the places %v", ids)
		}
	}
}

// A file that the engine of an adapter runs and pnagent would refuse is drawn, and its rows
// are found by their ids.
func TestANetOfAnotherEngineHasTheRowsOfItsElements(t *testing.T) {
	text := caller(`<process id="odd"><startEvent id="o"/><choreographyTask id="x"/><sequenceFlow id="of" sourceRef="o" targetRef="o"/></process>`)
	if _, err := bpmn.Read(strings.NewReader(text), "f", bpmn.Limits{}); err == nil {
		t.Fatal("pnagent reads the file; want one that it refuses")
	}
	def := &petri.Net{ID: "caller", Model: petri.NewModel(petri.ModelBPMN, []byte(text)), Places: []petri.Place{{ID: "s/in"}, {ID: "c/in"}}, Transitions: []petri.Transition{{ID: "s"}, {ID: "c"}}}
	m, got := drawn(t, def)
	if m.Missing != "" || got["c"] != "c/in > c" || got["s"] != "s/in > s" || len(got) != 2 {
		t.Errorf("model %+v, elements %q", m, got)
	}
}

func TestTheFileOfANetIsServedAsDataOnly(t *testing.T) {
	text := caller(helper)
	st := showing(t, netsOf(t, text)[0])
	w := st.get("/api/v1/model?net=caller")
	if end := strings.TrimSuffix(text, "</definitions>"); w.Code != http.StatusOK || !strings.HasPrefix(w.Body.String(), end) || !strings.Contains(w.Body.String(), "BPMNDiagram") {
		t.Errorf("%d %s; want the file with a diagram", w.Code, w.Body)
	}
	for name, want := range map[string]string{"Content-Type": "application/xml", "X-Content-Type-Options": "nosniff",
		"Content-Security-Policy": "default-src 'none'; frame-ancestors 'none'; sandbox", "Content-Disposition": `attachment; filename="model.bpmn"`} {
		if got := w.Header().Get(name); got != want {
			t.Errorf("%s: %q; want %q", name, got, want)
		}
	}
	model := st.document(t, "/api/v1/drawing?net=caller")["model"].(map[string]any)
	etag := w.Header().Get("ETag")
	if etag != `"`+model["digest"].(string)+`"` {
		t.Errorf("the ETag is %s; want the digest %v", etag, model["digest"])
	}
	if again := st.get("/api/v1/model?net=caller", "If-None-Match", etag); again.Code != http.StatusNotModified || again.Body.Len() > 0 {
		t.Errorf("with the ETag: %d, %d bytes; want 304", again.Code, again.Body.Len())
	}
}

func TestANetWithoutAFileHasNoModel(t *testing.T) {
	st := newStage(t, nil)
	st.show(orders())
	if w := st.get("/api/v1/model?net=orders"); w.Code != http.StatusNotFound {
		t.Errorf("%d; want 404", w.Code)
	}
	if _, there := st.document(t, "/api/v1/drawing?net=orders")["model"]; there {
		t.Error("the drawing has a model")
	}
}

// A file comes from another process, which may send anything.
func TestAModelThatIsInvalidIsMissing(t *testing.T) {
	laughs := `<!DOCTYPE d [<!ENTITY a "ha"><!ENTITY b "&a;&a;&a;&a;&a;&a;&a;&a;">]>` + strings.Replace(caller(helper), `id="s"`, `id="s" name="&b;"`, 1)
	deep := caller(strings.Repeat("<documentation>", 200) + strings.Repeat("</documentation>", 200))
	wide := caller(strings.Repeat("<documentation/>", 60_000))
	page := `<html xmlns="http://www.w3.org/1999/xhtml"><script>alert(1)</script></html>`
	for _, c := range []struct{ rule, text, missing string }{
		{"entities", laughs, "entities are not expanded"},
		{"too deep", deep, "elements inside each other"},
		{"too many elements", wide, "more than 20000"},
		{"a page", page, "the root element is <html>"},
		{"cut", caller(helper)[:300], "not valid"},
		{"empty", "", "no root element"},
	} {
		t.Run(c.rule, func(t *testing.T) {
			def := *netsOf(t, caller(helper))[0]
			def.Model = petri.NewModel(petri.ModelBPMN, []byte(c.text))
			st := showing(t, &def)
			if w := st.get("/api/v1/model?net=caller"); w.Code != http.StatusNotFound {
				t.Errorf("%d; want 404", w.Code)
			}
			model := st.document(t, "/api/v1/drawing?net=caller")["model"].(map[string]any)
			if missing, _ := model["missing"].(string); !strings.Contains(missing, c.missing) || model["digest"] != nil {
				t.Errorf("model %v; want one that is missing because of %q", model, c.missing)
			}
		})
	}
}

func TestADrawingHasAnotherHashWithAnotherModel(t *testing.T) {
	def := *netsOf(t, caller(helper))[0]
	other := def
	other.Model = petri.NewModel(petri.ModelBPMN, []byte(caller(helper)+" "))
	without := def
	without.Model = nil
	if a, b, c := hashOf(&def, ""), hashOf(&other, ""), hashOf(&without, ""); a == b || a == c || b == c {
		t.Errorf("hashes %s %s %s; want three", a, b, c)
	}
}

func FuzzModel(f *testing.F) {
	for _, text := range []string{caller(helper), caller(""), caller("") + "\x00" + caller(helper), "<html/>", ""} {
		f.Add([]byte(text))
	}
	f.Fuzz(func(t *testing.T, text []byte) {
		def := &petri.Net{ID: "caller", Model: petri.NewModel(petri.ModelBPMN, bytes.Split(text, []byte{0})...), Places: []petri.Place{{ID: "f1"}, {ID: "c/active"}, {ID: "/x"}}, Transitions: []petri.Transition{{ID: "c"}, {ID: ":"}}}
		m := modelOf(def)
		if (m.drawn.Missing == "") != (m.files != nil) || (m.drawn.Digest == "") != (m.files == nil) {
			t.Fatalf("model %+v with %d bytes of text", m.drawn, len(m.files))
		}
		for _, e := range m.drawn.Elements {
			for _, i := range slices.Concat(e.Places, e.Tokens) {
				_ = def.Places[i]
			}
			for _, i := range slices.Concat(e.Transitions, e.Fires) {
				_ = def.Transitions[i]
			}
		}
	})
}
