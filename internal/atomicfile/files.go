// SPDX-License-Identifier: Apache-2.0

package atomicfile

import (
	"io/fs"
	"path/filepath"
)

// File is a generated file.
type File struct {
	Path    string // with slashes, below a directory
	Content []byte
	Program bool // it is executable
}

// Written is the result of writing a file.
type Written struct {
	Path    string
	Changed bool // false if the file had this content already
}

// UpdateAll updates files below dir, in their order, up to the first that cannot be written.
func UpdateAll(dir string, files []File) (all []Written, err error) {
	for _, f := range files {
		mode := fs.FileMode(0o644)
		if f.Program {
			mode = 0o755
		}
		path := filepath.Join(dir, filepath.FromSlash(f.Path))
		changed, err := Update(path, f.Content, mode)
		if err != nil {
			return all, err
		}
		all = append(all, Written{path, changed})
	}
	return all, nil
}
