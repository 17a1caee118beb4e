/** Starts the original of the hotcell API: a program of its own, in a temp folder. */
import { type ChildProcess, spawn } from 'node:child_process';
import { mkdirSync, mkdtempSync, readdirSync, readlinkSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { delimiter, dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { hasErrno } from '../../src/lib/errors.ts';
import type { HotcellServer, Settings } from './hotcell/server.ts';

/** It is started here, because it takes `ws` from the folder it is started in. */
const root = fileURLToPath(new URL('../../', import.meta.url));
const preload = new URL('hotcell-seed.fixture.ts', import.meta.url).href;

const KEY = 'key-of-the-seed';

/** Runs `program`, which is its `start.mjs`, on a free port until `close`. */
export async function startSeed(program: string, settings: Settings): Promise<HotcellServer> {
  const folder = mkdtempSync(join(tmpdir(), 'hotcell-'));
  const boxes = join(folder, 'boxes');
  mkdirSync(boxes);
  const { key = KEY, ...rest } = settings;
  const child = spawn(process.execPath, ['--import', preload, program], {
    cwd: root,
    env: {
      // Its kernels are the first node and python3 in the path; those of version managers take their time.
      PATH: [dirname(process.execPath), '/usr/bin', '/bin', process.env.PATH].join(delimiter),
      HOME: folder,
      TMPDIR: folder,
      SBX_PORT: '0',
      SBX_API_KEY: key,
      SBX_ROOT: boxes,
      HOTCELL_SETTINGS: JSON.stringify(rest),
    },
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  const ended = new Promise<void>((resolve) => child.once('close', () => resolve()));
  return {
    url: (await address(child)).replace('0.0.0.0', '127.0.0.1'),
    key,
    async close() {
      child.kill();
      await ended;
      endThoseIn(boxes);
      rmSync(folder, { recursive: true, force: true });
    },
  };
}

/** What it says when it listens. */
function address(child: ChildProcess): Promise<string> {
  return new Promise((resolve, reject) => {
    let said = '';
    child.stdout?.on('data', (chunk: Buffer) => {
      said += chunk.toString();
      const found = /listening on (\S+)\n/.exec(said)?.[1];
      if (found !== undefined) resolve(found);
    });
    child.once('error', reject);
    child.once('close', (code) => reject(new Error(`the seed ended with ${code} before it listened`)));
  });
}

/** Ends the processes that its driver left running in sandboxes: stopping and removing one ends none. */
function endThoseIn(folder: string): void {
  for (const pid of readdirSync('/proc').filter((name) => /^\d+$/.test(name))) {
    try {
      if (readlinkSync(`/proc/${pid}/cwd`).startsWith(`${folder}/`)) process.kill(Number(pid), 'SIGKILL');
    } catch (error) {
      if (!hasErrno(error, 'ENOENT', 'ESRCH', 'EACCES', 'EPERM')) throw error;
    }
  }
}
