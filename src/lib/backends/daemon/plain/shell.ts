/** Shell text for a sandbox at a server that knows no more than to run it. */
import type { Readable } from 'node:stream';
import type { Call } from '../../../backend/contract.ts';
import { unhurried } from '../../../backend/unhurried.ts';
import { SbxError } from '../../../errors.ts';
import { type Api, segment } from '../api.ts';
import { eventsOf } from './events.ts';
import type { Program } from './program.ts';

/** One sandbox of a plain server. */
export interface PlainSandbox {
  readonly api: Api;
  readonly id: string;
  readonly name: string;
}

/** The system's limit for one argument or variable, less what a server may put around it. */
const TEXT_LIMIT = 127 * 1024;

/** Its path at the server. */
export const pathOf = ({ id }: Pick<PlainSandbox, 'id'>) => `/sandboxes/${segment(id)}`;

/** Starts a program; the answer is events. `conflict` when the sandbox is stopped. */
export async function startProgram(
  { api, id, name }: PlainSandbox,
  program: Program,
  call: Call,
): Promise<Readable> {
  const { command, env = {} } = program;
  const texts = [command, ...Object.values(env)];
  if (texts.some((each) => each.includes('\0')))
    throw new SbxError('usage', 'neither a command nor a variable can have NUL in it', {
      backend: api.backend,
    });
  if (texts.some((each) => Buffer.byteLength(each) > TEXT_LIMIT)) {
    throw new SbxError(
      'unsupported',
      `the command is too long for sandbox '${name}': its server takes 120 KB`,
      {
        backend: api.backend,
        hint: `put it into a file first: sbx cp FILE ${name}:`,
      },
    );
  }
  return (await api.send({ method: 'POST', path: `${pathOf({ id })}/exec`, body: { command, env } }, call))
    .body;
}

/** Runs a program to its end, and says how it ended. */
export async function runProgram(sandbox: PlainSandbox, program: Program, call: Call): Promise<number> {
  const body = await startProgram(sandbox, program, call);
  for await (const { type, exitCode } of eventsOf(body))
    if (type === 'exit' && typeof exitCode === 'number') return exitCode;
  throw new SbxError('unreachable', `the answer of ${sandbox.api.url} was cut short`, {
    backend: sandbox.api.backend,
  });
}

/** Runs a program whose end nobody waits for. */
export function sendProgram(sandbox: PlainSandbox, program: Program): void {
  // That the server fails is told by the answer to the command itself.
  runProgram(sandbox, program, unhurried).catch(() => undefined);
}
