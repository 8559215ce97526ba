// SPDX-License-Identifier: Apache-2.0
import { HeatScale } from './heat.js';

/** Colours of the canvas: those of colours.css, and the heat of the theme. */
export class Palette {
  /** @param {'light'|'dark'} theme */
  constructor(theme) {
    const style = getComputedStyle(document.documentElement);
    /** @param {string} token */
    const of = (token) => style.getPropertyValue('--' + token).trim();
    this.ground = of('ground');
    this.ink = of('ink');
    this.quiet = of('quiet');
    this.arc = of('arc');
    this.line = of('node-line');
    this.empty = of('node-empty');
    this.bar = of('bar');
    this.barLive = of('bar-live');
    this.dot = of('dot');
    this.accent = of('accent');
    this.bad = of('bad');
    this.warn = of('warn');
    this.past = of('past');
    this.pastSoft = of('past-soft');
    /** Places whose tokens may stay. */ this.finished = of('track');
    this.heat = new HeatScale(theme);
  }
}
