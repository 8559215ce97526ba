// SPDX-License-Identifier: Apache-2.0

//go:build peers

package enginetest

import (
	"cmp"
	"encoding/json"
	"fmt"
	"net/url"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"time"
)

// Why is what a token waits for, word for word, as faces show it. Times may differ by a
// second.
type Why struct {
	SNMP string // pnStuckWhy
	Page string // the texts of the page, with "; " between them

	Parts []string // instead: parts of both
}

// seen is a token as a face shows it. Its age is absent if the face has none.
type seen struct {
	Held
	why string
	age span
}

// span is when a token came, by its age: a face has whole seconds, or the age as of its
// last view.
type span struct{ from, to int64 }

// near reports whether two times are the same to the second.
func near(a, b int64) bool { return -1000 <= a-b && a-b <= 1000 }

// holds reports whether a time is in a span, or the span is absent. An age may be that of
// the last view of the sidecar, which makes one every second.
func (s span) holds(at int64) bool { return s == span{} || s.from-1100 <= at && at <= s.to+100 }

// walk returns what SNMP shows: the table of stuck tokens. Its index is net, place
// and rank.
func (p *Page) walk() (out []seen) {
	const root = "1.3.6.1.4.1.8072.9999.9999.1.1."
	column := func(oid string) map[string]string {
		all := map[string]string{}
		for line := range strings.Lines(p.run("snmpbulkwalk", "-v2c", "-c", "public", "-Onq", p.snmp, root+oid)) {
			if name, value, ok := strings.Cut(strings.TrimSuffix(line, "\n"), " "); ok {
				value = strings.TrimSuffix(strings.TrimPrefix(value, `"`), `"`)
				all[strings.TrimPrefix(name, "."+root+oid+".")] = strings.ReplaceAll(value, `\"`, `"`)
			}
		}
		return all
	}
	nets := column("2.1.2")
	places := column("3.1.2")
	instances := column("6.1.2")
	since := column("6.1.4")
	whys := column("6.1.6")
	before := time.Now().UnixMilli()
	ages := column("6.1.3")
	after := time.Now().UnixMilli()
	for index, instance := range instances {
		parts := strings.Split(index, ".")
		if len(parts) != 3 {
			continue
		}
		age := 1000 * number(ages[index])
		out = append(out, seen{Held{nets[parts[0]], instance, strings.TrimSuffix(places[parts[0]+"."+parts[1]], p.In), dateAndTime(since[index])},
			whys[index], span{before - age, after - age + 1000}}) // ages are rounded up
	}
	return out
}

// dateAndTime returns a DateAndTime that a program printed as octets, in milliseconds
// since the Unix epoch; 0 for one that is not in UTC.
func dateAndTime(text string) int64 {
	var b [11]byte
	octets := strings.Fields(text)
	if len(octets) != len(b) {
		return 0
	}
	for i, o := range octets {
		n, err := strconv.ParseUint(o, 16, 8)
		if err != nil {
			return 0
		}
		b[i] = byte(n)
	}
	if [3]byte(b[8:]) != [3]byte{'+'} {
		return 0
	}
	return time.Date(int(b[0])<<8|int(b[1]), time.Month(b[2]), int(b[3]), int(b[4]), int(b[5]), int(b[6]), int(b[7])*100_000_000, time.UTC).UnixMilli()
}

// get reads a path of the sidecar's API into a value, and reports whether it could.
func (p *Page) get(path string, into any) bool {
	return json.Unmarshal([]byte(p.run("curl", "-s", "http://"+p.web+"/api/v1/"+path)), into) == nil
}

// fetch returns what the page shows of the places before nodes, by its API.
func (p *Page) fetch(nodes [][2]string) (out []seen) {
	for _, n := range nodes {
		net, node := n[0], n[1]
		var place struct {
			Stuck []struct {
				Instance string
				Injected time.Time
				Waits    []struct{ Text string }
			}
		}
		query := url.Values{"net": {net}, "place": {node + p.In}}
		if !p.get("place?"+query.Encode(), &place) {
			continue
		}
		for _, s := range place.Stuck {
			one := seen{Held: Held{net, s.Instance, node, s.Injected.UnixMilli()}}
			for i, w := range s.Waits {
				if i > 0 {
					one.why += "; "
				}
				one.why += w.Text
			}
			out = append(out, one)
		}
	}
	return out
}

var oldestLine = regexp.MustCompile(`(?m)^petrinet_place_oldest_token_age_seconds\{net="([^"]*)",place="([^"]*)"\} (\S+)$`)

