/** The API key: asked for when the server wants one, and kept for this tab alone. */
import { modal } from './dialog.ts';
import { el, field } from './dom.ts';

const PLACE = 'sbx-api-key';

export function apiKey(): string | undefined {
  return sessionStorage.getItem(PLACE) ?? undefined;
}

export function forgetKey(): void {
  sessionStorage.removeItem(PLACE);
}

let asking: Promise<void> | undefined;

/** Resolves when there is another key than before. Whoever asks meanwhile waits for the same answer. */
export function askKey(): Promise<void> {
  asking ??= ask().finally(() => {
    asking = undefined;
  });
  return asking;
}

async function ask(): Promise<void> {
  const wrong = apiKey() !== undefined;
  forgetKey();
  const input = el('input', {
    type: 'password',
    required: true,
    autocomplete: 'off',
    // What a header can hold.
    pattern: '[\\x21-\\x7e]+',
    'aria-invalid': wrong,
  });
  await modal({
    title: 'API key',
    body: [
      el('p', {}, wrong ? 'The server does not take that key.' : 'This server wants a key.'),
      field('Key', input, 'Forgotten when this tab is closed.'),
    ],
    accept: 'Unlock',
    act: async () => sessionStorage.setItem(PLACE, input.value),
  });
}
