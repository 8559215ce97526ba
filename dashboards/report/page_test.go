// SPDX-License-Identifier: Apache-2.0

package report

import (
	"bytes"
	"crypto/sha256"
	"encoding/base64"
	"encoding/xml"
	"errors"
	"html/template"
	"io"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/pnagent/pnagent/dashboards/report/plot"
)

// checkPage writes the page and reads it strictly: each element is closed, has
// no attribute twice, none that runs or asks for anything.
func checkPage(t *testing.T, r *Report) string {
	t.Helper()
	var page bytes.Buffer
	if err := r.HTML(&page); err != nil {
		t.Fatal(err)
	}
	ids, links := map[string]bool{}, []string{}
	for d := xml.NewDecoder(bytes.NewReader(page.Bytes())); ; {
		token, err := d.Token()
		if errors.Is(err, io.EOF) {
			break
		}
		if err != nil {
			t.Fatalf("%v in %.20000s", err, page.String())
		}
		e, ok := token.(xml.StartElement)
		if !ok {
			continue
		}
		switch e.Name.Local {
		case "script", "iframe", "img", "link", "object", "form", "use", "image":
			t.Errorf("there is a <%s>", e.Name.Local)
		}
		for _, a := range e.Attr {
			switch name := a.Name.Local; {
			case name == "href":
				links = append(links, a.Value)
			case name == "id":
				if ids[a.Value] {
					t.Errorf("the id %q is there twice", a.Value)
				}
				ids[a.Value] = true
			case strings.HasPrefix(name, "on") || name == "src" || name == "style":
				t.Errorf("<%s> has %s=%q", e.Name.Local, name, a.Value)
			}
		}
	}
	for _, link := range links {
		if !strings.HasPrefix(link, "#") || !ids[link[1:]] {
			t.Errorf("a link to %q", link)
		}
	}
	return page.String()
}

// hostile are names that want to be more than names.
var hostile = []string{`<script>alert(1)</script>`, `"><img src=x onerror=alert(1)>`, `{{.}}`, "a\x00b\x1b[31mc", "\u202etxt.exe", "</style><style>*{}", "javascript:alert(1)",
	"]]>", "&amp;&lt;", "--><!--", strings.Repeat("long ", 400), "", "\xff\xfe", "\ufffe"}

func TestNamesAreTextAndNothingElse(t *testing.T) {
	for _, name := range hostile {
		f := &Figure{Title: name, About: name, Size: "half", Numbers: []Number{{Text: name, Of: name}}, Legend: []Entry{{"c0", name, name, name}},
			Table: &Table{Head: words(name), Rows: [][]Cell{{{Text: name, Link: "#net-1"}}}}, Notes: []string{name}, Empty: name, Fault: name}
		f.Picture = template.HTML(plot.Frame{Width: 300, Height: 100, From: now, To: now.Add(time.Hour), Title: name}.Lanes([]plot.Lane{{Name: name, When: []plot.Stretch{{From: now, To: now, Says: name}}}}))
		nets := []netState{{id: name, place: name, alarms: 1, oldest: 5}}
		section := nets[0].section(0)
		section.Parts = []Part{{name, []*Figure{f, {Title: "drawn"}}}}
		r := &Report{From: now.Add(-time.Hour), To: now, Source: name, Notes: []string{name}, Sections: []Section{section}}
		summarise(r, nets, []alarm{{labels: map[string]string{"alarm": name, "net": name, "place": name}, active: true, when: []stretch{{from: now, to: now}}}}, f)
		page := checkPage(t, r)
		if strings.ContainsAny(page, "\x00\x1b\u202e\ufffe") {
			t.Errorf("%q: a control character is on the page", name)
		}
	}
}

func TestThePageAllowsNothingButItsStyle(t *testing.T) {
	page := checkPage(t, &Report{From: now.Add(-time.Hour), To: now, Source: "a test"})
	style := regexp.MustCompile(`(?s)<style>(.*)</style>`).FindStringSubmatch(page)
	sum := sha256.Sum256([]byte(style[1]))
	want := "default-src &#39;none&#39;; style-src &#39;sha256-" + strings.ReplaceAll(base64.StdEncoding.EncodeToString(sum[:]), "+", "&#43;") + "&#39;; base-uri &#39;none&#39;; form-action &#39;none&#39;"
	if !strings.Contains(page, want) {
		t.Errorf("the policy is not %s in %.1000s", want, page)
	}
	if asks := regexp.MustCompile(`url\([^#]|@import|https?://`).FindAllString(strings.ReplaceAll(strings.ReplaceAll(page, "http://www.w3.org/2000/svg", ""), "http://www.w3.org/1999/xhtml", ""), -1); asks != nil {
		t.Errorf("it asks for %q", asks)
	}
}

func TestASectionWithoutDataIsShort(t *testing.T) {
	empty := func(title string) *Figure { return &Figure{Title: title, Empty: noData} }
	r := &Report{From: now, To: now, Sections: []Section{{ID: "s", Title: "Dispatch", Parts: []Part{{"Now", []*Figure{empty("Waiting"), empty("Served")}}}}}}
	if page := checkPage(t, r); !strings.Contains(page, "no data for any") || strings.Contains(page, "<figure") || !strings.Contains(page, "Served") {
		t.Errorf("%s", page)
	}
}
