/** One sandbox in the list. */
import { actions } from './actions.ts';
import type { Info } from './api.ts';
import { costOf } from './cost.ts';
import { el } from './dom.ts';
import type { Box } from './fleet.ts';
import { sparkline } from './sparkline.ts';
import { ageOf, bytesText, moneyText, percentText, shown } from './text.ts';

export interface Card {
  readonly element: HTMLElement;
  update(box: Box, isChosen: boolean): void;
}

/** @param done called after a change. */
export function card(info: Info, done: () => Promise<void>): Card {
  const link = el('a', {});
  const state = el('span', { class: 'state' });
  const facts = el('p', { class: 'facts' });
  const cpu = sparkline('CPU');
  const memory = sparkline('Memory');
  const buttons = actions(done);
  const element = el(
    'li',
    { class: 'card' },
    el('div', { class: 'head' }, el('h2', {}, link), state),
    facts,
    el('div', { class: 'charts' }, cpu.element, memory.element),
    buttons.element,
  );
  return {
    element,
    update(box, isChosen) {
      const { record, live, usage } = box;
      element.dataset.id = record.id;
      element.dataset.status = record.status;
      link.textContent = shown(record.name);
      link.href = `#/${encodeURIComponent(record.id)}/terminal`;
      link.ariaCurrent = isChosen ? 'page' : null;
      state.textContent = record.status;
      const age = ageOf(record.createdAt, new Date());
      facts.textContent = [shown(record.image), age, moneyText(costOf(usage, info).total)]
        .filter((fact) => fact !== undefined)
        .join(' · ');
      cpu.draw(box.cpu, 100, live === undefined ? '–' : percentText(live.cpuPercent));
      memory.draw(box.memory, box.memoryLimit, live === undefined ? '–' : bytesText(live.memBytes));
      buttons.update(record);
    },
  };
}
