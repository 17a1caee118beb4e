/** What the local backend needs of this machine, tried out rather than guessed, and what to install for the rest. */
import * as fs from 'node:fs';
import type { Call, CheckResult } from '../../backend/contract.ts';
import { hasErrno, SbxError } from '../../errors.ts';
import { randomHex } from '../../util/random-id.ts';
import { makeCgroups, removeCgroups, systemCgroups } from './cgroup.ts';
import { checkOverlay, checkSpace, checkState } from './check-state.ts';
import { attempt, failed, ok, UNSHARE, warning } from './check-try.ts';
import { findProgram } from './network.ts';
import { isRoot } from './system.ts';
import { subordinateRanges } from './uid-map.ts';

/** Programs without which no sandbox can be made, all of util-linux. */
const NEEDED = ['unshare', 'nsenter', 'setpriv', 'mount', 'umount', 'pivot_root'];

/**
 * Checks everything, the state folder at `state` included, which is made when it is missing.
 * `failed`: no sandbox can be made; `warning`: something is not there. Rejects only when interrupted.
 */
export async function checkLocal(state: string, call: Call): Promise<CheckResult[]> {
  if (process.platform !== 'linux') {
    return [
      {
        name: 'system',
        status: 'failed',
        detail: `this is ${process.platform}; local sandboxes need Linux`,
        hint: 'use another backend: sbx backend add',
      },
    ];
  }
  const programs = checkPrograms();
  const results = [programs];
  if (programs.status === 'ok') results.push(await checkNamespaces(call));
  const folder = checkState(state);
  results.push(folder);
  if (results.every(({ status }) => status !== 'failed')) results.push(await checkOverlay(state, call));
  if (folder.status === 'ok') results.push(checkSpace(state));
  results.push(checkLimits(), checkNetwork(), checkIds(), checkTerminals());
  return results;
}

function checkPrograms(): CheckResult {
  const missing = NEEDED.filter((name) => findProgram(name) === undefined);
  return missing.length === 0
    ? ok('util-linux', NEEDED.join(', '))
    : failed('util-linux', `not found: ${missing.join(', ')}`, 'apt-get install util-linux');
}

async function checkNamespaces(call: Call): Promise<CheckResult> {
  const name = 'namespaces';
  const problem = await attempt([...UNSHARE, '--ipc', '--uts', '--pid', '--fork', '--', 'true'], '/', call);
  return problem === undefined
    ? ok(name, 'user, mount, pid, ipc and uts')
    : failed(name, ...whyNoNamespaces(problem));
}

/** The switches that distributions turn user namespaces off with. */
function whyNoNamespaces(problem: string): [detail: string, hint: string] {
  const off: readonly [key: string, bad: string, good: string][] = [
    ['user.max_user_namespaces', '0', '15000'],
    ['kernel.unprivileged_userns_clone', '0', '1'],
    ['kernel.apparmor_restrict_unprivileged_userns', '1', '0'],
  ];
  for (const [key, bad, good] of off) {
    if (readLine(`/proc/sys/${key.replaceAll('.', '/')}`) === bad) {
      return [
        `${key} is ${bad}, which forbids user namespaces (${problem})`,
        `sudo sysctl -w ${key}=${good}`,
      ];
    }
  }
  return [
    `this system does not let us make them (${problem})`,
    'in a container? It needs the right to make user namespaces. Else: sbx backend add, or without any walls: sbx create --isolation none',
  ];
}

/** Sets the widest limits on a cgroup without processes. */
function checkLimits(): CheckResult {
  const trials = [
    ['--memory', { memory: 2 ** 40 }],
    ['--pids', { pids: 30_000 }],
    ['--cpus', { cpus: 1 }],
  ] as const;
  const refused = trials.flatMap(([flag, limits]) => {
    try {
      removeCgroups(makeCgroups(systemCgroups(), `check-${randomHex(6)}`, limits));
      return [];
    } catch (error) {
      if (error instanceof SbxError || (error instanceof Error && 'code' in error)) return [flag];
      throw error;
    }
  });
  const hint =
    'run sbx as root, or in a session with delegated cgroups: systemd-run --user --scope -p Delegate=yes sbx …';
  return refused.length === 0
    ? ok('limits', trials.map(([flag]) => flag).join(', '))
    : warning('limits', `cannot be enforced here: ${refused.join(', ')}`, hint);
}

function checkNetwork(): CheckResult {
  const name = 'private network';
  const tool = ['pasta', 'slirp4netns'].find((each) => findProgram(each) !== undefined);
  if (tool === undefined)
    return warning(
      name,
      "neither pasta nor slirp4netns; sandboxes share this machine's network",
      'apt-get install slirp4netns',
    );
  if (!fs.existsSync('/dev/net/tun'))
    return warning(name, `${tool} is there, but /dev/net/tun is not`, 'modprobe tun');
  if (findProgram('ip') === undefined && findProgram('perl') === undefined) {
    return warning(name, 'nothing to bring the loopback device up with', 'apt-get install iproute2');
  }
  return ok(name, tool);
}

function checkIds(): CheckResult {
  const name = 'user ids';
  if (isRoot()) return ok(name, 'all, as root');
  const ranges = subordinateRanges();
  if (ranges !== undefined) return ok(name, `${ranges.uids.count} from /etc/subuid`);
  return warning(
    name,
    'only root inside; package managers that change owners fail',
    'apt-get install uidmap && sudo usermod --add-subuids 100000-165535 --add-subgids 100000-165535 "$USER"',
  );
}

function checkTerminals(): CheckResult {
  const missing = (
    [
      ['dtach', 'dtach'],
      ['script', 'bsdutils'],
    ] as const
  ).filter(([program]) => findProgram(program) === undefined);
  if (missing.length === 0) return ok('sessions', 'dtach, script');
  return warning(
    'sessions',
    `not found: ${missing.map(([program]) => program).join(', ')}; a shell ends with its client`,
    `apt-get install ${missing.map(([, name]) => name).join(' ')}`,
  );
}

function readLine(path: string): string | undefined {
  try {
    return fs.readFileSync(path, 'utf8').trim();
  } catch (error) {
    if (hasErrno(error, 'ENOENT', 'EACCES', 'EPERM')) return undefined;
    throw error;
  }
}
