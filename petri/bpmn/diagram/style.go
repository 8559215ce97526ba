// SPDX-License-Identifier: Apache-2.0

package diagram

// Style is the style sheet in every picture. A server that sends a picture with a
// Content-Security-Policy must allow it, by its hash. Its colours are those of draw.Style.
//
// Heat is shown by colour and also by the width of the line.
const Style = `
.bp{--paper:#fff;--ink:#1f2933;--soft:#52606d;--node:#f8fafc;--go:#0a7d33;--gofill:#e3f6e8;--h1:#fff3c4;--h2:#fdd27c;--h3:#fb9a5b;--h4:#ef5a53;font-family:system-ui,"DejaVu Sans",sans-serif}
@media (prefers-color-scheme:dark){.bp{--paper:#11181f;--ink:#e4e9ee;--soft:#a3b1bf;--node:#1b2631;--go:#5fd68a;--gofill:#143524;--h1:#453f16;--h2:#6b4c0c;--h3:#8d4210;--h4:#b3231c}}
.bp .ground{fill:var(--paper)}
.bp text{fill:var(--ink);font-size:12px;text-anchor:middle;dominant-baseline:central}
.bp .out,.bp .rate{paint-order:stroke;stroke:var(--paper);stroke-width:4px;stroke-opacity:.8;stroke-linejoin:round}
.bp .start{text-anchor:start}
.bp .body{fill:var(--node);stroke:var(--ink);stroke-width:1.5}
.bp .area .body{fill:none}
.bp .line,.bp .icon{fill:none;stroke:var(--ink);stroke-width:1.3;stroke-linejoin:round}
.bp .full{fill:var(--ink);stroke:var(--node);stroke-width:1;stroke-linejoin:round}
.bp .bold{stroke-width:3.5}
.bp .thick{stroke-width:3}
.bp .dash{stroke-dasharray:5 4}
.bp .dot{stroke-dasharray:1.5 3}
.bp .group .body{stroke-dasharray:9 4 2 4}
.bp .gear{stroke-width:2.6;stroke-dasharray:2.2 2.2}
.bp .flow{fill:none;stroke:var(--soft);stroke-width:1.5}
.bp .tip{fill:var(--soft);stroke:var(--soft);stroke-linejoin:round}
.bp .open{fill:var(--paper);stroke:var(--soft);stroke-width:1.3}
.bp .bare{fill:none;stroke:var(--soft);stroke-width:1.3}
.bp .enabled>.body{stroke:var(--go);fill:var(--gofill)}
.bp .area.enabled>.body{fill:none}
.bp .heat1>.body,.bp .heat1>.badge{fill:var(--h1)}
.bp .heat2>.body,.bp .heat2>.badge{fill:var(--h2)}
.bp .heat3>.body,.bp .heat3>.badge{fill:var(--h3)}
.bp .heat4>.body,.bp .heat4>.badge{fill:var(--h4)}
.bp .heat2>.body:not(.bold){stroke-width:2}
.bp .heat3>.body:not(.bold){stroke-width:2.75}
.bp .heat4>.body:not(.bold){stroke-width:3.5}
.bp .badge{fill:var(--paper);stroke:var(--ink);stroke-width:1.5}
.bp .count{font-weight:700}
.bp .rate{font-size:10px;fill:var(--soft);text-anchor:end}
`

// markers are the ends of edges.
const markers = `<defs>
<marker id="bp-flow" viewBox="0 0 10 10" refX="9.5" refY="5" markerWidth="10" markerHeight="10" markerUnits="userSpaceOnUse" orient="auto"><path class="tip" d="M1 1.5 9 5 1 8.5z"/></marker>
<marker id="bp-message" viewBox="0 0 10 10" refX="9.5" refY="5" markerWidth="10" markerHeight="10" markerUnits="userSpaceOnUse" orient="auto"><path class="open" d="M1 1.5 9 5 1 8.5z"/></marker>
<marker id="bp-from" viewBox="0 0 8 8" refX="0.5" refY="4" markerWidth="8" markerHeight="8" markerUnits="userSpaceOnUse" orient="auto"><circle class="open" cx="4" cy="4" r="3"/></marker>
<marker id="bp-condition" viewBox="0 0 16 10" refX="0.5" refY="5" markerWidth="16" markerHeight="10" markerUnits="userSpaceOnUse" orient="auto"><path class="open" d="M1 5 8 1 15 5 8 9z"/></marker>
<marker id="bp-default" viewBox="0 0 12 10" refX="0" refY="5" markerWidth="12" markerHeight="10" markerUnits="userSpaceOnUse" orient="auto"><path class="bare" d="M5 9 9 1"/></marker>
<marker id="bp-points" viewBox="0 0 10 10" refX="9" refY="5" markerWidth="10" markerHeight="10" markerUnits="userSpaceOnUse" orient="auto-start-reverse"><path class="bare" d="M2 1.5 9 5 2 8.5"/></marker>
</defs>
`
