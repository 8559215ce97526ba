// SPDX-License-Identifier: Apache-2.0

package main

import (
	"bytes"
	"encoding/json"
	"fmt"
	"net/url"
	"reflect"
	"slices"
	"strings"
	"time"

	"github.com/alecthomas/kong"

	"github.com/pnagent/pnagent/cli"
)

// notKeys are flags that no configuration file has.
func notKeys() []string { return []string{"help", "version", "config", "print-config"} }

// commentWidth is how long the lines of comments are.
const commentWidth = 98

// printConfig writes all keys of a configuration file with the values that the flags have now,
// and their help. A key without a value is a comment. serve reads the same from the file.
func printConfig(out *bytes.Buffer, flags []*kong.Flag) {
	fmt.Fprintf(out, "# Configuration of pnagent serve, version %s: all keys and their values. A key that is a\n# comment has none. Check a change by: pnagent check-config FILE\n", cli.VersionOf().Version)
	for _, flag := range flags {
		if slices.Contains(notKeys(), flag.Name) {
			continue
		}
		out.WriteByte('\n')
		comment(out, flag.Help)
		if flag.HasDefault {
			comment(out, "Default: "+yamlText(flag.Default))
		}
		value, ok := yamlOf(flag.Target)
		switch {
		case hasLogin(value):
			fmt.Fprintf(out, "# It is set, but not shown: it has a password. Set %s.\n# %s:\n", variable(flag.Name), flag.Name)
		case !ok && !flag.HasDefault:
			fmt.Fprintf(out, "# %s: %s\n", flag.Name, flag.FormatPlaceHolder())
		case strings.Contains(value, "\n"):
			indent := value[:len(value)-len(strings.TrimLeft(value, " "))]
			fmt.Fprintf(out, "%s:%s\n", flag.Name, strings.ReplaceAll("\n"+value, "\n"+indent, "\n  "))
		default:
			fmt.Fprintf(out, "%s: %s\n", flag.Name, value)
		}
	}
}

// comment writes text as lines of comments.
func comment(out *bytes.Buffer, text string) {
	line := "#"
	for _, word := range strings.Fields(text) {
		if len(line)+1+len(word) > commentWidth {
			out.WriteString(line + "\n")
			line = "#"
		}
		line += " " + word
	}
	out.WriteString(line + "\n")
}

// yamlOf returns the value of a flag in YAML, and whether it has one.
func yamlOf(target reflect.Value) (string, bool) {
	switch v := target.Interface().(type) {
	case time.Duration:
		return v.String(), true
	case []string:
		all := make([]string, len(v))
		for i, text := range v {
			all[i] = yamlText(text)
		}
		return "[" + strings.Join(all, ", ") + "]", len(v) > 0
	case *string:
		if v == nil {
			return "", false
		}
		return yamlText(*v), true
	case string:
		return yamlText(v), v != ""
	case shareFlag:
		return fmt.Sprintf("%d/%d", v.Index, v.Count), v.Count > 0
	case rulesFlag:
		if v.inline != nil {
			return v.inline.at.String(), true
		}
		return yamlText(v.file), v.file != ""
	}
	return fmt.Sprint(target.Interface()), true
}

// yamlText returns text as a scalar of YAML.
func yamlText(text string) string {
	quoted, _ := json.Marshal(text) // text always marshals
	return string(quoted)
}

// hasLogin reports whether a value has a URL with a user or a password.
func hasLogin(value string) bool {
	for one := range strings.SplitSeq(strings.Trim(value, `"`), ",") {
		if u, err := url.Parse(strings.TrimSpace(one)); err == nil && u.User != nil {
			return true
		}
	}
	return false
}
