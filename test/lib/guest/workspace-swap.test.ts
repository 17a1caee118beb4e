import { execFileSync } from 'node:child_process';
import { chmodSync, mkdirSync, mkdtempSync, readdirSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, describe, expect } from 'vitest';
import { runGuest } from '../../../src/lib/backend/derived/run-guest.ts';
import lockScript from '../../../src/lib/guest/lock.sh';
import outliveScript from '../../../src/lib/guest/outlive.sh';
import swapScript from '../../../src/lib/guest/workspace-swap.sh';
import { type Family, guestShell, hasFamily } from '../../support/guest-shell.ts';
import { requireOrSkip } from '../../support/require.ts';

const call = { signal: new AbortController().signal };
const folder = mkdtempSync(join(tmpdir(), 'sbx-swap-'));
afterAll(() => rmSync(folder, { recursive: true, force: true }));
let count = 0;

const STAGE = '.stage';

describe.each<Family>(['gnu', 'busybox'])('%s', (family) => {
  const test = requireOrSkip(hasFamily(family), family);
  const shell = guestShell(family, folder);
  const place = () => {
    const at = join(folder, `${family}-${count++}`);
    mkdirSync(at);
    return at;
  };
  const swap = async (at: string, what: string, by = shell) => {
    const args = [`${lockScript}\n${swapScript}`, at, STAGE, what];
    const { exit, stderr } = await runGuest(by, 'swap', outliveScript, args, call);
    return { exit, stderr };
  };
  const well = { exit: { code: 0 }, stderr: '' };
  /** All that is in a folder, with modes and where links lead. */
  const tree = (at: string) =>
    execFileSync('find', ['.', '-mindepth', '1', '-printf', '%P %m %l\n'], { cwd: at, encoding: 'utf8' })
      .split('\n')
      .filter(Boolean)
      .sort();
  const old = (at: string) => {
    mkdirSync(join(at, 'kept/inner'), { recursive: true });
    writeFileSync(join(at, 'kept/inner/file'), 'old');
    writeFileSync(join(at, '.hidden'), 'old');
    writeFileSync(join(at, '..odd'), 'old');
    writeFileSync(join(at, '-f'), 'old');
    writeFileSync(join(at, 'with space\nand line'), 'old');
    symlinkSync('nowhere', join(at, 'dangling'));
    chmodSync(join(at, 'kept'), 0o555);
  };
  const fresh = (at: string) => {
    const into = join(at, STAGE, 'new');
    mkdirSync(join(into, 'kept'), { mode: 0o500 });
    writeFileSync(join(into, '.hidden'), 'new');
    symlinkSync('kept', join(into, 'link'));
  };
  const freshTree = ['.hidden 644 ', 'kept 500 ', 'link 777 kept'];

  test('committing exchanges all that is there, whatever it is called', async () => {
    const at = place();
    old(at);
    expect(await swap(at, 'stage')).toEqual(well);
    fresh(at);
    expect(await swap(at, 'commit')).toEqual(well);
    expect(tree(at)).toEqual(freshTree);
  });

  test('a folder that is missing is made, and may be exchanged for nothing', async () => {
    const at = join(place(), 'a/b');
    expect(await swap(at, 'stage')).toEqual(well);
    expect(await swap(at, 'commit')).toEqual(well);
    expect(readdirSync(at)).toEqual([]);
  });

  test('discarding leaves all as it was', async () => {
    const at = place();
    old(at);
    const before = tree(at);
    await swap(at, 'stage');
    fresh(at);
    expect(await swap(at, 'discard')).toEqual(well);
    expect(tree(at)).toEqual(before);
  });

  test('a commit that was cut off anywhere is gone on with', async () => {
    for (const moved of [[], ['old'], ['old', '-f'], ['old', '-f', 'kept']]) {
      const at = place();
      old(at);
      await swap(at, 'stage');
      fresh(at);
      for (const name of moved)
        if (name === 'old') mkdirSync(join(at, STAGE, 'old'));
        else execFileSync('mv', ['--', name, `${STAGE}/old/`], { cwd: at });
      expect(await swap(at, 'commit')).toEqual(well);
      expect(tree(at)).toEqual(freshTree);
    }
    const at = place();
    await swap(at, 'stage');
    fresh(at);
    mkdirSync(join(at, STAGE, 'gone'));
    writeFileSync(join(at, STAGE, 'gone', 'file'), 'old');
    execFileSync('mv', ['--', `${STAGE}/new/link`, '.'], { cwd: at });
    expect(await swap(at, 'commit')).toEqual(well);
    expect(tree(at)).toEqual(freshTree);
  });

  test('there is nothing to do a second time', async () => {
    const at = place();
    old(at);
    const before = tree(at);
    expect(await swap(at, 'commit')).toEqual(well);
    expect(await swap(at, 'discard')).toEqual(well);
    expect(tree(at)).toEqual(before);
  });

  // The shell of busybox runs no mv but its own.
  if (family === 'busybox') return;
  test('where one thing cannot be moved, all goes back', async () => {
    const at = place();
    old(at);
    const before = tree(at);
    await swap(at, 'stage');
    fresh(at);
    const tools = place();
    const mv = join(tools, 'mv');
    writeFileSync(mv, `#!/bin/sh\ncase $2 in */kept) echo busy >&2; exit 1 ;; esac\nexec /bin/mv "$@"\n`);
    chmodSync(mv, 0o755);
    const broken = guestShell(family, folder, {
      without: ['mv'],
      with: [mv, 'setsid'],
    });
    expect(await swap(at, 'commit', broken)).toEqual({ exit: { code: 1 }, stderr: 'busy\n' });
    expect(tree(at)).toEqual(before);
  });
});
