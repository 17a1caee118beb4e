/** The network of a sandbox: `private` (its own, outbound through pasta or slirp4netns), `host` or `none`. */
import { type ChildProcess, execFile, spawn } from 'node:child_process';
import * as fs from 'node:fs';
import { join } from 'node:path';
import { promisify } from 'node:util';
import type { NetworkMode } from '../../backend/contract.ts';
import { hasErrno, SbxError } from '../../errors.ts';
import { onlyThese } from './inherited.ts';
import { markOf, type ProcessMark } from './init-process.ts';
import { userNamespace } from './join.ts';
import { HELPER, isRoot, SYSTEM_ENV, SYSTEM_PATH } from './system.ts';

const run = promisify(execFile);

/** What a sandbox gets when it starts. */
export interface NetworkPlan {
  readonly mode: NetworkMode;
  /** The program that connects a private network. */
  readonly tool?: 'pasta' | 'slirp4netns';
}

/** Where pasta answers name look-ups for this machine's own resolver. */
const PASTA_RESOLVER = '169.254.99.53';
const SLIRP_RESOLVER = '10.0.2.3';
const TUN = '/dev/net/tun';
const READY_LIMIT_MS = 10_000;

/** Decides what `wanted` comes to on this machine. `unsupported` when a private network is asked for and cannot be had. */
export function planNetwork(wanted: NetworkMode | undefined): NetworkPlan {
  if (wanted === 'host' || wanted === 'none') return { mode: wanted };
  const tool = (['slirp4netns', 'pasta'] as const).find((name) => findProgram(name) !== undefined);
  const device = canUse(TUN);
  if (tool !== undefined && device) return { mode: 'private', tool };
  if (wanted === undefined) return { mode: 'host' };
  const missing = tool === undefined ? 'pasta or slirp4netns on this machine' : `to read and write ${TUN}`;
  const remedy =
    tool === undefined ? 'apt-get install slirp4netns' : `as root: modprobe tun; chmod 666 ${TUN}`;
  throw new SbxError('unsupported', `a private network needs ${missing}`, {
    hint: `${remedy}, or create with --network host or --network none`,
  });
}

function canUse(path: string): boolean {
  try {
    fs.accessSync(path, fs.constants.R_OK | fs.constants.W_OK);
    return true;
  } catch (error) {
    if (hasErrno(error, 'ENOENT', 'EACCES', 'EPERM', 'ENXIO', 'ENODEV')) return false;
    throw error;
  }
}

/** The path of a program of this machine. */
export function findProgram(name: string): string | undefined {
  return SYSTEM_PATH.split(':')
    .map((folder) => join(folder, name))
    .find((path) => fs.existsSync(path));
}

/** The resolv.conf of a sandbox: this machine's, but a resolver on its loopback is not in reach of a private network. */
export function resolverFor(plan: NetworkPlan): string {
  const text = readText('/run/systemd/resolve/resolv.conf') ?? readText('/etc/resolv.conf') ?? '';
  const servers = [...text.matchAll(/^\s*nameserver\s+(\S+)/gm)].map((match) => match[1] ?? '');
  const isLocal = servers.every((server) => server.startsWith('127.') || server === '::1');
  if (plan.mode !== 'private' || !isLocal) return text;
  const resolver = plan.tool === 'slirp4netns' ? SLIRP_RESOLVER : PASTA_RESOLVER;
  const rest = text.replaceAll(/^\s*nameserver\s.*$/gm, '').trim();
  return `nameserver ${resolver}\n${rest}\n`;
}

function readText(path: string): string | undefined {
  return fs.existsSync(path) ? fs.readFileSync(path, 'utf8') : undefined;
}

/** Brings the loopback device of the sandbox's own network up. */
export async function loopbackUp(pid: number, keepsGroups: boolean): Promise<void> {
  const enter = ['-t', String(pid), ...userNamespace(keepsGroups), '-n', '--'];
  if (findProgram('ip') !== undefined) {
    await run('nsenter', [...enter, 'ip', 'link', 'set', 'lo', 'up'], { env: SYSTEM_ENV });
    return;
  }
  // SIOCSIFFLAGS with IFF_UP: every Debian has perl-base, not every one has iproute2.
  const program = 'socket(S,2,2,0) or die; ioctl(S,0x8914,pack("a16s","lo",0x49)) or die';
  await run('nsenter', [...enter, 'perl', '-e', program], { env: SYSTEM_ENV });
}

