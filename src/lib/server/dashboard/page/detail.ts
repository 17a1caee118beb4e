/** The sandbox that is looked at, a tab for each side of it. */
import { actionButtons, actions } from './actions.ts';
import type { Info, SandboxRecord } from './api.ts';
import { detailsTab } from './details-tab.ts';
import { el } from './dom.ts';
import { filesTab } from './files-tab.ts';
import type { Box } from './fleet.ts';
import { hashOf, TABS, type TabName } from './place.ts';
import { processesTab } from './processes-tab.ts';
import type { Tab } from './tab.ts';
import { terminalTab } from './terminal-tab.ts';
import { shown } from './text.ts';

export interface Detail {
  readonly element: HTMLElement;
  update(box: Box): void;
  close(): void;
}

const NAMES: Readonly<Record<TabName, string>> = {
  terminal: 'Terminal',
  files: 'Files',
  processes: 'Processes',
  details: 'Details',
};

/** @param done called after a change. */
export function detail(info: Info, box: Box, name: TabName, done: () => Promise<void>): Detail {
  const state = el('span', { class: 'state' });
  const buttons = actions(done);
  const panel = el('div', {
    class: 'panel',
    role: 'tabpanel',
    tabindex: 0,
    id: 'panel',
    'aria-labelledby': `tab-${name}`,
  });
  const element = el(
    'article',
    { class: 'detail' },
    el(
      'div',
      { class: 'head' },
      el('a', { class: 'back', href: '#' }, '‹ All'),
      el('h2', {}, shown(box.record.name)),
      state,
      buttons.element,
    ),
    tabList(box.record.id, name),
    panel,
  );
  let tab: Tab | undefined;
  let drawnStatus: SandboxRecord['status'] | undefined;

  const reopen = (now: Box) => {
    tab?.close();
    const { status } = now.record;
    tab = status === 'running' || name === 'details' ? opened(name, info, now) : asleep(now.record, done);
    panel.replaceChildren(tab.element);
  };
  const update = (now: Box) => {
    const { record } = now;
    if (drawnStatus !== record.status) {
      drawnStatus = record.status;
      element.dataset.status = record.status;
      state.textContent = record.status;
      buttons.update(record);
      reopen(now);
    }
    tab?.update(now);
  };
  update(box);
  return { element, update, close: () => tab?.close() };
}

function opened(name: TabName, info: Info, { record }: Box): Tab {
  if (name === 'files') return filesTab(record.id, record.workdir);
  if (name === 'processes') return processesTab(record.id);
  if (name === 'details') return detailsTab(info);
  return terminalTab(record.id);
}

/** In the place of what would wake it. */
function asleep(record: SandboxRecord, done: () => Promise<void>): Tab {
  const [first] = actionButtons(record, done);
  first?.classList.add('primary');
  const text = {
    paused: 'It is paused: nothing runs until somebody uses it.',
    stopped: 'It is stopped: its files are kept, and nothing runs.',
    vanished: 'Its backend does not know it any more. All that is left to do is to remove it.',
    running: '',
  }[record.status];
  return {
    element: el('div', { class: 'empty' }, el('p', {}, text), first),
    update: () => undefined,
    close: () => undefined,
  };
}

function tabList(id: string, chosen: TabName): HTMLElement {
  const links = TABS.map((tab) =>
    el(
      'a',
      {
        role: 'tab',
        id: `tab-${tab}`,
        href: hashOf({ id, tab }),
        'aria-selected': String(tab === chosen),
        'aria-controls': 'panel',
        tabindex: tab === chosen ? 0 : -1,
      },
      NAMES[tab],
    ),
  );
  const move = (event: Event) => {
    const by = { ArrowRight: 1, ArrowLeft: -1 }[(event as KeyboardEvent).key];
    if (by === undefined) return;
    const at = TABS.indexOf(chosen) + by + TABS.length;
    location.hash = hashOf({ id, tab: TABS[at % TABS.length] ?? chosen });
    // The tabs are made anew once the address has changed.
    addEventListener(
      'hashchange',
      () => document.querySelector<HTMLElement>('[aria-selected=true]')?.focus(),
      {
        once: true,
      },
    );
  };
  return el('div', { class: 'tabs', role: 'tablist', 'aria-label': 'Views', onkeydown: move }, ...links);
}
