// SPDX-License-Identifier: Apache-2.0
// Code of Grafana: each panel's answers, as Prometheus would give them, go
// through the transformations and overrides of @grafana/data.

'use strict';

/** Properties of all panels that an override may set, with their processors. */
const standard = { unit: 'unitOverrideProcessor', min: 'numberOverrideProcessor', max: 'numberOverrideProcessor', decimals: 'numberOverrideProcessor',
  displayName: 'displayNameOverrideProcessor', noValue: 'displayNameOverrideProcessor', color: 'identityOverrideProcessor', links: 'dataLinksOverrideProcessor',
  mappings: 'valueMappingsOverrideProcessor', thresholds: 'thresholdsOverrideProcessor', filterable: 'booleanOverrideProcessor' };

/**
 * @param {any} grafana a version of @grafana/data
 * @param {Record<string, any>} dashboards by file name
 * @returns {Promise<string[]>} what is wrong
 */
exports.check = async function check(grafana, dashboards) {
  prepare(grafana);
  const wrong = [];
  for (const [file, dashboard] of Object.entries(dashboards)) {
    for (const panel of dashboard.panels.flatMap((p) => p.panels ?? [p]).filter((p) => p.type !== 'row')) {
      const say = (text) => wrong.push(`${file}, ${panel.title}: ${text}`);
      try {
        await look(grafana, dashboard, panel, say);
      } catch (error) {
        say(`Grafana throws: ${error.message}`);
      }
    }
  }
  return wrong;
};

/** Fills the registries that Grafana's application fills. */
function prepare(g) {
  const transformers = new Map(Object.values(g.standardTransformers).map((t) => [t.id, t])); // some are there under two names
  g.standardTransformersRegistry.setInit(() => [...transformers.values()].map((t) => ({ id: t.id, name: t.name, transformation: t, editor: () => null })));
  g.standardEditorsRegistry.setInit(() => []);
  g.standardFieldConfigEditorRegistry.setInit(() => Object.entries(standard).map(([id, process]) => (
    { id, path: id, name: id, editor: () => null, override: () => null, process: g[process], shouldApply: () => true, settings: {} })));
}

async function look(g, dashboard, panel, say) {
  const plugin = new g.PanelPlugin(() => null);
  const custom = customs(panel.fieldConfig);
  plugin.useFieldConfig({ useCustomConfig: (b) => custom.forEach((id) => b.addCustomEditor(
    { id, path: id, name: id, editor: () => null, override: () => null, process: (v) => v, shouldApply: () => true })) });
  const { fieldConfig } = g.getPanelOptionsWithDefaults({ plugin, currentOptions: panel.options, currentFieldConfig: structuredClone(panel.fieldConfig), isAfterPluginChange: false });
  names(g, panel, plugin.fieldConfigRegistry, say);
  const answers = frames(g, panel);
  const transformations = panel.transformations ?? [];
  for (const t of transformations) if (!g.standardTransformersRegistry.getIfExists(t.id)) say(`there is no transformation ${t.id}`);
  const merged = await done(g.transformDataFrame(transformations.filter((t) => t.id === 'merge'), answers));
  for (const t of transformations.filter((x) => x.id === 'organize')) {
    const columns = merged.flatMap((f) => f.fields.map((x) => x.name));
    for (const [option, of] of Object.entries(t.options)) {
      for (const name of Object.keys(of)) if (!columns.includes(name)) say(`${option} has the column ${name}; there are ${columns.join(', ')}`);
    }
  }
  const data = g.applyFieldOverrides({ data: await done(g.transformDataFrame(transformations, answers)), fieldConfig, fieldConfigRegistry: plugin.fieldConfigRegistry,
    replaceVariables: (text) => text, theme: g.createTheme(), timeZone: 'utc' });
  const fields = data.flatMap((frame) => frame.fields.map((field) => ({ field, frame, name: g.getFieldDisplayName(field, frame, data) })));
  for (const { field } of fields) field.display(field.values[0]);
  overrides(g, dashboard, panel, fields, data, say);
}

/** The properties of their own that a panel's fields have. */
function customs(config) {
  const ids = [...Object.keys(config.defaults.custom ?? {}), ...config.overrides.flatMap((o) => o.properties ?? []).map((p) => p.id).filter((id) => id.startsWith('custom.')).map((id) => id.slice(7))];
  return [...new Set(ids)];
}

