// SPDX-License-Identifier: Apache-2.0

package diagram

// Picture returns a diagram of a process: that of the file that shows the most of its flow
// nodes, or, if a node or a flow of the process is in none, that of Layout. It returns nil for
// a process that the file does not have.
func (f *File) Picture(process string) *Diagram {
	of := f.byID[process]
	if of == nil {
		return nil
	}
	from := f.Diagrams
	if !f.coveredIn(of.elem, f.drawn()) {
		from = f.Layout()
	}
	nodes := map[string]bool{}
	for _, k := range of.Kids {
		nodes[k.Attr("id")] = isNode(k.Name.Local)
	}
	var best *Diagram
	most := 0
	for i := range from {
		count := 0
		for k := range from[i].Shapes {
			if nodes[from[i].Shapes[k].Element] {
				count++
			}
		}
		if count > most {
			best, most = &from[i], count
		}
	}
	return best
}
