/** What is done to a whole sandbox. */
import * as api from './api.ts';
import { modal } from './dialog.ts';
import { button, el } from './dom.ts';
import { attempt } from './notices.ts';
import { shown } from './text.ts';

const LABELS = { start: 'Start', stop: 'Stop', pause: 'Pause', wake: 'Wake' } as const;

/** The changes that make sense in a state, the likeliest first. */
const CHANGES = {
  running: ['pause', 'stop'],
  paused: ['wake', 'stop'],
  stopped: ['start'],
  vanished: [],
} as const;

export interface Actions {
  readonly element: HTMLElement;
  update(record: api.SandboxRecord): void;
}

/** What can be done to a sandbox now. @param done called after each change. */
export function actions(done: () => Promise<void>): Actions {
  const element = el('div', { class: 'actions' });
  let drawn: string | undefined;
  return {
    element,
    update(record) {
      // Buttons that are there stay the same ones, so that they keep the focus.
      if (drawn === record.status) return;
      drawn = record.status;
      const hadFocus = element.contains(document.activeElement);
      element.replaceChildren(...actionButtons(record, done));
      if (hadFocus) element.querySelector('button')?.focus();
    },
  };
}

/** Its buttons. @param done called after each change. */
export function actionButtons(record: api.SandboxRecord, done: () => Promise<void>): HTMLButtonElement[] {
  const of = shown(record.name);
  const changes = CHANGES[record.status].map((verb) =>
    button(
      LABELS[verb],
      async () => {
        const change = verb === 'wake' ? 'start' : verb;
        if (await attempt(`${change} ${of}`, () => api.change(record.id, change))) await done();
      },
      { 'aria-label': `${LABELS[verb]} ${of}` },
    ),
  );
  const remove = button('Remove', () => askToRemove(record, done), {
    class: 'quiet danger',
    'aria-label': `Remove ${of}`,
  });
  return [...changes, remove];
}

async function askToRemove({ id, name }: api.SandboxRecord, done: () => Promise<void>): Promise<void> {
  await modal({
    title: `Remove ${shown(name)}?`,
    body: [el('p', {}, 'Its files, processes and sessions go with it. Backups stay.')],
    accept: 'Remove',
    danger: true,
    cancel: 'Keep',
    async act() {
      await api.remove(id);
      await done();
    },
  });
}
