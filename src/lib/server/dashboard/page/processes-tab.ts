/** Background processes, and what they print. */
import * as api from './api.ts';
import { button, el } from './dom.ts';
import { endOf, logReader } from './log-text.ts';
import { attempt } from './notices.ts';
import type { Tab } from './tab.ts';
import { ageOf, shown } from './text.ts';

/** Signs of a log that are kept. */
const LOG_LIMIT = 256 * 1024;

export function processesTab(id: string): Tab {
  const list = el('ul', { class: 'processes' });
  const log = el('div', { class: 'view' });
  const command = el('input', {
    required: true,
    autocomplete: 'off',
    autocapitalize: 'off',
    spellcheck: 'false',
    placeholder: 'command to run in the background',
    'aria-label': 'Command to run in the background',
  });
  let following = new AbortController();
  let followed: string | undefined;
  let drawn = '';

  const look = async () => {
    const processes = await api.processes(id);
    const state = JSON.stringify(processes);
    if (state === drawn) return;
    drawn = state;
    list.replaceChildren(...processes.toReversed().map(row));
    if (processes.length === 0)
      list.append(el('li', { class: 'empty' }, 'None were started in the background.'));
  };
  const row = (process: api.ProcessEntry) => {
    const { procId, status } = process;
    const name = shown(process.command);
    const end = button('End', async () => {
      await attempt(`end ${name}`, () => api.endProcess(id, procId));
      await attempt('list processes', look);
    });
    end.ariaLabel = `End ${name}`;
    end.classList.add('quiet', 'danger');
    return el(
      'li',
      { 'data-status': status },
      button(name, () => follow(process), { class: 'command', 'aria-pressed': String(procId === followed) }),
      el('span', { class: 'size' }, said(process)),
      status === 'running' ? end : undefined,
    );
  };
  const follow = ({ procId, command: text }: api.ProcessEntry) => {
    following.abort();
    following = new AbortController();
    followed = procId;
    drawn = '';
    void attempt('list processes', look);
    const output = el('pre', { tabindex: 0, 'aria-label': `Output of ${shown(text)}` });
    log.replaceChildren(output);
    const { signal } = following;
    void attempt('read its output', async () => {
      await copyLog(api.logs(id, procId, signal), output).catch((error: unknown) => {
        if (!signal.aborted) throw error;
      });
      if (!signal.aborted) await look();
    });
  };
  const start = async (event: Event) => {
    event.preventDefault();
    await attempt(`start ${shown(command.value)}`, async () => {
      const process = await api.startProcess(id, command.value);
      command.value = '';
      follow(process);
    });
  };
  void attempt('list processes', look);
  return {
    element: el(
      'div',
      { class: 'browser' },
      el('form', { class: 'toolbar', onsubmit: start }, command, el('button', { class: 'primary' }, 'Run')),
      list,
      log,
    ),
    // Called every few seconds.
    update: () => void attempt('list processes', look),
    close: () => following.abort(),
  };
}

function said({ status, exitCode, pid, startedAt }: api.ProcessEntry): string {
  const age = ageOf(startedAt, new Date()) ?? '';
  if (status === 'running') return `pid ${pid} · ${age}`;
  return exitCode === null ? 'ended' : `exit ${exitCode}`;
}

/** Shows the end of it, and stays there while nobody scrolls up. */
async function copyLog(pieces: AsyncIterable<string>, output: HTMLElement): Promise<void> {
  const read = logReader();
  let text = '';
  for await (const piece of pieces) {
    const atEnd = output.scrollHeight - output.scrollTop - output.clientHeight < 8;
    text = endOf(text + read(piece), LOG_LIMIT);
    output.textContent = text;
    if (atEnd) output.scrollTop = output.scrollHeight;
  }
}
