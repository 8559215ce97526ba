// SPDX-License-Identifier: Apache-2.0

package bpmn

import (
	"encoding/json"
	"regexp"
	"strconv"
	"strings"

	"github.com/pnagent/pnagent/petri/xmlscan"
)

// expression returns the text of an expression as a guard, which begins with the sign of its language: "=" of
// FEEL, "${" of UEL, "name:" of another one that the file names, nothing of pnagent's own.
func (d *document) expression(e *elem) string {
	text := onOneLine(e.text)
	language := languageOf(e.attr("language"))
	if language == "" {
		language = languageOf(d.root.attr("expressionLanguage"))
	}
	switch {
	case text == "" || unmarked(text) == "":
		return ""
	case isUEL(text) || isFEEL(text):
		return text
	case language == "feel":
		return "= " + text
	case strings.Contains(text, "${") || strings.Contains(text, "#{"):
		d.Warnings.Add(e.pos, "the expression "+xmlscan.Quote(text)+" is kept as it stands: it is a text with expressions in it")
		return text
	case language == "uel":
		return "${" + text + "}"
	case language != "" && language != "xpath":
		return language + ": " + text
	}
	return text
}

// languageOf returns a short name of a language that a file names by a URI or a
// word: feel, uel, xpath, javascript and so on.
func languageOf(uri string) string {
	s := strings.ToLower(uri)
	for _, l := range []string{"feel", "juel", "xpath", "groovy"} {
		if strings.Contains(s, l) {
			return strings.TrimPrefix(l, "j")
		}
	}
	_, after, ok := strings.Cut(s, "://")
	if ok {
		s = after
	}
	return strings.Trim(notWord.ReplaceAllString(s, "-"), "-.")
}

var notWord = regexp.MustCompile(`[^a-z0-9.]+`)

// isForeign reports whether an expression is in a language that it names.
func isForeign(text string) bool {
	language, _, named := strings.Cut(text, ": ")
	return named && !notWord.MatchString(strings.ReplaceAll(language, "-", "."))
}

func isUEL(text string) bool {
	return (strings.HasPrefix(text, "${") || strings.HasPrefix(text, "#{")) && strings.HasSuffix(text, "}")
}

func isFEEL(text string) bool { return strings.HasPrefix(text, "=") && !strings.HasPrefix(text, "==") }

// unmarked returns an expression without the sign of its language.
func unmarked(text string) string {
	switch {
	case isUEL(text):
		text = text[2 : len(text)-1]
	case isFEEL(text):
		text = text[1:]
	}
	return strings.TrimSpace(text)
}

// blank matches text in quotes, which stays as it is, or white space and a comment
// up to the end of a line, which become a space.
var blank = regexp.MustCompile(`'(?:[^'\\\n]|\\.)*'|"(?:[^"\\\n]|\\.)*"|(?:\s|//[^\n]*)+`)

// onOneLine returns an expression on one line. White space in quotes stays.
func onOneLine(s string) string {
	s = blank.ReplaceAllStringFunc(s, func(part string) string {
		if part[0] == '\'' || part[0] == '"' {
			return part
		}
		return " "
	})
	return strings.TrimSpace(s)
}

// unless begins a line of a guard whose expression must not hold.
const unless = "unless "

// all returns a guard that holds if also holds and none of the others does: a line each.
func all(none []string, also string) string {
	lines := make([]string, 0, len(none)+1)
	for _, g := range none {
		lines = append(lines, unless+g)
	}
	if also != "" {
		lines = append(lines, also)
	}
	return strings.Join(lines, "\n")
}

// among returns a guard that holds if the value of an expression is one of some texts or a list of
// them, or has one of them: see package guard. of is what has the expression.
func among(word, text, of string, names ...string) string {
	list, _ := json.Marshal(names) // texts have no error
	return word + " " + string(list) + " of " + strconv.Quote(of) + ": " + text
}

// conditions returns a guard in words, of at most about 200 bytes.
func conditions(guard string) string {
	lines := strings.Split(guard, "\n")
	for i, line := range lines {
		if !strings.HasPrefix(line, unless) && !strings.HasPrefix(line, once) {
			lines[i] = "if " + line
		}
	}
	return xmlscan.Clip(strings.Join(lines, ", "), 200)
}
