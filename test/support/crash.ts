/** Kills the built client at a chosen system call, and looks for what is left of it on this machine. */
import { spawnSync } from 'node:child_process';
import { randomInt } from 'node:crypto';
import { existsSync, readdirSync, readFileSync, readlinkSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';

/** The built client. */
export const bin = fileURLToPath(new URL('../../bin/run.js', import.meta.url));
const LIMIT_MS = 30_000;
/** An unusual time to live, in seconds, so that the `sleep` of a timer is known among all others. */
export const TTL_SECONDS = randomInt(1_000_000, 9_000_000);
/** How much of it may be over when the timer starts. */
const TTL_SPREAD = 60;

/** Whether strace is there and may trace. */
export const canTrace = spawnSync('strace', ['-o', '/dev/null', 'true']).status === 0;

/** A client with a state folder of its own. */
export interface Client {
  readonly env: Record<string, string>;
  /** The local backend's folder. */
  readonly root: string;
}

/** A client whose files are all below `folder`. */
export function clientAt(folder: string): Client {
  const env = { PATH: process.env.PATH ?? '', HOME: folder, SBX_STATE_DIR: `${folder}/state` };
  return { env, root: `${folder}/state/local` };
}

export interface Result {
  readonly code: number | null;
  readonly stdout: string;
  readonly stderr: string;
}

/** Runs `sbx` to its end. */
export function sbx(client: Client, ...args: readonly string[]): Result {
  return finish(spawnSync(process.execPath, [bin, ...args], options(client)));
}

/** {@link sbx} that has to succeed; returns what it printed. */
export function must(client: Client, ...args: readonly string[]): string {
  const { code, stdout, stderr } = sbx(client, ...args);
  if (code !== 0) throw new Error(`sbx ${args.join(' ')} ended with ${code}: ${stderr}`);
  return stdout;
}

function options({ env }: Client) {
  return { env, encoding: 'utf8', timeout: LIMIT_MS, killSignal: 'SIGKILL', input: '' } as const;
}

function finish(result: { status: number | null; stdout: string; stderr: string }): Result {
  return { code: result.status, stdout: result.stdout, stderr: result.stderr };
}

/** A moment in a client's life: just before its `count`-th `call`. */
export interface Point {
  readonly call: string;
  readonly count: number;
  /** What it was about to do, for messages. */
  readonly text: string;
}

const CALLS = [
  ...['mkdir', 'rename', 'symlink', 'unlink', 'rmdir', 'openat', 'write', 'clone', 'vfork', 'kill', 'chmod'],
  ...['ftruncate', 'pwrite64'],
];

/** Every moment of this command line at which files or processes change. Runs it once, to its end. */
export function pointsOf(client: Client, args: readonly string[]): Point[] {
  const log = `${client.env.HOME}/trace`;
  const traced = ['-o', log, '-s', '200', '-e', `trace=${CALLS.join(',')}`, process.execPath, bin, ...args];
  const { status, stderr } = spawnSync('strace', traced, options(client));
  if (status !== 0) throw new Error(`sbx ${args.join(' ')} ended with ${status}: ${stderr}`);
  const counts = new Map<string, number>();
  const points: Point[] = [];
  for (const text of readFileSync(log, 'utf8').split('\n')) {
    const call = /^(\w+)\(/.exec(text)?.[1];
    if (call === undefined) continue;
    const count = (counts.get(call) ?? 0) + 1;
    counts.set(call, count);
    if (changesSomething(call, text)) points.push({ call, count, text: text.slice(0, 160) });
  }
  rmSync(log);
  return points;
}

function changesSomething(call: string, text: string): boolean {
  if (/ = -1 E(EXIST|NOENT)/.test(text)) return false;
  if (call === 'openat') return text.includes('O_CREAT');
  // Node's own wake-ups.
  if (call === 'write') return !/^write\(\d+, "(\*"|.*, (8|16)\) )/.test(text);
  return !text.includes('/.cache/');
}

/** Runs the command line and kills it at `point`, it alone. Returns whether it got that far. */
export function killAt(client: Client, args: readonly string[], { call, count }: Point): boolean {
  const inject = ['-e', `trace=${call}`, '-e', `inject=${call}:signal=SIGKILL:when=${count}`];
  const { signal } = spawnSync(
    'strace',
    ['-o', '/dev/null', ...inject, process.execPath, bin, ...args],
    options(client),
  );
  return signal === 'SIGKILL';
}

/** Evenly spread ones of them, at the most `most`; all with `SBX_TEST_EXHAUSTIVE`. */
export function some<T>(all: readonly T[], most: number): T[] {
  if (process.env.SBX_TEST_EXHAUSTIVE !== undefined || all.length <= most) return [...all];
  return Array.from({ length: most }, (_, at) => all[Math.round((at * (all.length - 1)) / (most - 1))] as T);
}

/** Ids in the state folder, half-made ones included. */
export function idsIn({ root }: Client): string[] {
  return [...new Set(['sandboxes', 'pending'].flatMap((name) => entries(join(root, name))))];
}

interface Listed {
  readonly id: string;
  readonly name: string;
  readonly state: string;
}

/** What `sbx ls --all` says. */
export function list(client: Client): Listed[] {
  return JSON.parse(must(client, 'ls', '--all', '--json')) as Listed[];
}

/** Waits until nothing is left but the sandboxes that are listed; returns what still is, in words. */
export async function leftovers(client: Client, seen: readonly string[]): Promise<string[]> {
  const end = performance.now() + 6000;
  for (;;) {
    const left = look(client, seen, list(client));
    if (left.length === 0 || performance.now() > end) return left;
    await pause(50);
  }
}

function look({ root }: Client, seen: readonly string[], listed: readonly Listed[]): string[] {
  const ids = new Set(listed.map(({ id }) => id));
  const running = new Set(listed.filter(({ state }) => state !== 'stopped').map(({ id }) => id));
  const left = entries(join(root, 'pending')).map((id) => `pending/${id}`);
  for (const id of entries(join(root, 'sandboxes'))) {
    if (!ids.has(id)) left.push(`sandboxes/${id}`);
    for (const name of entries(join(root, 'sandboxes', id)))
      if (!/^(record\.json|init\.json|upper|work|guest|pipes|identity)$/.test(name))
        left.push(`sandboxes/${id}/${name}`);
    for (const name of entries(join(root, 'sandboxes', id, 'work')))
      if (name.startsWith('.old')) left.push(`sandboxes/${id}/work/${name}`);
  }
  for (const name of entries(join(root, 'names'))) {
    const id = readlinkSync(join(root, 'names', name));
    if (!listed.some((each) => each.id === id && each.name === name)) left.push(`names/${name} -> ${id}`);
  }
  for (const name of entries(join(root, 'snapshots')))
    if (name.startsWith('.')) left.push(`snapshots/${name}`);
  if (readFileSync('/proc/self/mountinfo', 'utf8').includes(root)) left.push('a mount on this machine');
  const gone = seen.filter((id) => !running.has(id));
  if (gone.length > 0) {
    const pattern = gone.flatMap((id, at) => [...(at === 0 ? [] : ['-o']), '-name', `*${id}*`]);
    // Its exit code only tells that other sandboxes came and went meanwhile.
    const { stdout } = spawnSync('find', ['/sys/fs/cgroup', ...pattern], { encoding: 'utf8' });
    left.push(...stdout.split('\n').filter(Boolean));
  }
  left.push(...processes(root, running));
  return left;
}

/** Processes that belong to this state folder, but to none of the sandboxes in `running`. */
function processes(root: string, running: ReadonlySet<string>): string[] {
  const found: string[] = [];
  let timers = 0;
  for (const pid of readdirSync('/proc').filter((name) => /^\d+$/.test(name))) {
    const command = read(pid, 'cmdline').replaceAll('\0', ' ');
    const id = /\/sandboxes\/([0-9a-f]{12})\//.exec(`${command}\n${read(pid, 'mountinfo')}`)?.[1];
    const seconds = Number(/^sleep (\d+)/.exec(command)?.[1]);
    if (Math.abs(TTL_SECONDS - seconds) < TTL_SPREAD) timers++;
    if (!read(pid, 'mountinfo').includes(root) && !command.includes(root)) continue;
    if (id === undefined || !running.has(id)) found.push(`process ${pid}: ${command.slice(-200)}`);
  }
  if (timers > running.size) found.push(`${timers} timers for ${running.size} sandboxes`);
  return found;
}

function read(pid: string, name: string): string {
  try {
    return readFileSync(`/proc/${pid}/${name}`, 'latin1');
  } catch {
    return ''; // It has ended meanwhile.
  }
}

/** Names in a folder; none when there is no such folder. */
export function entries(path: string): string[] {
  return existsSync(path) ? readdirSync(path) : [];
}
