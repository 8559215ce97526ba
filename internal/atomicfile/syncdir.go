// SPDX-License-Identifier: Apache-2.0

//go:build !windows

package atomicfile

import (
	"errors"
	"os"
)

func (system) syncDir(dir string) error {
	d, err := os.Open(dir)
	if err != nil {
		return err
	}
	return errors.Join(d.Sync(), d.Close())
}
