import { tmpdir } from 'node:os';
import { text } from 'node:stream/consumers';
import { expect, test } from 'vitest';
import { terminalCommand } from '../../../src/lib/guest/terminal.ts';
import { guestShell } from '../../support/guest-shell.ts';

test('where no terminal can be made, the line that says so ends where a raw terminal begins the next one', async () => {
  const bare = guestShell('busybox', tmpdir(), { without: ['script'] });
  const { argv, env } = terminalCommand(['true'], { rows: 24, cols: 80 });
  const { stderr, wait } = await bare.exec(
    { argv, env, stdin: 'none' },
    { signal: new AbortController().signal },
  );
  expect(stderr && (await text(stderr))).toMatch(/^sbx: no terminal here: .* sbx exec -T [^\r\n]*\r\n$/);
  expect(await wait()).toEqual({ code: 126 });
});
