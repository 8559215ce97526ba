// SPDX-License-Identifier: Apache-2.0

package mib

import (
	"fmt"
	"strings"
	"sync"
	"unicode"
	"unicode/utf8"

	"golang.org/x/text/unicode/norm"
	"golang.org/x/text/unicode/runenames"
)

// enough is the length of a text from which words are taken at both ends, in bytes.
const enough = 1 << 10

// wordsOf returns the words of a text in ASCII letters and digits. It removes accents, and
// writes letters of other scripts by what Unicode calls them: see roman.
func wordsOf(text string) []string {
	if len(text) > enough {
		text = text[:enough/2] + " " + text[len(text)-enough/2:]
	}
	var b strings.Builder
	for _, r := range norm.NFKC.String(text) {
		switch s, how := roman(r); how {
		case ownWord:
			b.WriteString(" " + s + " ")
		case betweenWords:
			b.WriteByte(' ')
		default:
			b.WriteString(s)
		}
	}
	return strings.Fields(b.String())
}

// How a character is part of a text.
const (
	inWord = iota
	ownWord
	betweenWords
)

// roman returns a character in ASCII letters and digits, and whether it is part of a word, a
// word of its own, or between two. Latin, Greek and Cyrillic letters, kana and Hangul are
// written by their names; any other letter or sign is its number: u5927.
func roman(r rune) (string, int) {
	switch {
	case r < utf8.RuneSelf && (isLower(byte(r)) || isUpper(byte(r)) || isDigit(byte(r))):
		return string(r), inWord
	case r == '\'' || r == '’' || unicode.Is(unicode.Inherited, r) && unicode.Is(unicode.M, r):
		return "", inWord
	case r < utf8.RuneSelf || r == utf8.RuneError || r == '⁄' || r == '→' || unicode.In(r, unicode.P, unicode.Z, unicode.C):
		return "", betweenWords
	case unicode.Is(unicode.Hangul, r) && r >= firstHangul && r <= lastHangul:
		return hangul(r), inWord
	case r == 'ー':
		return "", inWord
	case unicode.In(r, unicode.Hiragana, unicode.Katakana):
		if name := letterName(r); name != "" && only(name, isUpper) {
			return strings.ToLower(name), ownWord
		}
	}
	if s, known := letter(r); known {
		if unicode.IsUpper(r) && s != "" {
			s = upperFirst(s)
		}
		return s, inWord
	}
	return fmt.Sprintf("u%04x", r), ownWord
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

// letter returns a Latin, Greek or Cyrillic letter in small ASCII letters.
func letter(r rune) (s string, known bool) {
	name := letterName(r)
	switch {
	case unicode.Is(unicode.Latin, r):
		if s, known = latinLetters()[name]; !known && len(name) <= 2 {
			return strings.ToLower(name), name != ""
		}
	case unicode.Is(unicode.Greek, r):
		s, known = greekLetters()[name]
	case unicode.Is(unicode.Cyrillic, r):
		s, known = cyrillicLetters()[name]
	}
	return s, known
}

// Letters by their names, where these are not the letters themselves.
var latinLetters = sync.OnceValue(func() map[string]string {
	return map[string]string{"SHARP S": "ss", "LONG S": "s", "ETH": "d", "THORN": "th", "DOTLESS I": "i", "DOTLESS J": "j", "ENG": "ng",
		"SCHWA": "e", "OPEN E": "e", "OPEN O": "o", "EZH": "zh", "TURNED E": "e", "KRA": "k"}
})

var greekLetters = sync.OnceValue(func() map[string]string {
	return map[string]string{"ALPHA": "a", "BETA": "b", "GAMMA": "g", "DELTA": "d", "EPSILON": "e", "ZETA": "z", "ETA": "i", "THETA": "th",
		"IOTA": "i", "KAPPA": "k", "LAMDA": "l", "MU": "m", "NU": "n", "XI": "x", "OMICRON": "o", "PI": "p", "RHO": "r", "SIGMA": "s",
		"FINAL SIGMA": "s", "TAU": "t", "UPSILON": "y", "PHI": "f", "CHI": "ch", "PSI": "ps", "OMEGA": "o"}
})

var cyrillicLetters = sync.OnceValue(func() map[string]string {
	return map[string]string{"A": "a", "BE": "b", "VE": "v", "GHE": "g", "DE": "d", "IE": "e", "IO": "yo", "ZHE": "zh", "ZE": "z", "I": "i",
		"SHORT I": "y", "KA": "k", "EL": "l", "EM": "m", "EN": "n", "O": "o", "PE": "p", "ER": "r", "ES": "s", "TE": "t", "U": "u", "EF": "f",
		"HA": "kh", "TSE": "ts", "CHE": "ch", "SHA": "sh", "SHCHA": "shch", "HARD SIGN": "", "YERU": "y", "SOFT SIGN": "", "E": "e", "YU": "yu",
		"YA": "ya", "SHORT U": "u", "UKRAINIAN IE": "ye", "BYELORUSSIAN-UKRAINIAN I": "i", "YI": "yi", "DJE": "dj", "GJE": "gj", "DZE": "dz",
		"JE": "j", "LJE": "lj", "NJE": "nj", "TSHE": "c", "KJE": "kj", "DZHE": "dzh", "SCHWA": "e", "BARRED O": "o", "STRAIGHT U": "u", "SHHA": "h"}
})

// Hangul syllables are numbered by their parts (The Unicode Standard, section 3.12).
const (
	firstHangul  = 0xac00
	lastHangul   = 0xd7a3
	hangulVowels = 21
	hangulTails  = 28
)

// hangul returns a syllable by its consonants and its vowel.
func hangul(r rune) string {
	leads := strings.Split("g gg n d dd r m b bb s ss  j jj c k t p h", " ")
	vowels := strings.Split("a ae ya yae eo e yeo ye o wa wae oe yo u weo we wi yu eu yi i", " ")
	tails := strings.Split(" g gg gs n nj nh d l lg lm lb ls lt lp lh m b bs s ss ng j c k t p h", " ")
	i := int(r - firstHangul)
	return leads[i/(hangulVowels*hangulTails)] + vowels[i/hangulTails%hangulVowels] + tails[i%hangulTails]
}
