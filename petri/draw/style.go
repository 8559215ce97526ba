// SPDX-License-Identifier: Apache-2.0

package draw

import _ "embed"

// Style is the style sheet in every picture. A server that sends a picture with
// a Content-Security-Policy must allow it, by its hash.
//
// Heat is shown by colour and also by the width of the line.
//
//go:embed style.css
var Style string

// markers are the ends of arcs. Each is as long as it is wide, with its tip on the
// border of the node.
//
//go:embed markers.svg
var markers string
