/** Writing, reading, making folders and listing. */
import { expect, test } from 'vitest';
import type { Harness } from './harness.ts';

export function filesTopic(h: Harness): void {
  const on = async (verb: string, body: unknown, id?: string) =>
    h.answer(200, `POST /sandboxes/${id ?? (await h.shared()).id}/files/${verb}`, body);
  const refused = async (status: number, verb: string, body: unknown) =>
    h.refusal(status, `POST /sandboxes/${(await h.shared()).id}/files/${verb}`, body);

  test.each([
    ['text', 'one\ntwo\n'],
    ['nothing', ''],
    ['other scripts', 'grüße 🙂 日本'],
    ['quotes and escapes', '\'"\\$`\t\u0000\u001b'],
    ['a lot', 'x'.repeat(2_000_000)],
  ])('%s comes back as it was written', async (_, content) => {
    const path = '/workspace/files/back';
    expect(await on('write', { path, content })).toStrictEqual({ ok: true });
    expect(await on('read', { path })).toStrictEqual({ content });
  });

  test('commands see the same files', async () => {
    const { id } = await h.sandbox();
    await on('write', { path: '/workspace/a/b/file', content: 'written' }, id);
    expect(await h.say(id, 'cat a/b/file; printf answered > a/b/answer')).toBe('written');
    expect(await on('read', { path: '/workspace/a/b/answer' }, id)).toStrictEqual({ content: 'answered' });
  });

  test('a file is replaced as a whole', async () => {
    const path = '/workspace/files/replaced';
    await on('write', { path, content: 'a long first content' });
    await on('write', { path, content: 'short' });
    expect(await on('read', { path })).toStrictEqual({ content: 'short' });
  });

  test.each([
    ['600', '600'],
    ['0755', '755'],
  ])('mode %s', async (mode, seen) => {
    const { id } = await h.sandbox();
    await on('write', { path: '/workspace/file', content: '', mode }, id);
    expect(await h.say(id, 'stat -c %a file')).toBe(seen);
  });

  test('folders are made, with those above when asked', async () => {
    const { id } = await h.sandbox();
    expect(await on('mkdir', { path: '/workspace/one' }, id)).toStrictEqual({ ok: true });
    expect(await on('mkdir', { path: '/workspace/two/three', parents: true }, id)).toStrictEqual({
      ok: true,
    });
    expect(await on('mkdir', { path: '/workspace/two/three', parents: true }, id)).toStrictEqual({
      ok: true,
    });
    expect(await h.say(id, 'test -d one && test -d two/three && echo both')).toBe('both');
  });

  test('a list has name, type and size, and hidden files', async () => {
    const { id } = await h.sandbox();
    expect(await on('list', { path: '/workspace' }, id)).toStrictEqual({ entries: [] });
    await on('write', { path: '/workspace/file', content: 'grüße' }, id);
    await on('write', { path: '/workspace/.hidden', content: '' }, id);
    await on('write', { path: '/workspace/a b\n"c"', content: '1' }, id);
    await on('mkdir', { path: '/workspace/folder' }, id);
    const { entries } = (await on('list', { path: '/workspace' }, id)) as { entries: { name: string }[] };
    const sorted = entries.toSorted((a, b) => (a.name < b.name ? -1 : 1));
    expect(sorted).toStrictEqual([
      { name: '.hidden', type: 'file', size: 0 },
      { name: 'a b\n"c"', type: 'file', size: 1 },
      { name: 'file', type: 'file', size: 7 },
      { name: 'folder', type: 'directory', size: expect.any(Number) },
    ]);
  });

  test.each(['write', 'read', 'mkdir', 'list'])('%s wants a path', async (verb) => {
    for (const path of [undefined, '', 5, null, ['/workspace']])
      expect(await refused(400, verb, { path, content: 'x' })).toBe('path is required');
  });

  test.each([undefined, 5, null, {}])('content %j is refused', async (content) => {
    const path = '/workspace/files/never';
    expect(await refused(400, 'write', { path, content })).toBe('content is required');
    await refused(h.fault(404), 'read', { path });
  });

  test('what cannot be done is told', async () => {
    await on('write', { path: '/workspace/files/is-file', content: '' });
    await refused(h.fault(404), 'read', { path: '/workspace/files/no-such-file' });
    await refused(h.fault(400), 'read', { path: '/workspace' });
    await refused(h.fault(404), 'list', { path: '/workspace/files/no-such-folder' });
    await refused(h.fault(400), 'list', { path: '/workspace/files/is-file' });
    await refused(h.fault(404), 'mkdir', { path: '/workspace/files/no-such-folder/x' });
    await refused(h.fault(409), 'mkdir', { path: '/workspace/files' });
    await refused(h.fault(400), 'write', { path: '/workspace/files/is-file/x', content: '' });
    await refused(h.fault(400), 'write', { path: '/workspace/files', content: '' });
    await refused(h.fault(400), 'write', { path: '/workspace/files/m', content: '', mode: 'rwx' });
  });

  if (h.strict)
    test.each([
      ['write', { mode: 5 }],
      ['write', { mode: '99999' }],
      ['mkdir', { parents: 'yes' }],
      ['read', { path: '/workspace/nul\u0000' }],
    ])('%s with %j is refused', async (verb, more) => {
      await refused(400, verb, { path: '/workspace/files/odd', content: 'x', ...more });
    });
}
