// SPDX-License-Identifier: Apache-2.0

package integrations

// cactiFiles returns a data query for each table. Cacti takes the last number of an OID for the
// index of a row, unless an expression finds another. A data source of Cacti belongs to the row that
// has its value in the sort field, which is the first field of index_order whose values are unique at
// the time, and any field with the OID of oid_index. So there is one field, the index: it is unique,
// and a name is not.
func cactiFiles(s *site) (files []File) {
	for _, t := range tables() {
		files = append(files, File{Path: "cacti/pn_" + t.Key + ".xml", Content: s.filled("cacti/query.xml", t)})
	}
	return append(files, s.files("cacti", "README.md")...)
}

// cactiParse returns the expression that finds the index of a row of a table in an OID.
func (s *site) cactiParse(t shown) string {
	for _, section := range s.described.Sections {
		if section.Name == t.Section && len(section.Index) == 2 {
			return `OID/REGEXP:.*\.([0-9]+\.[0-9]+)$`
		}
	}
	return `OID/REGEXP:.*\.([0-9]+)$`
}
