// SPDX-License-Identifier: Apache-2.0

package explore

// chunkRows is the number of rows for which memory is taken at a time.
const chunkRows = 1024

// rows is a sequence of rows that grows without a copy of what it holds.
type rows struct {
	width  int // cells of the rows that are added
	len    int
	room   int // rows that there is memory for
	chunks []chunk
}

// chunk holds chunkRows rows of one width; the first one grows up to that, because most
// tables are small.
type chunk struct {
	width int
	cells []uint32
}

// chunkBytes is the memory of a chunk's entry, in a list that doubles.
const chunkBytes = 64

// at returns a row. It has fewer cells than width if widen was called since it was added: the
// missing ones are 0.
func (r *rows) at(i uint32) []uint32 {
	c := &r.chunks[i/chunkRows]
	from := int(i%chunkRows) * c.width
	return c.cells[from : from+c.width]
}

// add appends a row and reports whether there was memory for it.
func (r *rows) add(row []uint32, b *budget) bool {
	if r.len == r.room && !r.extend(b) {
		return false
	}
	copy(r.chunks[len(r.chunks)-1].cells[r.len%chunkRows*r.width:], row)
	r.len++
	return true
}

// extend takes memory for more rows and reports whether there was enough.
func (r *rows) extend(b *budget) bool {
	has, size := 0, chunkRows
	if r.len < chunkRows {
		has, size = r.len, max(2*r.len, 8)
	}
	if !b.take(int64(4 * r.width * (size - has))) {
		return false
	}
	if has == 0 {
		b.left -= chunkBytes
		r.chunks = append(r.chunks, chunk{width: r.width})
	}
	last := &r.chunks[len(r.chunks)-1]
	cells := make([]uint32, size*r.width)
	copy(cells, last.cells)
	last.cells = cells
	r.room += size - has
	return true
}

// widen adds a cell to the rows, which is 0 in those there are, and reports whether there was
// memory for it.
func (r *rows) widen(b *budget) bool {
	if r.len < len(r.chunks)*chunkRows {
		last := &r.chunks[len(r.chunks)-1]
		size := len(last.cells) / r.width
		if !b.take(int64(4 * size)) {
			return false
		}
		wide := chunk{r.width + 1, make([]uint32, size*(r.width+1))}
		for i := range size {
			copy(wide.cells[i*wide.width:], last.cells[i*r.width:(i+1)*r.width])
		}
		*last = wide
	}
	r.width++
	return true
}

// bytes returns the memory that the rows took from their budget.
func (r *rows) bytes() (sum int64) {
	for _, c := range r.chunks {
		sum += int64(4*len(c.cells)) + chunkBytes
	}
	return sum
}
