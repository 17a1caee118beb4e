/**
 * The command line that brings a process into a sandbox.
 *
 * Order is everything here. A sandbox may have replaced every program and library that it can see, so nothing of it
 * may run before the capabilities are gone: `nsenter` joins the namespaces, `setpriv` of this machine gives up what
 * the sandbox must not have, and only then does `chroot` change to the sandbox's root.
 *
 * Once `setpriv` is done the sandbox may look at the process, at its root and working folder, and at its program
 * through /proc. So these are nothing of this machine's: the root is the read-only mount of the tools in the sandbox's
 * own mount namespace, the working folder is the sandbox's root, which is where `chroot` goes from there.
 */
import { TOOLS_FOLDER } from './base-folders.ts';
import { SYSTEM_PATH } from './system.ts';

/** What root keeps inside a sandbox: the set that container engines give by default. */
const CAPABILITIES = [
  'chown',
  'dac_override',
  'fowner',
  'fsetid',
  'kill',
  'setgid',
  'setuid',
  'setpcap',
  'net_bind_service',
  'net_raw',
  'sys_chroot',
  'mknod',
  'audit_write',
  'setfcap',
];

/** Arguments of `setpriv` that leave a process with no more than {@link CAPABILITIES}, for good. */
export const DROP_PRIVILEGES: readonly string[] = [
  '--no-new-privs',
  `--bounding-set=-all,${CAPABILITIES.map((name) => `+${name}`).join(',')}`,
  '--inh-caps=-all',
  '--ambient-caps=-all',
];

/** Who a command runs as, in numbers of the sandbox. */
export interface Identity {
  readonly uid: number;
  readonly gid: number;
  readonly groups: readonly number[];
}

export interface JoinOptions {
  readonly pid: number;
  readonly keepsGroups: boolean;
  readonly ownNetwork: boolean;
  readonly ownCgroupNamespace: boolean;
  readonly cgroups: readonly string[];
  /** Absent: root of the sandbox. */
  readonly identity?: Identity | undefined;
}

/**
 * Joins the cgroups before anything else, so that limits and a freeze reach the command from its first moment. In
 * version 1 a single thread moves ten times faster than a process, and a shell is a single thread.
 */
const JOIN_CGROUPS =
  'n=$1; shift; while [ "$n" -gt 0 ]; do f=$1/tasks; [ -e "$f" ] || f=$1/cgroup.procs; echo 0 > "$f" || exit 125; shift; n=$((n - 1)); done; exec "$@"';

/** The argv that runs `argv` inside; its first words are programs of this machine. */
export function joinArgv(options: JoinOptions, argv: readonly string[]): [string, ...string[]] {
  const { pid, identity, cgroups } = options;
  const namespaces = [...userNamespace(options.keepsGroups), '-m', '-p', '-i', '-u'];
  if (options.ownNetwork) namespaces.push('-n');
  if (options.ownCgroupNamespace) namespaces.push('-C');
  // The user changes last, because a plain one may not change the root; `+` keeps `chroot` from looking names up.
  const user =
    identity === undefined
      ? []
      : [
          `--userspec=+${identity.uid}:+${identity.gid}`,
          `--groups=${identity.groups.map((id) => `+${id}`).join(',')}`,
        ];
  const enter = [
    ...['nsenter', '-t', String(pid), ...namespaces],
    ...[`--root=/proc/${pid}/root/${TOOLS_FOLDER}`, `--wd=/proc/${pid}/root`, '--'],
    ...['setpriv', ...DROP_PRIVILEGES, '--', 'chroot', ...user, '.'],
    ...argv,
  ];
  return joinCgroups(cgroups, enter as [string, ...string[]]);
}

/** The argv that runs `argv` in these cgroups. */
export function joinCgroups(cgroups: readonly string[], argv: [string, ...string[]]): [string, ...string[]] {
  if (cgroups.length === 0) return argv;
  return ['/bin/sh', '-c', JOIN_CGROUPS, 'sbx-join', String(cgroups.length), ...cgroups, ...argv];
}

/** The argv of a helper of this machine with all capabilities in the sandbox's user and mount namespaces; it must run nothing of the sandbox. */
export function helperArgv(
  { pid, keepsGroups }: { readonly pid: number; readonly keepsGroups: boolean },
  argv: readonly string[],
): [string, ...string[]] {
  return ['nsenter', '-t', String(pid), ...userNamespace(keepsGroups), '-m', '--root=/', '--', ...argv];
}

/** Options of `nsenter` that join the user namespace; where groups cannot be given up it must not try. */
export function userNamespace(keepsGroups: boolean): string[] {
  return keepsGroups ? ['-U', '--preserve-credentials'] : ['-U'];
}

/** Default search path inside. */
export const GUEST_PATH = SYSTEM_PATH;
