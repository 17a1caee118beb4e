/** The question for a new sandbox. */
import * as api from './api.ts';
import { modal } from './dialog.ts';
import { el, field } from './dom.ts';

/** Asks, and makes it. @param done called with its id when it is there. */
export async function askToCreate(info: api.Info, done: (id: string) => Promise<void>): Promise<void> {
  const name = el('input', { autocomplete: 'off', placeholder: 'chosen by the server' });
  const driver = el(
    'select',
    {},
    ...info.drivers.map((each) => el('option', { value: each, selected: each === info.driver }, each)),
  );
  const image = el('input', { autocomplete: 'off', placeholder: info.defaultImage || 'has to be named' });
  const repo = el('input', { autocomplete: 'off', placeholder: 'https://…' });
  const memory = el('input', { type: 'number', min: 0, step: 'any', placeholder: 'default' });
  const cpus = el('input', { type: 'number', min: 0, step: 'any', placeholder: 'default' });
  const setup = el('textarea', { rows: 3, spellcheck: 'false' });
  const env = el('textarea', { rows: 3, spellcheck: 'false', placeholder: 'NAME=value' });
  await modal({
    title: 'New sandbox',
    body: [
      field('Name', name),
      field('Image', image),
      el(
        'details',
        {},
        el('summary', {}, 'More'),
        el(
          'div',
          { class: 'fields' },
          info.drivers.length > 1 ? field('Driver', driver) : undefined,
          field('Repository', repo, 'Cloned into /workspace.'),
          el('div', { class: 'pair' }, field('Memory, MB', memory), field('CPUs', cpus)),
          field('Setup', setup, 'Commands, one a line, run in /workspace.'),
          field('Environment', env, 'Variables, one a line.'),
        ),
      ),
    ],
    accept: 'Create',
    cancel: 'Cancel',
    async act() {
      const { id } = await api.create({
        ...given('name', name.value),
        ...given('image', image.value),
        ...given('repo', repo.value),
        ...(info.drivers.length > 1 ? { driver: driver.value } : {}),
        ...(memory.value === '' ? {} : { memoryMb: memory.valueAsNumber }),
        ...(cpus.value === '' ? {} : { cpus: cpus.valueAsNumber }),
        setup: linesOf(setup.value),
        env: assignments(env.value),
      });
      await done(id);
    },
  });
}

function given<Name extends string>(name: Name, value: string): { [Key in Name]?: string } {
  const trimmed = value.trim();
  return trimmed === '' ? {} : ({ [name]: trimmed } as { [Key in Name]?: string });
}

function linesOf(text: string): string[] {
  return text.split('\n').filter((line) => line.trim() !== '');
}

function assignments(text: string): Record<string, string> {
  return Object.fromEntries(
    linesOf(text).map((line) => {
      const at = line.indexOf('=');
      if (at < 1) throw new Error(`${line} is no NAME=value`);
      return [line.slice(0, at).trim(), line.slice(at + 1)];
    }),
  );
}
