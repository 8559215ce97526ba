// SPDX-License-Identifier: Apache-2.0

package draw

func (d *Drawing) layered() {}
