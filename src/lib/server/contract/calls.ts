/**
 * The operations of a sandbox that clients of ours may call by name: what `/sandboxes/:id/calls/…` lets through. The
 * contract's own operations, with arguments checked, because what comes from a network may be anything.
 */
import Type, { type Static, type TSchema } from 'typebox';
import { Compile } from 'typebox/compile';
import type { Call, Sandbox, SignalName, TerminalSize } from '../../backend/contract.ts';
import { type CapabilityIndex, need } from '../../backend/need.ts';
import { SIGNAL_NUMBERS } from '../../backend/signal-numbers.ts';
import { checkArgv } from '../../backend/spec.ts';
import { SbxError } from '../../errors.ts';
import { LONGEST_MS, strings } from '../shapes.ts';

/** An operation on a sandbox that runs, or where `asleep`, on one in any state. */
export interface Operation<Result> {
  readonly args: TSchema;
  readonly asleep?: true;
  run(sandbox: Sandbox, args: never, call: Call, having: CapabilityIndex): Result;
}

/** Lets the handler have arguments of the type of its schema. */
function operation<Args extends TSchema, Result>(
  args: Args,
  run: (sandbox: Sandbox, args: Static<Args>, call: Call, having: CapabilityIndex) => Result,
  options: { readonly asleep?: true } = {},
): Operation<Result> {
  return { args, run: run as Operation<Result>['run'], ...options };
}

const none = Type.Object({});
const path = Type.String({ minLength: 1 });
const mode = Type.Optional(Type.Integer({ minimum: 0, maximum: 0o7777 }));
const flag = Type.Optional(Type.Boolean());
const pauseMs = Type.Optional(Type.Integer({ minimum: 1, maximum: LONGEST_MS }));
const size = Type.Object({
  cols: Type.Integer({ minimum: 1, maximum: 65_535 }),
  rows: Type.Integer({ minimum: 1, maximum: 65_535 }),
});
const argv = Type.Array(Type.String(), { minItems: 1 });
const command = {
  argv,
  env: Type.Optional(strings),
  workdir: Type.Optional(Type.String()),
  user: Type.Optional(Type.String()),
};

export const signalName = Type.Enum(Object.keys(SIGNAL_NUMBERS) as SignalName[]);

/** Of an exec: what its first message holds. */
export const execArgs = Type.Object({
  ...command,
  stdin: Type.Union([Type.Literal('none'), Type.Literal('pipe')]),
  terminal: Type.Optional(Type.Object({ ...size.properties, term: Type.Optional(Type.String()) })),
});
export const dialArgs = Type.Object({
  port: Type.Integer({ minimum: 1, maximum: 65_535 }),
  host: Type.Optional(Type.String()),
});
export const attachArgs = Type.Object({ name: Type.String(), size, readOnly: flag, takeOver: flag });

const checkSize = Compile(size);

export const isResize = (value: unknown): value is TerminalSize => checkSize.Check(value);
export const isSignal = (value: unknown): value is SignalName =>
  typeof value === 'string' && Object.hasOwn(SIGNAL_NUMBERS, value);

