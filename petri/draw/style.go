// SPDX-License-Identifier: Apache-2.0

package draw

// Style is the style sheet in every picture. A server that sends a picture with
// a Content-Security-Policy must allow it, by its hash.
//
// Heat is shown by colour and also by the width of the line.
const Style = `
.pn{--paper:#fff;--ink:#1f2933;--soft:#52606d;--node:#f8fafc;--go:#0a7d33;--gofill:#e3f6e8;--h1:#fff3c4;--h2:#fdd27c;--h3:#fb9a5b;--h4:#ef5a53;font-family:system-ui,"DejaVu Sans",sans-serif}
@media (prefers-color-scheme:dark){.pn{--paper:#11181f;--ink:#e4e9ee;--soft:#a3b1bf;--node:#1b2631;--go:#5fd68a;--gofill:#143524;--h1:#453f16;--h2:#6b4c0c;--h3:#8d4210;--h4:#b3231c}}
.pn .ground{fill:var(--paper)}
.pn text{fill:var(--ink);font-size:12px;text-anchor:middle;dominant-baseline:central}
.pn .arc{fill:none;stroke:var(--soft);stroke-width:1.3}
.pn .read{stroke-dasharray:6 4}
.pn .join{stroke-dasharray:2 3}
.pn .tip{fill:var(--soft);stroke:var(--soft);stroke-linejoin:round}
.pn .open{fill:var(--paper);stroke:var(--soft);stroke-width:1.3}
.pn .weight,.pn .below{paint-order:stroke;stroke:var(--paper);stroke-width:4px;stroke-opacity:.8;stroke-linejoin:round}
.pn .weight{font-weight:600}
.pn .place circle.body,.pn .transition rect{fill:var(--node);stroke:var(--ink);stroke-width:1.5}
.pn .token{fill:var(--ink)}
.pn .count{font-size:14px;font-weight:700}
.pn .rate{font-size:10px;fill:var(--soft)}
.pn .enabled rect{stroke:var(--go);stroke-width:2.5;fill:var(--gofill)}
.pn .heat1 circle.body{fill:var(--h1)}
.pn .heat2 circle.body{fill:var(--h2);stroke-width:2}
.pn .heat3 circle.body{fill:var(--h3);stroke-width:2.75}
.pn .heat4 circle.body{fill:var(--h4);stroke-width:3.5}
`

// markers are the ends of arcs. Each is as long as it is wide, with its tip on the
// border of the node.
const markers = `<defs>
<marker id="pn-normal" viewBox="0 0 10 10" refX="9.5" refY="5" markerWidth="10" markerHeight="10" markerUnits="userSpaceOnUse" orient="auto"><path class="tip" d="M1 1.5 9 5 1 8.5z"/></marker>
<marker id="pn-read" viewBox="0 0 10 10" refX="9.5" refY="5" markerWidth="10" markerHeight="10" markerUnits="userSpaceOnUse" orient="auto"><path class="open" d="M1 1.5 9 5 1 8.5z"/></marker>
<marker id="pn-inhibitor" viewBox="0 0 10 10" refX="9.5" refY="5" markerWidth="10" markerHeight="10" markerUnits="userSpaceOnUse" orient="auto"><circle class="open" cx="5" cy="5" r="4"/></marker>
<marker id="pn-reset" viewBox="0 0 18 10" refX="17.5" refY="5" markerWidth="18" markerHeight="10" markerUnits="userSpaceOnUse" orient="auto"><path class="tip" d="M1 1.5 9 5 1 8.5zM9 1.5 17 5 9 8.5z"/></marker>
<marker id="pn-branch" viewBox="0 0 14 10" refX="0.5" refY="5" markerWidth="14" markerHeight="10" markerUnits="userSpaceOnUse" orient="auto"><path class="open" d="M1 5 7 1.5 13 5 7 8.5z"/></marker>
</defs>
`
