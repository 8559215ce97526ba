// SPDX-License-Identifier: Apache-2.0
// Types of Grafana: each dashboard, and the options of each of its panels, must
// be of the types that @grafana/schema has for them.

'use strict';

const fs = require('fs');
const path = require('path');

/** The types of the kinds of panels, by where @grafana/schema has them. */
const kinds = { heatmap: 'Heatmap', stat: 'Stat', table: 'Table', timeseries: 'TimeSeries' };

/**
 * JSON has texts where Grafana has enumerations of texts. A value may have more
 * than its type: what a version of Grafana does not know it leaves alone.
 */
const header = `import type { Dashboard } from '@grafana/schema';
type Plain<T> = T extends string ? \`\${T}\` : T extends readonly (infer U)[] ? readonly Plain<U>[] : T extends object ? { readonly [K in keyof T]: Plain<T[K]> } : T;
declare function is<T>(): <const V extends Plain<T>>(value: V) => void;
`;

/**
 * @param {(name: string) => any} need loads a package of those installed
 * @param {string} root where they are installed
 * @param {string} version of Grafana, such as 10
 * @param {Record<string, any>} dashboards by file name
 * @returns {string[]} what is wrong
 */
exports.check = function check(need, root, version, dashboards) {
  const ts = need('typescript');
  const schema = path.join(root, 'node_modules', 'schema' + version);
  const declarations = fs.existsSync(path.join(schema, 'dist', 'types')) ? 'dist/types/index.d.ts' : 'dist/index.d.ts';
  const options = { strict: true, noEmit: true, skipLibCheck: true, types: [], target: ts.ScriptTarget.ES2022, module: ts.ModuleKind.ESNext,
    moduleResolution: ts.ModuleResolutionKind.Bundler, baseUrl: root,
    paths: { '@grafana/schema': [path.join(schema, declarations)], '@grafana/schema/dist/*': [path.join(schema, 'dist', '*')] } };
  const sources = Object.fromEntries(Object.entries(dashboards).map(([name, d]) => [path.join(root, name.replace('.json', '.ts')), source(d)]));
  const host = ts.createCompilerHost(options);
  const { readFile, fileExists } = host;
  host.readFile = (name) => sources[name] ?? readFile(name);
  host.fileExists = (name) => name in sources || fileExists(name);
  const program = ts.createProgram(Object.keys(sources), options, host);
  const unknownProperty = 2353; // said only where something else is wrong, too
  return ts.getPreEmitDiagnostics(program).filter((d) => d.code !== unknownProperty).map((d) => {
    const text = ts.flattenDiagnosticMessageText(d.messageText, '\n').split('\n').map((l) => l.trim().slice(0, 300));
    const why = [text[0], ...text.slice(1).slice(-3)].join(' ');
    if (!d.file || !(d.file.fileName in sources)) return why;
    const lines = d.file.text.slice(0, d.start).split('\n');
    const about = lines.reverse().find((l) => l.startsWith('// ')) ?? '';
    return `${path.basename(d.file.fileName, '.ts')}.json, ${about.slice(3)}: ${why}`;
  });
};

/** A dashboard, its panels' options and fields as values with types. */
function source(dashboard) {
  let text = header;
  for (const [kind, name] of Object.entries(kinds)) {
    text += `import type * as ${kind} from '@grafana/schema/dist/esm/raw/composable/${kind}/panelcfg/x/${name}PanelCfg_types.gen';\n`;
  }
  const value = (what, type, v) => { text += `// ${what}\nis<${type}>()(${JSON.stringify(v)});\n`; };
  value('the dashboard', 'Dashboard', dashboard);
  for (const p of dashboard.panels) {
    if (p.type === 'row') continue;
    if (!kinds[p.type]) throw new Error(`panel ${p.title} is a ${p.type}`);
    value(`options of ${p.title}`, `Partial<${p.type}.Options>`, p.options);
    if (p.type === 'stat') continue; // its fields have nothing of their own
    value(`fields of ${p.title}`, `Partial<${p.type}.FieldConfig>`, p.fieldConfig.defaults.custom ?? {});
    for (const o of p.fieldConfig.overrides) {
      for (const { id, value: v } of (o.properties ?? []).filter((x) => x.id.startsWith('custom.'))) {
        value(`${id} of ${o.matcher.options} of ${p.title}`, `${p.type}.FieldConfig['${id.slice(7)}']`, v);
      }
    }
  }
  return text;
}