/** Connects the sandbox's network to the world, outbound only. Resolves once it works; the helper's pid is then in `pidFile`. */
export async function connectNetwork(pid: number, plan: NetworkPlan, pidFile: string): Promise<ProcessMark> {
  try {
    return await (plan.tool === 'slirp4netns' ? startSlirp(pid, pidFile) : startPasta(pid, pidFile));
  } catch (cause) {
    throw new SbxError('failed', `${plan.tool ?? 'the network'} did not start: ${lastLine(cause)}`, {
      hint: 'create with --network host or --network none',
      cause,
    });
  }
}

async function startPasta(pid: number, pidFile: string): Promise<ProcessMark> {
  const places = ['--netns', `/proc/${pid}/ns/net`, '--userns', `/proc/${pid}/ns/user`];
  // Nothing listens on either side, and the gateway's address does not lead to this machine's loopback.
  const closed = [
    '-t',
    'none',
    '-u',
    'none',
    '-T',
    'none',
    '-U',
    'none',
    '--no-map-gw',
    '--dns-forward',
    PASTA_RESOLVER,
  ];
  const owner = isRoot() ? ['--runas', '0:0'] : [];
  await run('pasta', ['--config-net', '-q', ...closed, ...owner, '-P', pidFile, ...places], {
    env: SYSTEM_ENV,
  });
  const mark = markOf(Number(fs.readFileSync(pidFile, 'utf8').trim()));
  if (mark === undefined) throw new Error('it ended at once');
  return mark;
}

/** Its pid is on the disk before it runs: unlike pasta it would outlive the sandbox. */
const SLIRP = 'echo $$ > "$SBX_PID_FILE" && exec slirp4netns "$@"';

function startSlirp(pid: number, pidFile: string): Promise<ProcessMark> {
  const args = [
    '-c',
    '--disable-host-loopback',
    // Its own walls: a seccomp filter, and for root no files of this machine; a plain user may not do that.
    '--enable-seccomp',
    ...(isRoot() ? ['--enable-sandbox'] : []),
    '--enable-ipv6',
    '--mtu=65520',
    `--userns-path=/proc/${pid}/ns/user`,
    '--netns-type=path',
  ];
  const words = [...args, '-r', '3', `/proc/${pid}/ns/net`, 'tap0'];
  // Its sandbox lets go of all mounts, which where they are shared (a Docker engine shares its own) would end for everybody.
  const apart = isRoot() ? ['unshare', '--mount', '--propagation', 'private', '--'] : [];
  const [program = '', ...rest] = [...apart, '/bin/sh', '-c', SLIRP, 'sbx-slirp', ...words];
  const child: ChildProcess = spawn(program, rest, {
    ...HELPER,
    env: { ...SYSTEM_ENV, SBX_PID_FILE: pidFile },
    stdio: onlyThese(['ignore', 'ignore', 'ignore', 'pipe']),
  });
  return new Promise((resolve, reject) => {
    const ready = child.stdio[3] as NodeJS.ReadableStream;
    const timer = setTimeout(() => fail(new Error('it was not ready in time')), READY_LIMIT_MS);
    const fail = (error: Error) => {
      clearTimeout(timer);
      child.kill('SIGKILL');
      reject(error);
    };
    child.once('error', fail);
    child.once('exit', () => fail(new Error('it ended at once')));
    ready.once('data', () => {
      clearTimeout(timer);
      child.removeAllListeners('exit');
      child.unref();
      const mark = markOf(child.pid ?? 0);
      if (mark === undefined) fail(new Error('it ended at once'));
      else resolve(mark);
    });
  });
}

function lastLine(cause: unknown): string {
  const text =
    cause instanceof Error && 'stderr' in cause ? String(cause.stderr) : String((cause as Error).message);
  return text.trim().split('\n').at(-1) ?? '';
}
