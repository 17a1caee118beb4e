/** A place of its own for one run: state, configuration, cache and files, and what was started in it. */
import { execFile, spawn } from 'node:child_process';
import { mkdirSync, mkdtempSync, readFileSync, readlinkSync, rmSync } from 'node:fs';
import { createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';

const ENTRY = fileURLToPath(new URL('../../bin/run.js', import.meta.url));
const run = promisify(execFile);

/**
 * @typedef {object} World
 * @property {string} tmp a folder that goes away in the end
 * @property {Record<string, string>} env of everything that is measured
 * @property {number} rounds factor for the number of rounds
 * @property {(args: readonly string[], state?: string) => Promise<string>} sbx runs it, returns its stdout
 * @property {(network: 'host' | 'private') => Promise<string>} box the name of a running sandbox that rows share
 * @property {(name: string, state?: string) => { folder: string, pid: number, helpers: { pid: number }[] }} insideOf what the state folder says of a running sandbox
 * @property {(argv: readonly string[], ready?: RegExp) => Promise<() => Promise<void>>} background starts a process that ends with the world, or when what it resolves with is called; waits for a line
 * @property {(child: import('node:child_process').ChildProcess) => void} watch ends the process group of `child` when the world ends
 * @property {boolean} interrupted
 * @property {() => Promise<void>} interrupt ends what runs, and what is watched from now on
 * @property {() => Promise<void>} close
 */

/** @param {{ rounds: number }} options @returns {World} */
export function openWorld({ rounds }) {
  const tmp = mkdtempSync(join(tmpdir(), 'sbx-bench-'));
  const state = join(tmp, 'state');
  const cache = join(tmp, 'cache');
  for (const folder of [state, cache]) mkdirSync(folder);
  const inherited = Object.entries(process.env).filter(([name]) => !/^(SBX_|NODE_)/.test(name));
  const env = {
    ...Object.fromEntries(inherited),
    NODE: process.execPath,
    SBX_ENTRY: ENTRY,
    SBX_STATE_DIR: state,
    SBX_CONFIG_DIR: join(tmp, 'config'),
    XDG_CACHE_HOME: cache,
    BENCH_TMP: tmp,
  };
  const children = new Set();
  const boxes = new Map();
  const sbx = async (args, at = state) => {
    const { stdout } = await run(process.execPath, [ENTRY, ...args], { env: { ...env, SBX_STATE_DIR: at } });
    return stdout;
  };
  const insideOf = (name, at = state) => {
    const root = join(at, 'local');
    const folder = join(root, 'sandboxes', readlinkSync(join(root, 'names', name)));
    return { folder, ...JSON.parse(readFileSync(join(folder, 'init.json'), 'utf8')) };
  };
  return {
    tmp,
    env,
    rounds,
    sbx,
    insideOf,
    async box(network) {
      if (!boxes.has(network)) {
        boxes.set(network, (await sbx(['create', `bench-${network}`, '--network', network])).trim());
      }
      return boxes.get(network);
    },
    async background(argv, ready) {
      const child = spawn(argv[0], argv.slice(1), { env, detached: true, stdio: ['ignore', 'pipe', 'pipe'] });
      this.watch(child);
      await new Promise((resolve, reject) => {
        let said = '';
        const hear = (line) => {
          said = `${said}${line}\n`.slice(-2000);
          if (ready === undefined || ready.test(line)) resolve();
        };
        for (const stream of [child.stdout, child.stderr])
          createInterface({ input: stream }).on('line', hear);
        child.once('error', reject);
        child.once('exit', (code) => reject(new Error(`${argv.join(' ')} ended with ${code}: ${said}`)));
      });
      return () => endGroup(child);
    },
    watch(child) {
      children.add(child);
      if (this.interrupted) void endGroup(child);
      child.once('close', () => children.delete(child));
    },
    interrupted: false,
    async interrupt() {
      this.interrupted = true;
      await Promise.all([...children].map(endGroup));
    },
    async close() {
      await Promise.all([...children].map(endGroup));
      await sbx(['rm', '--all', '--force', '--yes']);
      rmSync(tmp, { recursive: true, force: true });
    },
  };
}

/** Ends a process group and waits until its leader is gone: what it still makes would be left behind. */
async function endGroup(child) {
  if (child.exitCode !== null || child.signalCode !== null) return;
  const gone = new Promise((resolve) => child.once('exit', resolve));
  process.kill(-child.pid, 'SIGTERM');
  await gone;
}

/** A TCP port of 127.0.0.1 that nobody listens on now. */
export async function freePort() {
  const server = createServer();
  await new Promise((resolve) => server.listen(0, '127.0.0.1', resolve));
  const { port } = server.address();
  await new Promise((resolve) => server.close(resolve));
  return port;
}
