/** All that is known of a sandbox: use, cost, settings. */
import type { Info } from './api.ts';
import { costOf } from './cost.ts';
import { el } from './dom.ts';
import type { Box } from './fleet.ts';
import { sparkline } from './sparkline.ts';
import type { Tab } from './tab.ts';
import { bytesText, moneyText, percentText, shown } from './text.ts';

export function detailsTab(info: Info): Tab {
  const cpu = sparkline('CPU');
  const memory = sparkline('Memory');
  const cost = el('table', { class: 'cost' });
  const facts = el('dl', { class: 'facts' });
  return {
    element: el(
      'div',
      { class: 'details' },
      el('div', { class: 'charts large' }, cpu.element, memory.element),
      cost,
      facts,
    ),
    update(box) {
      cpu.draw(box.cpu, 100, box.live === undefined ? '–' : percentText(box.live.cpuPercent));
      memory.draw(box.memory, box.memoryLimit, memorySaid(box));
      cost.replaceChildren(...costRows(info, box));
      facts.replaceChildren(
        ...factsOf(box).flatMap(([name, text]) => [el('dt', {}, name), el('dd', {}, text)]),
      );
    },
    close: () => undefined,
  };
}

function costRows(info: Info, { usage }: Box): HTMLElement[] {
  const cost = costOf(usage, info);
  const row = (name: string, used: string, dollars: number) =>
    el('tr', {}, el('th', { scope: 'row' }, name), el('td', {}, used), el('td', {}, moneyText(dollars)));
  return [
    el('caption', {}, 'Cost so far'),
    row('CPU', `${usage.cpuSeconds.toFixed(1)} s`, cost.cpu),
    row('Memory', `${(usage.memGbSeconds / 3600).toFixed(3)} GB h`, cost.mem),
    row('Egress', bytesText(usage.egressBytes), cost.egress),
    row('Total', '', cost.total),
  ];
}

function factsOf({ record }: Box): (readonly [string, string])[] {
  const pairs = (values: Readonly<Record<string, string>>) =>
    Object.entries(values).map(([name, value]) => `${shown(name)}=${shown(value)}`);
  const { memoryMb, cpus, pidsLimit } = record.limits;
  const limits = [
    ...(memoryMb === undefined ? [] : [`${memoryMb} MB memory`]),
    ...(cpus === undefined ? [] : [`${cpus} CPUs`]),
    ...(pidsLimit === undefined ? [] : [`${pidsLimit} processes`]),
  ];
  const list = (texts: readonly string[]) => (texts.length === 0 ? 'none' : texts.join('\n'));
  return [
    ['Id', record.id],
    ['Driver', shown(record.driver)],
    ['Image', shown(record.image)],
    ['Working folder', shown(record.workdir)],
    ['Created', new Date(record.createdAt).toLocaleString()],
    ['Last used', new Date(record.lastActivityAt).toLocaleString()],
    ['Paused when idle', record.sleepAfterMs === 0 ? 'never' : `after ${record.sleepAfterMs / 1000} s`],
    ['Limits', list(limits)],
    ['Labels', list(pairs(record.labels))],
    // Their values may be secrets, and somebody may look over a shoulder.
    ['Environment', list(Object.keys(record.env).map(shown))],
  ];
}

function memorySaid({ live, memoryLimit }: Box): string {
  if (live === undefined) return '–';
  const used = bytesText(live.memBytes);
  return memoryLimit > 0 ? `${used} of ${bytesText(memoryLimit)}` : used;
}
