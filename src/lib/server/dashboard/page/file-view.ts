/** One file: to read and change where it is text, else to download. */
import * as api from './api.ts';
import { button, el, freshId } from './dom.ts';
import { attempt } from './notices.ts';
import { bytesText, shown } from './text.ts';

/** Bytes of the largest file that is shown. */
const SHOWN_LIMIT = 1024 * 1024;

export interface FileViewOptions {
  readonly saved: () => Promise<unknown>;
  readonly close: () => void;
}

/** Reads a file and shows it. */
export async function fileView(
  id: string,
  path: string,
  { saved, close }: FileViewOptions,
): Promise<HTMLElement> {
  const content = await api.readFile(id, path, SHOWN_LIMIT);
  const text = content === undefined ? undefined : await textOf(content);
  const title = el('h3', { id: freshId() }, shown(path));
  const said = el('span', { class: 'size', role: 'status' });
  const bar = el('div', { class: 'toolbar' }, title, said);
  const element = el('section', { class: 'file', 'aria-labelledby': title.id }, bar);
  if (text === undefined) {
    const why = content === undefined ? 'Too large to be shown.' : 'This is no text.';
    element.append(el('p', { class: 'empty' }, why));
  } else {
    const editor = el('textarea', { spellcheck: 'false', wrap: 'off', 'aria-labelledby': title.id });
    editor.value = text;
    const save = () =>
      attempt(`save ${shown(path)}`, async () => {
        const changed = new Blob([editor.value]);
        await api.writeFile(id, path, changed);
        said.textContent = `${bytesText(changed.size)} saved`;
        await saved();
      });
    editor.addEventListener('input', () => {
      said.textContent = 'not saved';
    });
    bar.append(button('Save', save, { class: 'primary' }));
    element.append(editor);
  }
  bar.append(
    button('Download', () => attempt(`download ${shown(path)}`, () => download(id, path))),
    button('Close', close),
  );
  return element;
}

/** Undefined for what is none, or would not be the same when it is written back. */
async function textOf(content: Blob): Promise<string | undefined> {
  try {
    const decoder = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true });
    const text = decoder.decode(await content.arrayBuffer());
    // A text field makes \n of \r.
    return /[\0\r]/.test(text) ? undefined : text;
  } catch {
    return undefined;
  }
}

async function download(id: string, path: string): Promise<void> {
  const content = await api.readFile(id, path);
  if (content === undefined) return;
  // Whatever it is, it is no page of this server.
  const url = URL.createObjectURL(new Blob([content], { type: 'application/octet-stream' }));
  el('a', { href: url, download: path.split('/').at(-1) ?? '' }).click();
  // The browser has taken it by then.
  setTimeout(() => URL.revokeObjectURL(url), 60_000);
}
