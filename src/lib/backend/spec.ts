/**
 * The rules for options of `create` and `exec`, the same for every backend and for every way in.
 * Each check throws `usage` and names the option by the words it is given.
 */
import { SbxError } from '../errors.ts';
import { isEnvName } from '../util/env-file.ts';
import { isName, NAME_LIMIT } from '../util/name.ts';
import type { Argv, CreateSpec, ExecSpec, Limits } from './contract.ts';

const LABEL_KEY = /^[a-zA-Z0-9][a-zA-Z0-9_./-]{0,126}$/;
const HOSTNAME =
  /^[a-zA-Z0-9]([a-zA-Z0-9-]{0,61}[a-zA-Z0-9])?(\.[a-zA-Z0-9]([a-zA-Z0-9-]{0,61}[a-zA-Z0-9])?)*$/;
const USER = /^[a-zA-Z0-9_][a-zA-Z0-9_.-]{0,31}\$?(:[a-zA-Z0-9_][a-zA-Z0-9_.-]{0,31})?$/;
const WORD = /^[a-zA-Z0-9][a-zA-Z0-9_.-]{0,127}$/;
const PATH_LIMIT = 4095;
const LABEL_VALUE_LIMIT = 4096;

/** Shortest life of a sandbox, in milliseconds. */
export const SHORTEST_TTL = 1000;

/** Least memory of a sandbox, in bytes: below it nothing starts. */
export const LEAST_MEMORY = 6 * 1024 * 1024;

/** Checks a sandbox's or snapshot's name. `what` stands first in the message. */
export function checkName(name: string, what = 'the name'): string {
  if (isName(name)) return name;
  throw usage(
    `${what} ${quote(name)} is not allowed`,
    `up to ${NAME_LIMIT} letters, digits, '_', '.' and '-', starting with a letter or digit`,
  );
}

/** Checks a label's key and value. */
export function checkLabel(key: string, value: string): void {
  if (!LABEL_KEY.test(key)) {
    throw usage(
      `the label ${quote(key)} is not allowed`,
      "up to 127 letters, digits, '_', '.', '/' and '-', starting with a letter or digit: --label team=web",
    );
  }
  if (value.length > LABEL_VALUE_LIMIT || value.includes('\0')) {
    throw usage(`the value of the label ${quote(key)} is too long or holds a NUL byte`);
  }
}

/** `KEY=VALUE` or `KEY` items as a record; `KEY` alone has an empty value. The last one of a key wins. */
export function parseLabels(items: readonly string[]): Record<string, string> {
  const labels = new Map<string, string>();
  for (const item of items) {
    const at = item.indexOf('=');
    const key = at < 0 ? item : item.slice(0, at);
    const value = at < 0 ? '' : item.slice(at + 1);
    checkLabel(key, value);
    labels.set(key, value);
  }
  return Object.fromEntries(labels);
}

/** Checks a TCP port: 1 to 65535. */
export function parsePort(text: string, what = 'the port'): number {
  const port = /^\d{1,5}$/.test(text) ? Number(text) : 0;
  if (port < 1 || port > 65_535)
    throw usage(`${what} ${quote(text)} is not a port`, 'a number from 1 to 65535');
  return port;
}

/** Checks everything about a `create` that does not depend on the backend; returns it. */
export function checkCreateSpec(spec: CreateSpec): CreateSpec {
  if (spec.name !== undefined) checkName(spec.name, "the sandbox's name");
  checkEnv(spec.env);
  for (const [key, value] of Object.entries(spec.labels)) checkLabel(key, value);
  checkLimits(spec.limits);
  if (spec.workdir !== undefined) {
    checkPath(spec.workdir, 'the workdir');
    if (!spec.workdir.startsWith('/')) {
      throw usage(
        `the workdir ${quote(spec.workdir)} is not absolute`,
        'start it with /, as in --workdir /workspace',
      );
    }
  }
  if (spec.user !== undefined) checkUser(spec.user);
  if (spec.hostname !== undefined && (spec.hostname.length > 63 || !HOSTNAME.test(spec.hostname))) {
    throw usage(
      `the hostname ${quote(spec.hostname)} is not allowed`,
      "up to 63 letters, digits, '-' and '.'",
    );
  }
  checkDuration(spec.ttl, 'the ttl');
  checkDuration(spec.idle, 'the idle time');
  const sources = [spec.image, spec.rootfs, spec.snapshot].filter((source) => source !== undefined);
  if (sources.length > 1)
    throw usage('only one of an image, a rootfs and a snapshot can be what a sandbox is made from');
  if (sources.includes('')) throw usage('the image, rootfs or snapshot is empty');
  for (const port of spec.ports ?? []) parsePort(String(port));
  for (const { source, target } of spec.volumes ?? []) checkVolume(source, target);
  for (const [what, name] of [
    ['network', spec.networkName],
    ['network', spec.closedNetwork],
    ['runtime', spec.runtime],
  ] as const) {
    if (name !== undefined && !WORD.test(name)) throw usage(`the ${what} ${quote(name)} is not allowed`);
  }
  if (spec.command !== undefined) checkArgv(spec.command);
  return spec;
}

