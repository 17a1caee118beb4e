/** A small chart with its name and its newest value. */
import { el, svg } from './dom.ts';
import { linePath, type Series } from './series.ts';

const WIDTH = 100;
const HEIGHT = 28;
/** Values in a chart. */
export const SLOTS = 60;

export interface Sparkline {
  readonly element: HTMLElement;
  /** @param most what reaches the top; grows with the values. @param said the newest value, in words. */
  draw(series: Series, most: number, said: string): void;
}

export function sparkline(name: string): Sparkline {
  const area = svg('path', { class: 'area' });
  const line = svg('path', { class: 'line', 'vector-effect': 'non-scaling-stroke' });
  const value = el('span', { class: 'value' }, '–');
  const chart = svg(
    'svg',
    { viewBox: `0 -1 ${WIDTH} ${HEIGHT + 2}`, preserveAspectRatio: 'none', 'aria-hidden': 'true' },
    area,
    line,
  );
  const element = el('div', { class: 'sparkline' }, el('span', { class: 'name' }, name), value, chart);
  return {
    element,
    draw({ values }, most, said) {
      value.textContent = said;
      const frame = { width: WIDTH, height: HEIGHT, most: Math.max(most, ...values, 1), slots: SLOTS };
      const path = linePath(values, frame);
      line.setAttribute('d', path);
      const from = WIDTH - (values.length - 1) * (WIDTH / (SLOTS - 1));
      area.setAttribute('d', values.length < 2 ? '' : `${path}L${WIDTH} ${HEIGHT}L${from} ${HEIGHT}Z`);
    },
  };
}
