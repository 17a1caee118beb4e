/** Terminals of a sandbox: a shell that ends with the page, or a session that goes on without it. */
import * as api from './api.ts';
import { modal } from './dialog.ts';
import { button, el, field, freshId } from './dom.ts';
import { messageOf } from './failure.ts';
import { keyBar } from './key-bar.ts';
import { attempt } from './notices.ts';
import type { Tab } from './tab.ts';
import { openTerminal, type TerminalLink } from './terminal.ts';
import { shown } from './text.ts';

const STATES = { open: 'connected', closed: 'disconnected' } as const;

export function terminalTab(id: string): Tab {
  const hint = el('p', { class: 'hint', id: freshId() }, 'Ctrl+Shift+Enter leaves the terminal.');
  const place = el('div', {
    class: 'screen',
    role: 'group',
    'aria-label': 'Terminal',
    'aria-describedby': hint.id,
  });
  const state = el('span', { class: 'size', role: 'status' });
  const choice = el('select', { 'aria-label': 'Session', onchange: () => void connect() });
  const again = button('Connect', () => connect(), { hidden: true });
  const end = button('End session', () => askToEnd(), { class: 'quiet danger' });
  const create = button('New session', () => askToCreate());
  const keys = keyBar((typed) => {
    link?.type(typed);
    link?.focus();
  });
  let link: TerminalLink | undefined;
  let attempts = 0;
  let closed = false;

  const chosen = () => (choice.value === '' ? undefined : choice.value);
  /** @param wanted the one to choose; default the one that is chosen, else the first. */
  const list = async (wanted?: string) => {
    const running = (await api.sessions(id)).filter(({ state }) => state === 'running');
    const before = wanted ?? (choice.options.length > 0 ? choice.value : running[0]?.name);
    choice.replaceChildren(
      ...running.map(({ name, command }) =>
        el('option', { value: name }, shown(command === undefined ? name : `${name}: ${command}`)),
      ),
      el('option', { value: '' }, 'plain shell'),
    );
    choice.value = running.some(({ name }) => name === before) ? (before ?? '') : '';
  };
  const listOrNot = async () => {
    try {
      await list();
    } catch (error) {
      // A sandbox may have nothing that keeps sessions.
      choice.replaceChildren(el('option', { value: '' }, 'plain shell'));
      create.disabled = true;
      create.title = messageOf(error);
    }
  };
  const connect = async () => {
    attempts++;
    const attemptHere = attempts;
    link?.close();
    link = undefined;
    again.hidden = true;
    end.hidden = chosen() === undefined;
    state.textContent = 'connecting';
    const isOver = () => closed || attemptHere !== attempts;
    try {
      const opened = await openTerminal({
        place,
        url: (size) => api.terminalUrl(id, size, chosen()),
        keys: keys.apply,
        onState(now, said) {
          state.textContent = said === '' ? STATES[now] : `${STATES[now]}: ${shown(said)}`;
          again.hidden = now === 'open';
        },
        onLeave: () => choice.focus(),
      });
      if (isOver()) {
        opened.close();
        return;
      }
      link = opened;
      link.focus();
    } catch (error) {
      if (isOver()) return;
      state.textContent = messageOf(error);
      again.hidden = false;
    }
  };
  const askToCreate = () => {
    const name = el('input', { required: true, autocomplete: 'off', autocapitalize: 'off', value: 'main' });
    return modal({
      title: 'New session',
      body: [field('Name', name, 'It goes on when this page is closed.')],
      accept: 'Start',
      cancel: 'Cancel',
      async act() {
        await api.startSession(id, name.value, { cols: 80, rows: 24 });
        await list(name.value);
        void connect();
      },
    });
  };
  const askToEnd = async () => {
    const name = chosen();
    if (name === undefined) return;
    await modal({
      title: `End session ${shown(name)}?`,
      body: [el('p', {}, 'All that runs in it ends.')],
      accept: 'End',
      danger: true,
      cancel: 'Keep',
      async act() {
        await api.endSession(id, name);
        await attempt('list sessions', list);
        void connect();
      },
    });
  };
  void listOrNot().then(() => (closed ? undefined : connect()));
  return {
    element: el(
      'div',
      { class: 'terminals' },
      el('div', { class: 'toolbar' }, choice, create, end, again, state),
      place,
      keys.element,
      hint,
    ),
    update: () => undefined,
    close() {
      closed = true;
      link?.close();
    },
  };
}
