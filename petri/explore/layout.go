// SPDX-License-Identifier: Apache-2.0

package explore

import (
	"math/bits"
	"slices"
)

// layout is where the counts of a marking are, and which tables number them. A marking is a list
// of cells: its words, which hold the counts, and its numbers in the tables.
type layout struct {
	widths []uint8   // by place: the bits of its count
	fields [][]field // by place: the parts of its count
	homes  []int32   // by place: the node that takes more bits of its count
	nodes  []node    // children first, the root last
	in     [][]field // by cell: the fields in a word
	child  []int32   // by cell: the node that it is a number of, or -1
}

// field is a part of a count: its bits from at on are those of a word from shift on.
type field struct {
	place, word int32 // word is a cell
	at, shift   uint8
	mask        uint32
}

// node numbers the values of its cells.
type node struct {
	table
	number int32   // the cell of its number
	cells  []int32 // words and numbers of children; then words that were added
	used   int     // bits in the last of its cells
}

const (
	wordBits   = 32
	indexWords = 1.5 // that the index of a table takes for a row, on average
)

// newLayout packs counts of these bits, by place, and makes a binary tree over the words.
// separate reports which of its nodes to keep, children first. The cells of a node that is not
// kept are cells of the one above it. With nil, all are kept.
func newLayout(widths []uint8, separate []bool) layout {
	l := layout{widths: make([]uint8, len(widths)), fields: make([][]field, len(widths)), homes: make([]int32, len(widths))}
	total := 0
	for _, n := range widths {
		total += int(n)
	}
	words := make([]int32, (total+wordBits-1)/wordBits)
	for w := range words {
		words[w] = int32(w)
		l.addCell(-1)
	}
	if separate == nil {
		separate = slices.Repeat([]bool{true}, max(len(words)-1, 0))
	}
	if cells := l.tree(words, separate); len(cells) != 1 || l.child[cells[0]] < 0 {
		l.addNode(cells)
	}
	l.pack(widths)
	return l
}

// oneBit returns the bits of the counts of a net in which no place has more than one token.
func oneBit(places int) []uint8 { return slices.Repeat([]uint8{1}, places) }

// addCell adds a cell with the number of a node, or a word if child is -1.
func (l *layout) addCell(child int32) {
	l.in, l.child = append(l.in, nil), append(l.child, child)
}

// addNode adds a node and returns the cell of its number.
func (l *layout) addNode(cells []int32) int32 {
	number := int32(len(l.in))
	l.addCell(int32(len(l.nodes)))
	l.nodes = append(l.nodes, node{table: newTable(len(cells)), number: number, cells: cells, used: wordBits})
	return number
}

// tree adds the nodes over some words and returns the cells that stand for these.
func (l *layout) tree(words []int32, separate []bool) []int32 {
	if len(words) <= 1 {
		return words
	}
	middle, last := (len(words)+1)/2, len(words)-2
	cells := slices.Concat(l.tree(words[:middle], separate[:middle-1]), l.tree(words[middle:], separate[middle-1:last]))
	if !separate[last] {
		return cells
	}
	return []int32{l.addNode(cells)}
}

// pack gives the counts their places in the words.
func (l *layout) pack(widths []uint8) {
	holders := make([]int32, len(l.in)) // by cell
	for i, n := range l.nodes {
		for _, c := range n.cells {
			holders[c] = int32(i)
		}
	}
	word, used := int32(-1), wordBits
	for p, n := range widths {
		for l.widths[p] < n {
			if used == wordBits {
				word, used = word+1, 0
			}
			used = l.put(p, int(n), word, used)
		}
		l.homes[p] = holders[max(word, 0)]
	}
	l.nodes[holders[max(word, 0)]].used = used
}

// put puts the next bits of a count of n bits into a word, of which some are used. It returns
// the number of used bits after that.
func (l *layout) put(p, n int, word int32, used int) int {
	has := int(l.widths[p])
	take := min(n-has, wordBits-used)
	l.addField(field{place: int32(p), word: word, at: uint8(has), shift: uint8(used), mask: 1<<take - 1})
	l.widths[p] += uint8(take)
	return used + take
}

// addField adds a field, or its bits to the last one of its place if they are next to these.
func (l *layout) addField(f field) {
	of, in := l.fields[f.place], l.in[f.word]
	if n := len(of); n > 0 && of[n-1].word == f.word && int(of[n-1].shift)+bits.Len32(of[n-1].mask) == int(f.shift) {
		of[n-1].mask |= f.mask << (f.at - of[n-1].at)
		in[len(in)-1] = of[n-1]
		return
	}
	l.fields[f.place], l.in[f.word] = append(of, f), append(in, f)
}

// addWord adds a word to the cells of a node.
func (l *layout) addWord(n *node) {
	n.cells, n.used = append(n.cells, int32(len(l.in))), 0
	l.addCell(-1)
}

// separate reports which nodes of a binary tree to keep: those with so few rows that their table
// and their numbers in the one above it take less memory than their cells there would.
func (l *layout) separate() []bool {
	kept := make([]bool, max(len(l.nodes)-1, 0), len(l.nodes))
	kept = append(kept, true)
	width := make([]int, len(l.nodes)) // by node: the cells of a row without the nodes that are not kept
	for i, n := range l.nodes {
		for _, c := range n.cells {
			k := l.child[c]
			if k < 0 {
				width[i]++
				continue
			}
			below := &l.nodes[k]
			if kept[k] = float64(n.len*(width[k]-1)) > float64(below.len)*(float64(width[k])+indexWords); kept[k] {
				width[i]++
			} else {
				width[i] += width[k]
			}
		}
	}
	return kept
}
