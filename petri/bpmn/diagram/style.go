// SPDX-License-Identifier: Apache-2.0

package diagram

import _ "embed"

// Style is the style sheet in every picture. A server that sends a picture with a
// Content-Security-Policy must allow it, by its hash. Its colours are those of draw.Style.
//
// Heat is shown by colour and also by the width of the line.
//
//go:embed style.css
var Style string

// markers are the ends of edges.
//
//go:embed markers.svg
var markers string
