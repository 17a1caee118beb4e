/** `shell` on a real terminal while its sandbox is stopped, removed, paused, or has no room left on its disk. */
import { spawnSync } from 'node:child_process';
import { rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, expect } from 'vitest';
import { asRoot, requireOrSkip } from '../support/require.ts';
import type { Terminal, TerminalOptions } from '../support/terminal.ts';
import { canMount, tinyDisk } from '../support/tiny-disk.ts';
import { createWorld, type World } from './world.ts';

const has = (program: string) => spawnSync(program, ['--version'], { stdio: 'ignore' }).error === undefined;
const withSessions = has('dtach') && has('bash');
const inSessions = requireOrSkip(withSessions, 'dtach and bash');

let world: World;

beforeAll(() => {
  world = createWorld();
});
afterAll(async () => await world[Symbol.asyncDispose]());

/** A terminal in a new session of `sandbox`, with a bash in it. */
async function opened(sandbox: string, options?: Partial<TerminalOptions>): Promise<Terminal> {
  const bash = "PS1='box$ ' exec bash --norc --noprofile";
  const terminal = world.open(['shell', sandbox, '--command', bash], options);
  await terminal.waitFor('box$ ');
  return terminal;
}

const flat = (terminal: Terminal) => terminal.screen().join('');

for (const [what, words, said] of [
  ['stop', ['stop', 'box'], /'box' was stopped.*start it: sbx start box/],
  ['stop without grace', ['stop', 'box', '--timeout', '0s'], /'box' was stopped.*start it: sbx start box/],
  ['rm', ['rm', '--force', 'box'], /'box' was removed/],
] as const) {
  inSessions(`sbx ${what} under a shell ends it, and says so`, async () => {
    await world.sbx('create', 'box');
    await using terminal = await opened('box');
    await world.sbx(...words);
    expect(await terminal.ended).toMatchObject({ exitCode: 254 });
    expect(flat(terminal)).toMatch(said);
    if (what !== 'rm') await world.sbx('rm', 'box');
  });
}

inSessions('sbx pause under a shell is told, and resume goes on with the keys typed meanwhile', async () => {
  await world.sbx('create', 'resting');
  await using terminal = await opened('resting');
  await world.sbx('pause', 'resting');
  terminal.type('echo af""ter\r');
  await terminal.waitFor(/ paused, sbx resume resting lets it go on .*~\. leaves/);
  await world.sbx('resume', 'resting');
  await terminal.waitFor((screen) => /^after$/m.test(screen) && !screen.includes('paused'));
  await terminal.waitFor(/^box\$ $/m);
  await world.sbx('pause', 'resting');
  terminal.type('\r~.');
  expect(await terminal.ended).toMatchObject({ exitCode: 0 });
  await world.sbx('resume', 'resting');
});

asRoot(withSessions && canMount, 'dtach, bash and the right to mount')(
  'a full disk below the state ends neither session nor client; the recording is called partial',
  async () => {
    const state = join(world.folder, 'full');
    using _disk = tinyDisk(state, '8m');
    const env = { ...world.env, SBX_STATE_DIR: state };
    const sbx = (...args: string[]) => world.sbxIn(env, ...args);
    await sbx('create', 'full');
    await using terminal = await opened('full', { env });
    expect(() => writeFileSync(join(state, 'filling'), Buffer.alloc(16 << 20))).toThrow('ENOSPC');
    terminal.type('seq 3000; echo fi""rst\r');
    await terminal.waitFor(/^3000\nfirst\nbox\$ $/m);
    await using second = world.open(['shell', 'full', '--no-replay'], { env });
    await second.waitFor('box$ ');
    second.type('echo sec""ond\r');
    await Promise.all([terminal, second].map((each) => each.waitFor(/^second$/m)));
    expect(JSON.parse(await sbx('sessions', 'full', '--json'))).toMatchObject([{ recording: 'partial' }]);
    second.type('\x10\x11');
    expect(await second.ended).toMatchObject({ exitCode: 0 });
    terminal.type('exit 3\r');
    expect(await terminal.ended).toMatchObject({ exitCode: 3 });
    rmSync(join(state, 'filling'));
    await sbx('rm', '--force', 'full');
  },
);
