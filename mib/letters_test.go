// SPDX-License-Identifier: Apache-2.0

package mib

import (
	"fmt"
	"maps"
	"os"
	"slices"
	"strings"
	"testing"
	"unicode"
	"unicode/utf8"

	"github.com/google/go-cmp/cmp"
	"golang.org/x/text/unicode/norm"
	"golang.org/x/text/unicode/runenames"
)

// letters.tsv is made from the names that Unicode gives to letters. These names take a
// megabyte, so they are not part of the program.
func TestTheLettersAreCurrent(t *testing.T) {
	written := map[string][]rune{}
	for r := rune(utf8.RuneSelf); r <= unicode.MaxRune; r++ {
		if !unicode.In(r, unicode.Latin, unicode.Greek, unicode.Cyrillic, unicode.Hiragana, unicode.Katakana) || !norm.NFKC.IsNormalString(string(r)) {
			continue // wordsOf normalizes a text before
		}
		if s, known := letterOf(r); known {
			written[s] = append(written[s], r)
		}
	}
	var text strings.Builder
	for _, ascii := range slices.Sorted(maps.Keys(written)) {
		fmt.Fprintf(&text, "%s\t%s\n", ascii, string(written[ascii]))
	}
	if *update {
		if err := os.WriteFile("letters.tsv", []byte(text.String()), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	is, err := os.ReadFile("letters.tsv")
	if err != nil {
		t.Fatal(err)
	}
	if d := cmp.Diff(text.String(), string(is)); d != "" {
		t.Errorf("mib/letters.tsv is not current; run make generate:\n%s", d)
	}
}

// letterOf returns a letter in small ASCII letters by its name.
func letterOf(r rune) (s string, known bool) {
	name := letterName(r)
	switch {
	case unicode.In(r, unicode.Hiragana, unicode.Katakana):
		return strings.ToLower(name), name != "" && only(name, isUpper)
	case unicode.Is(unicode.Latin, r):
		if s, known = latinLetters[name]; !known && len(name) <= 2 {
			return strings.ToLower(name), name != ""
		}
	case unicode.Is(unicode.Greek, r):
		s, known = greekLetters[name]
	case unicode.Is(unicode.Cyrillic, r):
		s, known = cyrillicLetters[name]
	}
	return s, known
}

// letterName returns the last part of a letter's name: SHORT I for й, KI for き; "" for what is
// not a letter.
func letterName(r rune) string {
	_, name, _ := strings.Cut(runenames.Name(r), " LETTER ")
	if _, of, is := strings.Cut(runenames.Name(r), " LIGATURE "); is {
		name = of
	}
	name, _, _ = strings.Cut(name, " WITH ")
	if unicode.In(r, unicode.Hiragana, unicode.Katakana) {
		name = strings.TrimPrefix(name, "SMALL ")
	}
	return name
}

// Letters by their names, where these are not the letters themselves.
var latinLetters = map[string]string{"SHARP S": "ss", "LONG S": "s", "ETH": "d", "THORN": "th", "DOTLESS I": "i", "DOTLESS J": "j", "ENG": "ng",
	"SCHWA": "e", "OPEN E": "e", "OPEN O": "o", "EZH": "zh", "TURNED E": "e", "KRA": "k"}

var greekLetters = map[string]string{"ALPHA": "a", "BETA": "b", "GAMMA": "g", "DELTA": "d", "EPSILON": "e", "ZETA": "z", "ETA": "i", "THETA": "th",
	"IOTA": "i", "KAPPA": "k", "LAMDA": "l", "MU": "m", "NU": "n", "XI": "x", "OMICRON": "o", "PI": "p", "RHO": "r", "SIGMA": "s",
	"FINAL SIGMA": "s", "TAU": "t", "UPSILON": "y", "PHI": "f", "CHI": "ch", "PSI": "ps", "OMEGA": "o"}

var cyrillicLetters = map[string]string{"A": "a", "BE": "b", "VE": "v", "GHE": "g", "DE": "d", "IE": "e", "IO": "yo", "ZHE": "zh", "ZE": "z", "I": "i",
	"SHORT I": "y", "KA": "k", "EL": "l", "EM": "m", "EN": "n", "O": "o", "PE": "p", "ER": "r", "ES": "s", "TE": "t", "U": "u", "EF": "f",
	"HA": "kh", "TSE": "ts", "CHE": "ch", "SHA": "sh", "SHCHA": "shch", "HARD SIGN": "", "YERU": "y", "SOFT SIGN": "", "E": "e", "YU": "yu",
	"YA": "ya", "SHORT U": "u", "UKRAINIAN IE": "ye", "BYELORUSSIAN-UKRAINIAN I": "i", "YI": "yi", "DJE": "dj", "GJE": "gj", "DZE": "dz",
	"JE": "j", "LJE": "lj", "NJE": "nj", "TSHE": "c", "KJE": "kj", "DZHE": "dzh", "SCHWA": "e", "BARRED O": "o", "STRAIGHT U": "u", "SHHA": "h"}