// oldest returns the ages of the oldest tokens in Prometheus' format, by net and node,
// as times.
func (p *Page) oldest() map[[2]string]span {
	out := map[[2]string]span{}
	before := time.Now().UnixMilli()
	text := p.run("curl", "-s", "http://"+p.web+"/metrics")
	after := time.Now().UnixMilli()
	for _, m := range oldestLine.FindAllStringSubmatch(text, -1) {
		if age, err := strconv.ParseFloat(m[3], 64); err == nil && age > 0 {
			out[[2]string{m[1], strings.TrimSuffix(m[2], p.In)}] = span{before - int64(age*1000), after - int64(age*1000)}
		}
	}
	return out
}

// Faces returns how what SNMP, Prometheus and the page show differs from what the
// engine's API reports: where each instance is, since when to the second, and why.
// whys has what tokens wait for, by net and node with a space between: one for all tokens
// there, or one for each in any order.
func (p *Page) Faces(want []Held, whys map[string][]Why) string {
	var nodes [][2]string
	first := map[[2]string]int64{}
	for _, h := range want {
		key := [2]string{h.Net, h.Node}
		at, seen := first[key]
		if !seen {
			nodes = append(nodes, key)
		}
		if !seen || h.Since < at {
			first[key] = h.Since
		}
	}
	if len(want) == 0 {
		return "the engine has no token"
	}
	if d := compare(slices.Clone(want), p.walk(), whys, func(w Why) string { return w.SNMP }); d != "" {
		return "SNMP: " + d
	}
	if d := compare(slices.Clone(want), p.fetch(nodes), whys, func(w Why) string { return w.Page }); d != "" {
		return "the page: " + d
	}
	got := p.oldest()
	for key, at := range first {
		if s := got[key]; s == (span{}) || !s.holds(at) {
			return fmt.Sprintf("Prometheus: %v at %d; expected %d", key, s, at)
		}
	}
	if d := p.alarms(first); d != "" {
		return d
	}
	if !p.looked { // later the engine may be away, while the faces continue
		if d := p.look(want); d != "" {
			return d
		}
		p.looked = true
	}
	return ""
}

// alarms returns how the alarms of stuck tokens differ from one for each place that has some: the same as before, if the place
// had some at the call before, whatever was killed meanwhile.
func (p *Page) alarms(places map[[2]string]int64) string {
	var found struct {
		Active []struct {
			Index             uint32
			Alarm, Net, Place string
		}
	}
	if !p.get("alarms", &found) {
		return "the sidecar does not answer"
	}
	raised := map[[2]string]uint32{}
	for _, a := range found.Active {
		key := [2]string{a.Net, strings.TrimSuffix(a.Place, p.In)}
		if a.Alarm != "tokenStuck" {
			continue
		}
		if raised[key] != 0 {
			return fmt.Sprintf("alarms %d and %d about the tokens of %v", raised[key], a.Index, key)
		}
		raised[key] = a.Index
		if before := p.raised[key]; before != 0 && before != a.Index {
			p.t.Errorf("alarm %d about the tokens of %v was over, and is %d now", before, key, a.Index)
		}
	}
	for key := range places {
		if raised[key] == 0 {
			return fmt.Sprintf("no alarm about the tokens of %v", key)
		}
	}
	if len(raised) != len(places) {
		return fmt.Sprintf("alarms about %v; expected those about %v", raised, places)
	}
	p.raised = raised
	return ""
}

var connects = regexp.MustCompile(`--nats \S+`)

// look returns which of the tokens the command of the adapter does not print with --once. It prints ten of
// a place. Kubernetes is watched, so there is no look at it.
func (p *Page) look(want []Held) string {
	if strings.Contains(p.adapter, "attach kubernetes") {
		return ""
	}
	begin := time.Now()
	out, err := p.shell(connects.ReplaceAllString(p.adapter, "--once")).Output()
	if err != nil {
		return fmt.Sprintf("--once: %v", err)
	}
	p.t.Logf("a look took %v", time.Since(begin).Round(10*time.Millisecond))
	count := map[string]int{}
	for _, h := range want {
		count[h.Net+" "+h.Node]++
	}
	for _, h := range want {
		printed := func(line string) bool {
			return strings.HasPrefix(line, h.Net+" ") && strings.Contains(line, " "+h.Node+p.In+" ") && strings.Contains(line, h.Instance)
		}
		if count[h.Net+" "+h.Node] <= 10 && !slices.ContainsFunc(strings.Split(string(out), "\n"), printed) {
			return fmt.Sprintf("--once does not print instance %s in %s of %s:\n%s", h.Instance, h.Node, h.Net, out)
		}
	}
	return ""
}