/** Answered with one JSON value. */
export const VALUES: Readonly<Record<string, Operation<Promise<unknown>>>> = {
  info: operation(none, (sandbox, _, call) => sandbox.info(call), { asleep: true }),
  stats: operation(none, (sandbox, _, call, having) => need(sandbox, 'stats', having)(call)),
  'ports.list': operation(none, (sandbox, _, call, having) => need(sandbox, 'ports', having).list(call)),
  'files.stat': operation(Type.Object({ path }), (sandbox, args, call, having) =>
    need(sandbox, 'files', having).stat(args.path, call),
  ),
  'files.makeDirectory': operation(
    Type.Object({ path, parents: Type.Boolean(), mode }),
    (sandbox, { path, ...options }, call, having) =>
      need(sandbox, 'files', having).makeDirectory(path, options, call),
  ),
  'files.remove': operation(
    Type.Object({ path, recursive: Type.Boolean(), force: Type.Boolean() }),
    (sandbox, { path, ...options }, call, having) =>
      need(sandbox, 'files', having).remove(path, options, call),
  ),
  'processes.start': operation(
    Type.Object({ ...command, name: Type.Optional(Type.String()) }),
    (sandbox, { argv, ...spec }, call, having) =>
      need(sandbox, 'processes', having).start({ ...spec, argv: checkArgv(argv) }, call),
  ),
  'processes.kill': operation(
    Type.Object({ ref: Type.String(), signal: signalName }),
    (sandbox, { ref, signal }, call, having) => need(sandbox, 'processes', having).kill(ref, signal, call),
  ),
  'sessions.list': operation(none, (sandbox, _, call, having) =>
    need(sandbox, 'sessions', having).list(call),
  ),
  'sessions.create': operation(
    Type.Object({
      ...command,
      name: Type.String(),
      argv: Type.Optional(argv),
      size: Type.Optional(size),
      term: Type.Optional(Type.String()),
    }),
    (sandbox, { argv, ...spec }, call, having) =>
      need(sandbox, 'sessions', having).create(
        { ...spec, ...(argv === undefined ? {} : { argv: checkArgv(argv) }) },
        call,
      ),
  ),
  'sessions.kill': operation(Type.Object({ name: Type.String() }), (sandbox, { name }, call, having) =>
    need(sandbox, 'sessions', having).kill(name, call),
  ),
  'sessions.rename': operation(
    Type.Object({ name: Type.String(), to: Type.String() }),
    (sandbox, { name, to }, call, having) => need(sandbox, 'sessions', having).rename(name, to, call),
  ),
  'sessions.recording': operation(
    Type.Object({ name: Type.String(), bytes: Type.Integer({ minimum: 0 }) }),
    async (sandbox, { name, bytes }, call, having) => {
      const recording = await need(sandbox, 'sessions', having).recording(name, bytes, call);
      return Buffer.from(recording).toString('base64');
    },
  ),
  'sessions.surroundings': operation(
    Type.Object({ name: Type.String() }),
    (sandbox, { name }, call, having) => need(sandbox, 'sessions', having).surroundings(name, call),
  ),
};

/** Answered with a JSON object a line, as they come. */
export const LISTS: Readonly<Record<string, Operation<AsyncIterable<unknown>>>> = {
  diff: operation(
    Type.Object({ since: Type.Optional(Type.String()) }),
    (sandbox, { since }, call, having) => need(sandbox, 'diff', having)({ since }, call),
    { asleep: true },
  ),
  'files.list': operation(Type.Object({ path }), (sandbox, args, call, having) =>
    need(sandbox, 'files', having).list(args.path, call),
  ),
  'files.watch': operation(
    Type.Object({ path, recursive: Type.Boolean(), pauseMs }),
    (sandbox, { path, recursive, pauseMs }, call, having) => {
      const files = need(sandbox, 'files', having);
      if (files.watch === undefined) {
        throw new SbxError('unsupported', `backend '${sandbox.backend}' cannot watch files`);
      }
      return files.watch(path, { recursive, pauseMs }, call);
    },
  ),
  'processes.list': operation(
    none,
    (sandbox, _, call, having) => need(sandbox, 'processes', having).list(call),
    { asleep: true },
  ),
  'processes.logs': operation(
    Type.Object({
      ref: Type.String(),
      follow: Type.Boolean(),
      tail: Type.Optional(Type.Integer({ minimum: 0 })),
      since: Type.Optional(Type.Number()),
      until: Type.Optional(Type.Number()),
    }),
    async function* (sandbox, { ref, ...options }, call, having) {
      for await (const { data, time } of need(sandbox, 'processes', having).logs(ref, options, call))
        yield { data: Buffer.from(data).toString('base64'), time };
    },
    { asleep: true },
  ),
};