/** Checks everything about an `exec` that does not depend on the backend; returns it. */
export function checkExecSpec(spec: ExecSpec): ExecSpec {
  checkArgv(spec.argv);
  if (spec.env !== undefined) checkEnv(spec.env);
  if (spec.workdir !== undefined) checkPath(spec.workdir, 'the workdir');
  if (spec.user !== undefined) checkUser(spec.user);
  return spec;
}

/** Checks that `argv` holds a command. */
export function checkArgv(argv: readonly string[]): Argv {
  const [command, ...rest] = argv;
  if (command === undefined) throw usage('there is no command to run');
  if (command === '') throw usage('the command is empty');
  if (argv.some((word) => word.includes('\0'))) throw usage('an argument of the command holds a NUL byte');
  return [command, ...rest];
}

function checkVolume(source: string, target: string): void {
  const isPath = source.startsWith('/');
  if (isPath) checkPath(source, 'the source of a volume');
  else if (!isName(source)) {
    throw usage(`${quote(source)} is neither an absolute path nor the name of a volume`);
  }
  checkPath(target, 'the place of a volume');
  if (!target.startsWith('/') || target === '/') {
    throw usage(`${quote(target)} is no place for a volume`, 'an absolute path inside, below /');
  }
  if (`${source}${target}`.includes(':')) throw usage('the path of a volume must not hold a colon');
}

function checkEnv(env: Readonly<Record<string, string>>): void {
  for (const [name, value] of Object.entries(env)) {
    if (!isEnvName(name)) {
      throw usage(
        `the environment variable ${quote(name)} is not allowed`,
        'letters, digits and _, not starting with a digit',
      );
    }
    if (value.includes('\0')) throw usage(`the value of ${name} holds a NUL byte`);
  }
}

function checkUser(user: string): void {
  if (!USER.test(user)) throw usage(`the user ${quote(user)} is not allowed`, 'a name or uid[:gid]');
}

function checkPath(path: string, what: string): void {
  if (path === '') throw usage(`${what} is empty`);
  if (path.includes('\0') || Buffer.byteLength(path) > PATH_LIMIT) {
    throw usage(`${what} is longer than ${PATH_LIMIT} bytes or holds a NUL byte`);
  }
}

function checkLimits(limits: Limits): void {
  const { cpus, memory, pids, disk } = limits;
  if (cpus !== undefined && !(cpus >= 0.01 && cpus <= 4096)) throw usage('cpus must be from 0.01 to 4096');
  for (const [what, value] of Object.entries({ memory, pids, disk })) {
    if (value !== undefined && !(Number.isSafeInteger(value) && value > 0))
      throw usage(`${what} must be a positive whole number`);
  }
  if (memory !== undefined && memory < LEAST_MEMORY)
    throw usage('memory must be at least 6m', 'a number alone is bytes: --memory 512m');
}

function checkDuration(ms: number | undefined, what: string): void {
  if (ms === undefined) return;
  if (!Number.isSafeInteger(ms) || ms < SHORTEST_TTL) throw usage(`${what} must be at least 1s`);
}

function quote(text: string): string {
  return JSON.stringify(text.length > 80 ? `${text.slice(0, 80)}…` : text);
}

function usage(message: string, hint?: string): SbxError {
  return new SbxError('usage', message, { hint });
}
