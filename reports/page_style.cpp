// registry: none (style of the page)
#include "reports/page_style.hpp"

namespace rehearse::reports {

namespace {

constexpr std::string_view style = R"css(
:root {
  color-scheme: light dark;
  --paper: #ffffff; --ink: #1b1f24; --soft: #57606a; --line: #d8dee4; --faint: #f6f8fa;
  --c0: #57606a; --c1: #0072b2; --c2: #d55e00; --c3: #009e73; --c4: #aa4499;
  --busy: #0072b2; --reserved: #e69f00; --drain: #d55e00; --blocked: #cc79a7;
  --unusable: #9aa4ae; --idle: #e6eaee; --stroke: #ffffff;
  --good: #00734f; --bad: #b04a00;
}
@media (prefers-color-scheme: dark) {
  :root {
    --paper: #12161b; --ink: #e6e9ec; --soft: #9aa5b1; --line: #303842; --faint: #1a2027;
    --c0: #aab4be; --c1: #56b4e9; --c2: #f0894a; --c3: #3fc79a; --c4: #d99bcb;
    --busy: #3d9bd8; --reserved: #e6a52e; --drain: #e8762d; --blocked: #d58db6;
    --unusable: #6b7682; --idle: #2a323b; --stroke: #12161b;
    --good: #4fd1a5; --bad: #f59a5c;
  }
}
* { box-sizing: border-box; }
html { font-size: 16px; }
body {
  margin: 0 auto; padding: 2.5rem 1.5rem 4rem; max-width: 68rem;
  background: var(--paper); color: var(--ink);
  font-family: "Inter", "Source Sans 3", "Segoe UI", "Helvetica Neue", Arial, sans-serif;
  line-height: 1.5;
}
h1 { font-size: 1.7rem; line-height: 1.25; margin: 0.3rem 0 0.8rem; font-weight: 650;
     letter-spacing: -0.01em; text-wrap: pretty; overflow-wrap: anywhere; }
h2 { font-size: 1.15rem; margin: 2.8rem 0 0.6rem; padding-top: 0.7rem;
     border-top: 1px solid var(--line); font-weight: 650; }
h3 { font-size: 0.95rem; margin: 1.4rem 0 0.3rem; font-weight: 600; }
p, ul { margin: 0.4rem 0; }
.kicker, .note, figcaption, footer { color: var(--soft); font-size: 0.88rem; }
.kicker { margin: 0; }
.details p { margin: 0.25rem 0; }
.alarm { border-left: 4px solid var(--bad); padding: 0.4rem 0.8rem; background: var(--faint);
         margin: 0.8rem 0; }
.wide { overflow-x: auto; }
caption { text-align: left; font-weight: 600; padding: 0.9rem 0 0.1rem; font-size: 0.95rem; }
caption::first-letter { text-transform: uppercase; }
table { border-collapse: collapse; font-size: 0.9rem; margin: 0.6rem 0;
        font-variant-numeric: tabular-nums; }
th, td { padding: 0.22rem 0.9rem 0.22rem 0; text-align: left; vertical-align: baseline;
         border-bottom: 1px solid var(--line); }
th { font-weight: 600; color: var(--soft); }
thead th { border-bottom: 1.5px solid var(--soft); }
td.n, th.n { text-align: right; padding-left: 0.9rem; padding-right: 0; white-space: nowrap; }
td.n + td:not(.n), th.n + th:not(.n) { padding-left: 1.2rem; }
tr.sum td, tr.sum th { border-top: 1.5px solid var(--soft); font-weight: 600; color: var(--ink); }
.good { color: var(--good); }
.bad { color: var(--bad); }
figure { margin: 0.8rem 0 1.2rem; }
figcaption { margin-top: 0.2rem; }
svg { display: block; width: 100%; height: auto; overflow: visible; }
svg text { fill: var(--ink); font-size: 12px; font-family: inherit;
           font-variant-numeric: tabular-nums; }
svg .tick { fill: var(--soft); font-size: 11px; }
svg .label { fill: var(--soft); font-size: 12px; }
svg .key { font-size: 12.5px; }
svg .row { font-size: 11.5px; }
svg .grid { stroke: var(--line); stroke-width: 0.7; }
svg .axis { stroke: var(--soft); stroke-width: 1; }
svg .waits { stroke: var(--soft); stroke-width: 1; stroke-dasharray: 2 2; }
svg .curve { fill: none; stroke-width: 2; stroke-linejoin: round; }
svg .c0 { stroke: var(--c0); stroke-dasharray: 7 3; }
svg .c1 { stroke: var(--c1); }
svg .c2 { stroke: var(--c2); stroke-dasharray: 10 3 2 3; }
svg .c3 { stroke: var(--c3); stroke-dasharray: 3 2; }
svg .c4 { stroke: var(--c4); stroke-dasharray: 12 3; }
svg .u-busy { fill: var(--busy); }
svg .u-reserved { fill: url(#hatch-reserved); }
svg .u-drain { fill: url(#hatch-drain); }
svg .u-blocked { fill: url(#hatch-blocked); }
svg .u-unusable { fill: var(--unusable); }
svg .u-idle { fill: var(--idle); }
svg text.inside { fill: #ffffff; font-size: 11px; font-weight: 600; paint-order: stroke;
                  stroke: rgba(0, 0, 0, 0.55); stroke-width: 2px; }
svg .faster { fill: var(--c1); }
svg .slower { fill: var(--c2); }
svg .same { fill: var(--soft); }
svg .gang { fill: var(--busy); stroke: var(--stroke); stroke-width: 0.5; }
svg .regular { fill: var(--unusable); stroke: var(--stroke); stroke-width: 0.5; }
svg .ended-badly { fill: url(#hatch-drain); stroke: var(--drain); stroke-width: 1; }
.swatches { list-style: none; padding: 0; display: flex; flex-wrap: wrap; gap: 0.2rem 1.2rem;
            font-size: 0.88rem; }
.swatches svg { display: inline-block; width: 1.6em; height: 0.8em; margin-right: 0.35em;
                vertical-align: -0.05em; }
dl { display: grid; grid-template-columns: minmax(9rem, 13rem) 1fr; gap: 0.3rem 1.2rem;
     font-size: 0.88rem; margin: 0.6rem 0; }
dt { font-weight: 600; }
dd { margin: 0; }
@media (max-width: 40rem) { dl { grid-template-columns: 1fr; } dd { margin-bottom: 0.4rem; } }
@page { size: A4; margin: 14mm; }
@media print {
  :root {
    --paper: #ffffff; --ink: #000000; --soft: #444444; --line: #cccccc; --faint: #f4f4f4;
    --c0: #57606a; --c1: #0072b2; --c2: #d55e00; --c3: #009e73; --c4: #aa4499;
    --busy: #0072b2; --reserved: #e69f00; --drain: #d55e00; --blocked: #cc79a7;
    --unusable: #9aa4ae; --idle: #e6eaee; --stroke: #ffffff; --good: #00734f; --bad: #b04a00;
  }
  html { font-size: 11px; }
  body { padding: 0; max-width: none; }
  * { print-color-adjust: exact; -webkit-print-color-adjust: exact; }
  h2, h3 { break-after: avoid; }
  figure, table, tr, dt, dd, .alarm { break-inside: avoid; }
  .wide { overflow: visible; }
}
)css";

constexpr std::string_view patterns =
    R"svg(<svg class="defs" width="0" height="0" aria-hidden="true" style="position:absolute">
<defs>
<pattern id="hatch-reserved" width="6" height="6" patternUnits="userSpaceOnUse">
<rect width="6" height="6" style="fill:var(--reserved)"/>
<path d="M0 3H6" style="stroke:var(--paper);stroke-width:1"/></pattern>
<pattern id="hatch-drain" width="6" height="6" patternUnits="userSpaceOnUse">
<rect width="6" height="6" style="fill:var(--drain)"/>
<path d="M-1 1L1 -1M0 6L6 0M5 7L7 5" style="stroke:var(--paper);stroke-width:1.2"/></pattern>
<pattern id="hatch-blocked" width="6" height="6" patternUnits="userSpaceOnUse">
<rect width="6" height="6" style="fill:var(--blocked)"/>
<path d="M3 0V6" style="stroke:var(--paper);stroke-width:1"/></pattern>
</defs>
</svg>
)svg";

}  // namespace

std::string_view page_style() { return style; }

std::string_view page_patterns() { return patterns; }

}  // namespace rehearse::reports
