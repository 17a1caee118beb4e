/** The flags that say what a new sandbox is like, shared by `create` and `run`, and what they ask for. */
import { readFile } from 'node:fs/promises';
import { resolve } from 'node:path';
import type { Interfaces } from '@oclif/core';
import type { CreateSpec, Limits, NetworkMode, Volume } from '../backend/contract.ts';
import type { GivenOption } from '../backend/need.ts';
import { checkCreateSpec, parseLabels, parsePort } from '../backend/spec.ts';
import { hasErrno, SbxError } from '../errors.ts';
import type { CreateRequest } from '../ops/create.ts';
import { parseRepo } from '../ops/repo.ts';
import { parseWaitCondition } from '../ops/wait.ts';
import { parseEnvAssignments, resolveEnvFile } from '../util/env-file.ts';
import { parseSize } from '../util/size.ts';
import type { Context } from './context.ts';
import { duration, Flags, size } from './flags.ts';

const many = { multiple: true } as const;
const NETWORKS = ['private', 'host', 'none'] as const;
const WAIT_TIMEOUT_MS = 60_000;
const ISOLATIONS = ['namespaces', 'none'] as const;

/** Flags of every verb that makes a sandbox. `--backend` is a flag of all verbs. */
export const createFlags = {
  image: Flags.string({
    aliases: ['template'],
    completes: 'none',
    summary: 'image or template to make it from',
    exclusive: ['rootfs', 'from'],
  }),
  rootfs: Flags.string({
    completes: 'file',
    helpValue: '<dir|tar>',
    summary: 'directory or tar archive on this machine that becomes its file system',
    exclusive: ['from'],
  }),
  from: Flags.string({ completes: 'snapshot', helpValue: '<snapshot>', summary: 'snapshot to make it from' }),
  size: Flags.string({ completes: 'none', helpValue: '2vcpu-4gb', summary: 'CPUs and memory in one word' }),
  cpus: Flags.string({ completes: 'none', helpValue: '<n>', summary: 'CPUs it may use, such as 1.5' }),
  memory: size({ summary: 'memory it may use, such as 512m or 4g' }),
  pids: Flags.string({ completes: 'none', helpValue: '<n>', summary: 'number of processes it may have' }),
  disk: size({ summary: 'disk it may use, such as 10g' }),
  env: Flags.string({
    ...many,
    char: 'e',
    completes: 'local-variable',
    helpValue: '<k[=v]>',
    summary: 'environment variable; K alone passes on your own',
  }),
  'env-file': Flags.string({
    ...many,
    completes: 'file',
    helpValue: '<file>',
    summary: 'file with one K=V a line',
  }),
  label: Flags.string({
    ...many,
    char: 'l',
    completes: 'none',
    helpValue: '<k[=v]>',
    summary: 'label to find it by',
  }),
  port: Flags.string({
    ...many,
    char: 'p',
    completes: 'none',
    helpValue: '<port>',
    summary: 'port that the backend should publish',
  }),
  repo: Flags.string({
    completes: 'folder',
    helpValue: '<url[#ref]>',
    summary:
      'git repository to clone into the workdir, at a branch, tag or commit; a path of this machine works too',
  }),
  setup: Flags.string({
    ...many,
    completes: 'none',
    helpValue: '<cmd>',
    summary: 'shell command to run before the main one; may be repeated',
  }),
  ttl: duration({ summary: 'time after which it is removed, such as 1h' }),
  idle: duration({ summary: 'time without any use after which it is stopped' }),
  network: Flags.string({
    completes: 'network',
    helpValue: '<private|host|none|name>',
    summary: 'network it sees: its own, that of this machine, none, or one that the backend knows by name',
  }),
  volume: Flags.string({
    ...many,
    completes: 'none',
    helpValue: '<src:dst[:ro]>',
    summary: "directory or named volume of the backend's machine to see inside",
  }),
  runtime: Flags.string({
    completes: 'none',
    helpValue: '<name>',
    summary: 'what the backend runs it with, such as runsc',
  }),
  egress: Flags.boolean({
    summary: "a token for the server's model providers, whose SDKs find it by themselves",
  }),
  workdir: Flags.string({
    char: 'w',
    completes: 'none',
    helpValue: '<dir>',
    summary: 'absolute directory inside where commands start',
  }),
  user: Flags.string({
    char: 'u',
    completes: 'none',
    helpValue: '<user>',
    summary: 'user that commands run as: name or uid[:gid]',
  }),
  hostname: Flags.string({ completes: 'none', helpValue: '<name>', summary: 'its host name' }),
  isolation: Flags.string({
    options: ISOLATIONS,
    summary: 'what keeps it apart from this machine; with none, nothing does',
  }),
  wait: Flags.string({
    ...many,
    completes: 'condition',
    helpValue: '<port:n>',
    summary: 'wait until this holds: running, port:N, process:ID',
  }),
  'wait-timeout': duration({ summary: 'how long to wait for --wait, 1m if left out' }),
  'if-not-exists': Flags.boolean({ summary: 'use the one of this name if there is one, and start it' }),
};