// compare compares the tokens that a face shows with those of the engine.
func compare(want []Held, got []seen, whys map[string][]Why, of func(Why) string) string {
	order := func(a, b Held) int {
		return cmp.Or(cmp.Compare(a.Net, b.Net), cmp.Compare(a.Node, b.Node), cmp.Compare(a.Instance, b.Instance), cmp.Compare(a.Since, b.Since))
	}
	slices.SortFunc(want, order)
	slices.SortFunc(got, func(a, b seen) int { return order(a.Held, b.Held) })
	if len(want) != len(got) {
		return fmt.Sprintf("%d tokens; expected %d: %v", len(got), len(want), got)
	}
	texts := map[string][]string{}
	for i, w := range want {
		g := got[i]
		if w.Net != g.Net || w.Node != g.Node || w.Instance != g.Instance || !near(g.Since, w.Since) || !g.age.holds(w.Since) {
			return fmt.Sprintf("%v, by its age since %d to %d; expected %v", g.Held, g.age.from, g.age.to, w)
		}
		key := w.Net + " " + w.Node
		texts[key] = append(texts[key], g.why)
	}
	for key, shown := range texts {
		expected := slices.Clone(whys[key])
		if len(expected) == 1 {
			expected = slices.Repeat(expected, len(shown))
		}
		slices.Sort(shown)
		slices.SortFunc(expected, func(a, b Why) int { return cmp.Compare(of(a), of(b)) })
		if !slices.EqualFunc(shown, expected, func(text string, w Why) bool { return sameText(text, of(w)) || w.Parts != nil && w.within(text) }) {
			return fmt.Sprintf("%s waits for %q; expected %q", key, shown, expected)
		}
	}
	return ""
}

// within reports whether all parts are in a text.
func (w Why) within(text string) bool {
	return !slices.ContainsFunc(w.Parts, func(part string) bool { return !strings.Contains(text, part) })
}

var timeText = regexp.MustCompile(`\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ`)

// sameText reports whether two texts are equal, with the times in them to the second. What
// several transitions wait for is in any order.
func sameText(a, b string) bool {
	parts := func(text string) []string {
		all := strings.Split(text, "; ")
		slices.Sort(all)
		return all
	}
	return slices.EqualFunc(parts(a), parts(b), func(a, b string) bool {
		at, bt := timeText.FindAllString(a, -1), timeText.FindAllString(b, -1)
		return timeText.ReplaceAllString(a, "") == timeText.ReplaceAllString(b, "") && slices.EqualFunc(at, bt, func(x, y string) bool {
			s, err := time.Parse(time.RFC3339, x)
			t, err2 := time.Parse(time.RFC3339, y)
			return err == nil && err2 == nil && near(s.UnixMilli(), t.UnixMilli())
		})
	})
}

// Disconnected returns "" if the adapter's own metric of that name is 0.
func (p *Page) Disconnected(metric string) string {
	if p.Own(metric) == 0 {
		return ""
	}
	return metric + " is not 0"
}

// Own returns the value of one of the adapter's own metrics, without labels; -1 if it is absent.
func (p *Page) Own(metric string) float64 { return p.value(p.own, metric) }

// Counted returns the arrivals and departures of the place before a node, and the node's
// firings, in Prometheus' format; -1 for what is absent.
func (p *Page) Counted(net, node string) [3]float64 {
	series := func(family, label, id string) float64 {
		return p.value(p.web, fmt.Sprintf(`%s{net=%q,%s=%q}`, family, net, label, id))
	}
	return [3]float64{series("petrinet_place_arrivals_total", "place", node+"/in"), series("petrinet_place_departures_total", "place", node+"/in"),
		series("petrinet_transition_firings_total", "transition", node)}
}

// value returns the value of a series that a program shows; -1 if it is absent.
func (p *Page) value(address, series string) float64 {
	for line := range strings.Lines(p.run("curl", "-s", "http://"+address+"/metrics")) {
		if text, found := strings.CutPrefix(line, series+" "); found {
			if v, err := strconv.ParseFloat(strings.TrimSpace(text), 64); err == nil {
				return v
			}
		}
	}
	return -1
}

// Stale returns "" if the sidecar shows every source as stale.
func (p *Page) Stale() string {
	var overview struct{ Sources []struct{ Net, State string } }
	if !p.get("overview", &overview) || len(overview.Sources) == 0 {
		return "the sidecar shows no source"
	}
	for _, s := range overview.Sources {
		if s.State != "stale" {
			return fmt.Sprintf("the source of %s is %s; expected stale", s.Net, s.State)
		}
	}
	return ""
}
