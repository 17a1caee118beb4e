/** A terminal over a WebSocket: bytes in binary frames, control in text frames. */
import { expect, test } from 'vitest';
import type { Harness } from './harness.ts';
import { openTerminal, refusedTerminal, type TerminalOptions } from './terminal-socket.ts';

export function terminalTopic(h: Harness): void {
  const open = async (options: TerminalOptions = {}, id?: string) =>
    openTerminal(h.server(), id ?? (await h.shared()).id, options);
  const size = 'printf \'<%s>\' "$(stty size)"\r';

  test('a shell on a terminal, in the workspace; all that it prints comes in binary frames', async () => {
    const { id } = await h.sandbox();
    await h.answer(200, `POST /sandboxes/${id}/files/write`, {
      path: '/workspace/file',
      content: 'contents',
    });
    const terminal = await open({}, id);
    terminal.keys('test -t 0 && printf "<%s>" "$(cat file)"\r');
    await terminal.until(/<contents>/);
    expect(terminal.told()).toEqual([]);
    await terminal.close();
  });

  test('80 columns and 24 rows, or as the query says', async () => {
    for (const [query, seen] of [
      ['', '24 80'],
      ['?cols=100&rows=30', '30 100'],
      ['?rows=50', '50 80'],
    ]) {
      const terminal = await open({ query: query ?? '' });
      terminal.keys(size);
      await terminal.until(new RegExp(`<${seen}>`));
      await terminal.close();
    }
  });

  h.when(h.has('terminal resize'))('a text frame changes the size', async () => {
    const terminal = await open();
    terminal.keys(size);
    await terminal.until(/<24 80>/);
    terminal.tell('{"type":"resize","cols":132,"rows":43}');
    terminal.keys(size);
    await terminal.until(/<43 132>/);
    await terminal.close();
  });

  test('other text frames are passed over, and are no keys', async () => {
    const terminal = await open();
    for (const text of ['garbage', '{', 'null', '5', '[]', '{}', '{"type":"other"}', '{"type":"resize"}', ''])
      terminal.tell(text);
    terminal.keys("printf '<%s>' alive\r");
    await terminal.until(/<alive>/);
    expect(terminal.output()).not.toContain('garbage');
    await terminal.close();
  });

  test('keys may come in any pieces', async () => {
    const terminal = await open();
    for (const byte of Buffer.from("printf '<%s>' 'grüße'\r")) terminal.keys(Uint8Array.of(byte));
    await terminal.until(new RegExp(`<${Buffer.from('grüße').toString('latin1')}>`));
    await terminal.close();
  });

  test('much output arrives whole', async () => {
    const terminal = await open();
    terminal.keys('stty -opost; head -c 300000 /dev/zero | tr "\\0" "#"; printf "<%s>" end\r');
    await terminal.until(/<end>/);
    expect(terminal.output().match(/#/g)?.length).toBeGreaterThanOrEqual(300_000);
    await terminal.close();
  });

  test('it closes when the shell ends', async () => {
    const terminal = await open();
    terminal.keys('exit\r');
    await terminal.closed;
  });

  h.when(h.has('terminal hangs up'))('the shell ends when the client leaves', async () => {
    const { id } = await h.sandbox();
    await h.say(id, 'mkfifo alive');
    const shell = await h.stream(`POST /sandboxes/${id}/exec`, { command: 'echo ready; cat alive' });
    await shell.until((events) => events.length > 0);
    const terminal = await open({}, id);
    terminal.keys('exec 9> alive; echo "u""p" >&9\r');
    await shell.until((events) => events.some(({ data }) => data === 'up\n'));
    await terminal.close();
    expect((await shell.end()).at(-1)).toStrictEqual({ type: 'exit', exitCode: 0 });
  });

  test('two terminals of one sandbox are apart', async () => {
    const [one, other] = await Promise.all([open(), open()]);
    one.keys("printf '<%s>' one\r");
    other.keys("printf '<%s>' other\r");
    await Promise.all([one.until(/<one>/), other.until(/<other>/)]);
    expect(other.output()).not.toContain('<one>');
    await Promise.all([one.close(), other.close()]);
  });

  const key = () => h.server().key;
  test.each([
    ['as a Bearer', () => ({ headers: { authorization: `Bearer ${key()}` } })],
    ['in the query', () => ({ headers: {}, query: `?key=${key()}` })],
    ['in the query, with a size', () => ({ headers: {}, query: `?cols=90&key=${key()}&rows=20` })],
  ])('the key %s opens it', async (_, options) => {
    await (await open(options())).close();
  });

  test.each([
    ['no key', () => ({ headers: {} })],
    ['another key', () => ({ headers: { authorization: 'Bearer another' } })],
    ['another key in the query', () => ({ headers: {}, query: '?key=another' })],
    ['an empty key in the query', () => ({ headers: {}, query: '?key=' })],
    ['a longer key', () => ({ headers: {}, query: `?key=${key()}x` })],
  ])('%s does not', async (_, options) => {
    const { id } = await h.shared();
    expect(await refusedTerminal(h.server(), id, options())).toBe(401);
  });

  test('without a key nobody learns which sandboxes there are', async () => {
    expect(await refusedTerminal(h.server(), 'no-such-sandbox', { headers: {} })).toBe(401);
  });

  test('a server without a key asks for none', () =>
    h.another({ key: '' }, async (api) => {
      const { id } = await api.answer<{ id: string }>(201, 'POST /sandboxes');
      await (await openTerminal(api.server(), id, { headers: {} })).close();
    }));

  if (h.strict)
    test('a page of another origin gets no terminal', () =>
      h.another({ key: '' }, async (api) => {
        const { id } = await api.answer<{ id: string }>(201, 'POST /sandboxes');
        for (const origin of ['http://evil.example', 'null'])
          expect(await refusedTerminal(api.server(), id, { headers: { origin } })).toBe(403);
        const { url } = api.server();
        await (await openTerminal(api.server(), id, { headers: { origin: url } })).close();
      }));
}