/** What a panel calls by name has to be there. */
function names(g, panel, registry, say) {
  const units = new Set(g.getValueFormats().flatMap((c) => [c, ...(c.submenu ?? [])]).map((f) => f.value));
  const theme = g.createTheme();
  const thresholds = (t, where) => t?.steps.forEach((s, i) => {
    const colour = theme.visualization.getColorByName(s.color);
    if (colour === s.color && !/^(#|rgb|transparent$)/.test(colour)) say(`${where} has the colour ${s.color}`);
    if ((s.value === null) !== (i === 0)) say(`${where}: only the first step begins at null`);
  });
  const one = (id, value, where) => {
    if (id === 'unit' && !units.has(value) && !/^suffix:./.test(value)) say(`${where} has the unit ${value}`);
    if (id === 'thresholds') thresholds(value, where);
    if (id === 'color' && !g.fieldColorModeRegistry.getIfExists(value.mode)) say(`${where} has the colour mode ${value.mode}`);
  };
  const { defaults, overrides } = panel.fieldConfig;
  for (const o of overrides) cells(g, o, say);
  for (const [id, value] of Object.entries(defaults)) one(id, value, 'the panel');
  for (const o of overrides) {
    if (!g.fieldMatchers.getIfExists(o.matcher.id)) say(`there is no matcher ${o.matcher.id}`);
    for (const p of o.properties) {
      if (!registry.getIfExists(p.id)) say(`the override of ${o.matcher.options} sets ${p.id}, which there is not`);
      one(p.id, p.value, `the override of ${o.matcher.options}`);
    }
  }
  const { legend, reduceOptions } = panel.options ?? {};
  const calcs = [...(legend?.calcs ?? []), ...(reduceOptions?.calcs ?? [])];
  for (const id of calcs) if (!g.fieldReducers.getIfExists(id)) say(`there is no calculation ${id}`);
  if (legend?.sortBy && !calcs.some((id) => g.fieldReducers.getIfExists(id)?.name === legend.sortBy)) say(`the legend is sorted by ${legend.sortBy}, which it does not show`);
}

/** Colours of cells are such that Grafana's text on them can be read, in both themes. */
function cells(g, override, say) {
  const set = Object.fromEntries(override.properties.map((p) => [p.id, p.value]));
  if (set['custom.cellOptions']?.type !== 'color-background') return;
  const colours = [...(set.thresholds?.steps ?? []), ...(set.mappings ?? []).flatMap((m) => (m.type === 'special' ? [m.options.result] : Object.values(m.options)))].map((x) => x.color).filter((c) => c && c !== 'transparent');
  for (const mode of ['dark', 'light']) {
    const theme = g.createTheme({ colors: { mode } });
    for (const colour of colours) {
      const back = theme.visualization.getColorByName(colour);
      const [red, green, blue] = [1, 3, 5].map((i) => parseInt(back.slice(i, i + 2), 16));
      const text = (299 * red + 587 * green + 114 * blue) / 1000 > 180 ? 'rgb(32, 34, 38)' : 'rgb(247, 248, 250)'; // Grafana's choice
      const contrast = g.colorManipulator.getContrastRatio(back, text);
      if (contrast < 4.5) say(`text on the colour ${colour} of ${override.matcher.options} has the contrast ${contrast.toFixed(1)} in the ${mode} theme`);
    }
  }
}

/** Each override is of some field and has an effect, and each link has all its values. */
function overrides(g, dashboard, panel, fields, data, say) {
  const known = new Set(dashboard.templating.list.map((v) => v.name));
  for (const o of panel.fieldConfig.overrides) {
    const match = g.fieldMatchers.get(o.matcher.id).get(o.matcher.options);
    const matched = fields.filter(({ field, frame }) => match(field, frame, data));
    if (!matched.length) say(`the override of ${o.matcher.options} is of none of ${fields.map((f) => f.name).join(', ')}`);
    for (const p of o.properties) {
      for (const { field } of matched) {
        const is = p.id.split('.').reduce((c, key) => c?.[key], field.config);
        if (is === undefined) say(`${p.id} of ${o.matcher.options} has no effect`);
      }
      if (p.id !== 'links') continue;
      for (const [, name] of p.value.flatMap((l) => [...l.url.matchAll(/\$\{([^}:]+)[^}]*\}/g)])) {
        const column = name.match(/^__data\.fields\.(.+)$/)?.[1];
        if (column ? !fields.some((f) => f.name === column) : !name.startsWith('__') && !known.has(name)) say(`a link of ${o.matcher.options} needs ${name}`);
      }
    }
  }
  for (const { displayName } of panel.options?.sortBy ?? []) {
    if (!fields.some((f) => f.name === displayName)) say(`it is sorted by ${displayName}, which is no column`);
  }
}

/** What the Prometheus data source makes of answers with two series each. */
function frames(g, panel) {
  const time = { name: 'Time', type: 'time', config: {}, values: [1e12, 1e12 + 1000] };
  const single = panel.targets.length === 1;
  return panel.targets.flatMap((target) => {
    const labels = labelsOf(target.expr);
    if (target.format === 'table') {
      return [g.toDataFrame({ refId: target.refId, fields: [time, ...labels.map((name) => ({ name, type: 'string', config: {}, values: [name + ' 1', name + ' 2'] })),
        { name: single ? 'Value' : 'Value #' + target.refId, type: 'number', config: {}, values: [1, 3601] }] })];
    }
    return [1, 2].map((n) => {
      const of = Object.fromEntries(labels.map((name) => [name, `${name} ${n}`]));
      const called = target.legendFormat.replace(/\{\{\s*(.+?)\s*\}\}/g, (_, name) => of[name] ?? '');
      return g.toDataFrame({ refId: target.refId, fields: [time, { name: 'Value', type: 'number', labels: of, config: { displayNameFromDS: called }, values: [n, null] }] });
    });
  });
}

/** The labels by which an expression groups at its outermost. */
function labelsOf(expr) {
  const by = expr.match(/\bby \(([^)]*)\)/);
  return by ? by[1].split(',').map((l) => l.trim()).filter(Boolean) : [];
}

function done(observable) {
  return new Promise((resolve, reject) => observable.subscribe({ next: resolve, error: reject }));
}