/** What the parser makes of {@link createFlags}; a verb may leave some of them out. */
export type CreateFlagValues = Partial<Interfaces.InferredFlags<typeof createFlags>>;

/** What stands besides the flags on the command line. */
export interface CreateWords {
  readonly name?: string | undefined;
  /** The main command; empty when there is none. */
  readonly command?: readonly string[] | undefined;
}

/**
 * The request that the flags stand for, checked as far as that goes without a backend. Reads the env files.
 * @throws SbxError `usage`
 */
export async function createSpecFromFlags(
  flags: CreateFlagValues,
  context: Pick<Context, 'env' | 'paths'>,
  words: CreateWords = {},
): Promise<CreateRequest> {
  const repo = flags.repo === undefined ? undefined : parseRepo(flags.repo, context.paths.cwd);
  const setup = flags.setup ?? [];
  const [first, ...rest] = words.command ?? [];
  const command = first === undefined ? undefined : ([first, ...rest] as const);
  const spec: CreateSpec = {
    name: words.name,
    image: flags.image,
    rootfs: flags.rootfs === undefined ? undefined : resolve(context.paths.cwd, flags.rootfs),
    snapshot: flags.from,
    env: await environment(flags, context),
    labels: parseLabels(flags.label ?? []),
    limits: limits(flags),
    ...networkOf(flags.network),
    volumes: flags.volume?.map((text) => parseVolume(text, context.paths.cwd)),
    runtime: flags.runtime,
    workdir: flags.workdir,
    user: flags.user,
    isolation: oneOf(ISOLATIONS, flags.isolation, '--isolation'),
    ttl: flags.ttl,
    idle: flags.idle,
    hostname: flags.hostname,
    ports: flags.port?.map(parseInnerPort),
    ...(flags.egress === true ? { egress: {} } : {}),
    command,
  };
  if (flags.network === '') throw new SbxError('usage', '--network is empty');
  if (flags.rootfs === '') throw new SbxError('usage', '--rootfs is empty');
  if (flags['if-not-exists'] === true && words.name === undefined) {
    throw new SbxError('usage', '--if-not-exists needs a name', { hint: 'sbx create NAME --if-not-exists' });
  }
  return {
    spec: checkCreateSpec(spec),
    given: givenOptions(flags, spec),
    repo,
    setup,
    wait: (flags.wait ?? []).map((text) => parseWaitCondition(text, '--wait')),
    waitTimeoutMs: flags['wait-timeout'] ?? WAIT_TIMEOUT_MS,
    ifNotExists: flags['if-not-exists'] === true,
  };
}

const FLAG_OPTIONS = [
  ['image', 'image'],
  ['rootfs', 'rootfs'],
  ['from', 'snapshot'],
  ['size', 'limits.cpus'],
  ['size', 'limits.memory'],
  ['cpus', 'limits.cpus'],
  ['memory', 'limits.memory'],
  ['pids', 'limits.pids'],
  ['disk', 'limits.disk'],
  ['env', 'env'],
  ['env-file', 'env'],
  ['label', 'labels'],
  ['port', 'ports'],
  ['ttl', 'ttl'],
  ['idle', 'idle'],
  ['volume', 'volumes'],
  ['runtime', 'runtime'],
  ['workdir', 'workdir'],
  ['user', 'user'],
  ['hostname', 'hostname'],
  ['isolation', 'isolation'],
] as const satisfies readonly (readonly [keyof CreateFlagValues, GivenOption['option']])[];

function givenOptions(flags: CreateFlagValues, spec: CreateSpec): GivenOption[] {
  const given: GivenOption[] = FLAG_OPTIONS.filter(([flag]) => flags[flag] !== undefined).map(
    ([flag, option]) => ({
      option,
      as: `--${flag}`,
    }),
  );
  if (spec.network !== undefined) given.push({ option: 'network', as: '--network' });
  if (spec.networkName !== undefined)
    given.push({ option: 'networkName', as: `--network ${spec.networkName}` });
  if (spec.name !== undefined) given.push({ option: 'name', as: 'a name of your choice' });
  if (spec.egress !== undefined) given.push({ option: 'egress', as: '--egress' });
  if (spec.command !== undefined) given.push({ option: 'command', as: 'a main command' });
  return given;
}

