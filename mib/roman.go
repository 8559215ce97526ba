// SPDX-License-Identifier: Apache-2.0

package mib

import (
	_ "embed" // letters.tsv
	"fmt"
	"strings"
	"sync"
	"unicode"
	"unicode/utf8"

	"golang.org/x/text/unicode/norm"
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
	}
	s, known := letters()[r]
	switch {
	case !known:
		return fmt.Sprintf("u%04x", r), ownWord
	case unicode.In(r, unicode.Hiragana, unicode.Katakana):
		return s, ownWord
	case unicode.IsUpper(r) && s != "":
		return upperFirst(s), inWord
	}
	return s, inWord
}

// letters are Latin, Greek and Cyrillic letters and kana, each with its small ASCII letters.
// letters.tsv has them: in each line some ASCII letters, and what is written by these.
var letters = sync.OnceValue(func() map[rune]string {
	out := make(map[rune]string, utf8.RuneCountInString(lettersText))
	for line := range strings.Lines(lettersText) {
		ascii, written, _ := strings.Cut(strings.TrimSuffix(line, "\n"), "\t")
		for _, r := range written {
			out[r] = ascii
		}
	}
	return out
})

//go:embed letters.tsv
var lettersText string

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
