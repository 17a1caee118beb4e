/** The files of a sandbox: folders to walk through, and one file to look at. */
import * as api from './api.ts';
import { modal } from './dialog.ts';
import { button, el, field } from './dom.ts';
import { fileView } from './file-view.ts';
import { attempt } from './notices.ts';
import { trail, within } from './paths.ts';
import type { Tab } from './tab.ts';
import { bytesText, shown } from './text.ts';

/** @param first the folder to begin with. */
export function filesTab(id: string, first: string): Tab {
  const path = el('nav', { class: 'trail', 'aria-label': 'Folder' });
  const list = el('ul', { class: 'files' });
  const view = el('div', { class: 'view' });
  const picker = el('input', { type: 'file', hidden: true, onchange: () => void upload() });
  let folder = first;

  const open = (to: string) =>
    attempt(`open ${shown(to)}`, async () => {
      const entries = await api.files(id, to);
      folder = to;
      path.replaceChildren(...trail(to).map((each) => button(shown(each.name), () => void open(each.path))));
      list.replaceChildren(
        ...[...entries].sort(byKindAndName).map((entry) => el('li', {}, entryButton(entry))),
      );
      if (entries.length === 0) list.append(el('li', { class: 'empty' }, 'Nothing here.'));
    });
  const entryButton = ({ name, type, size }: api.FileEntry) => {
    const isFolder = type === 'directory';
    const to = within(folder, name);
    const opener = button(shown(name), () => (isFolder ? open(to) : look(to)), { 'data-type': type });
    if (isFolder) opener.ariaLabel = `${shown(name)}, folder`;
    else opener.append(el('span', { class: 'size' }, bytesText(size)));
    return opener;
  };
  const look = (to: string) =>
    attempt(`read ${shown(to)}`, async () => {
      view.replaceChildren(await fileView(id, to, { saved: () => open(folder), close: leave }));
      view.scrollIntoView({ block: 'nearest' });
    });
  const leave = () => view.replaceChildren();
  const upload = async () => {
    const [file] = picker.files ?? [];
    if (file === undefined) return;
    await attempt(`upload ${shown(file.name)}`, () => api.writeFile(id, within(folder, file.name), file));
    picker.value = '';
    await open(folder);
  };
  const create = () => {
    const name = el('input', { required: true, autocomplete: 'off', pattern: '[^\\/]+' });
    return modal({
      title: 'New file',
      body: [field('Name', name, `In ${shown(folder)}.`)],
      accept: 'Create',
      cancel: 'Cancel',
      async act() {
        const to = within(folder, name.value);
        await api.writeFile(id, to, new Blob());
        await open(folder);
        await look(to);
      },
    });
  };
  void open(first);
  return {
    element: el(
      'div',
      { class: 'browser' },
      el(
        'div',
        { class: 'toolbar' },
        path,
        button('New file', create),
        button('Upload', () => picker.click()),
        button('Refresh', () => open(folder)),
        picker,
      ),
      list,
      view,
    ),
    update: () => undefined,
    close: leave,
  };
}

function byKindAndName(a: api.FileEntry, b: api.FileEntry): number {
  const rank = ({ type }: api.FileEntry) => (type === 'directory' ? 0 : 1);
  return rank(a) - rank(b) || a.name.localeCompare(b.name);
}