/** A port inside: where it is published is the backend's choice. */
function parseInnerPort(text: string): number {
  const [, local, inside] = /^(?:.*:)?(\d+):(\d+)(?:\/tcp)?$/.exec(text) ?? [];
  if (local === undefined || inside === undefined) return parsePort(text, '--port');
  throw new SbxError('usage', `--port ${text}: the backend picks the port on its side`, {
    hint: `--port ${inside}; for one of your choice on this machine: sbx forward NAME ${local}:${inside}`,
  });
}

/** One of the three that every backend may know, else a name. */
function networkOf(text: string | undefined): Pick<CreateSpec, 'network' | 'networkName'> {
  const mode: NetworkMode | undefined = NETWORKS.find((each) => each === text);
  return mode === undefined ? { networkName: text } : { network: mode };
}

/** `SRC:DST` or `SRC:DST:ro`. A source that begins with a dot or a slash is a path of this machine. */
function parseVolume(text: string, cwd: string): Volume {
  const [, source = '', target = '', mode] = /^([^:]+):([^:]+)(?::(ro|rw))?$/.exec(text) ?? [];
  if (source === '') {
    throw new SbxError('usage', `--volume ${JSON.stringify(text)} is not SRC:DST or SRC:DST:ro`, {
      hint: 'as in --volume "$PWD:/workspace" or --volume cache:/root/.cache',
    });
  }
  return { source: /^[./]/.test(source) ? resolve(cwd, source) : source, target, readOnly: mode === 'ro' };
}

/** The variables that `--env-file` and `--env` give; the latter win. Reads the files. */
export async function environment(
  flags: CreateFlagValues,
  context: Pick<Context, 'env' | 'paths'>,
): Promise<Record<string, string>> {
  const lookup = (name: string) => context.env[name];
  const found: Record<string, string> = {};
  for (const file of flags['env-file'] ?? []) {
    Object.assign(found, resolveEnvFile(await readText(resolve(context.paths.cwd, file), file), lookup));
  }
  return Object.assign(found, parseEnvAssignments(flags.env ?? [], lookup));
}

async function readText(path: string, shown: string): Promise<string> {
  try {
    return await readFile(path, 'utf8');
  } catch (cause) {
    const reason = hasErrno(cause, 'ENOENT') ? 'there is no such file' : (cause as Error).message;
    throw new SbxError('usage', `cannot read the env file ${JSON.stringify(shown)}: ${reason}`, { cause });
  }
}

function limits(flags: CreateFlagValues): Limits {
  const machine = optional(flags.size, parseMachineSize);
  return {
    cpus: optional(flags.cpus, (text) => positive(text, '--cpus')) ?? machine?.cpus,
    memory: flags.memory ?? machine?.memory,
    pids: optional(flags.pids, (text) => positive(text, '--pids')),
    disk: flags.disk,
  };
}

function parseMachineSize(text: string): { cpus: number; memory: number } {
  const found = /^(\d+(?:\.\d+)?)v?cpus?-(\d+(?:\.\d+)?[kmgt]i?b?)$/i.exec(text);
  if (found === null) {
    throw new SbxError('usage', `--size ${JSON.stringify(text)} is not a size`, {
      hint: 'write it as in --size 2vcpu-4gb',
    });
  }
  const [, cpus = '', memory = ''] = found;
  return { cpus: positive(cpus, '--size'), memory: parseSize(memory) };
}

function positive(text: string, flag: string): number {
  const value = /^\d+(\.\d+)?$/.test(text) ? Number(text) : 0;
  if (value > 0) return value;
  throw new SbxError('usage', `${flag} ${JSON.stringify(text)} is not a positive number`);
}

function oneOf<const T extends string>(
  allowed: readonly T[],
  text: string | undefined,
  flag: string,
): T | undefined {
  const found = allowed.find((each) => each === text);
  if (found !== undefined || text === undefined) return found;
  throw new SbxError('usage', `${flag} ${JSON.stringify(text)} is not one of ${allowed.join(', ')}`);
}

function optional<T>(text: string | undefined, parse: (text: string) => T): T | undefined {
  return text === undefined ? undefined : parse(text);
}
