import type { ProcessInfo } from '../lib/backend/contract.ts';
import { sandboxArg } from '../lib/cli/each-sandbox.ts';
import { Flags } from '../lib/cli/flags.ts';
import { SbxCommand } from '../lib/cli/sbx-command.ts';
import { SbxError } from '../lib/errors.ts';
import { type LogPiece, parseMoment, readLogs } from '../lib/ops/logs.ts';
import { type LogLine, linesOf, matching } from '../lib/ops/logs-lines.ts';
import { resolveSandbox } from '../lib/ops/resolve-sandbox.ts';

/** Prints the output of a background process. */
export default class Logs extends SbxCommand<typeof Logs> {
  static summary = 'print or follow the output of a background process';
  static description =
    'Without --process it is the main process, else the only one. The bytes are printed as they were written. -f goes on when the log is truncated and when a new process takes the name, and ends with the process. Times are exact to a second; --since and --until take how long ago (10m) or an ISO 8601 time. --grep looks at the lines that --tail, --since and --until leave, with a JavaScript regular expression. --json prints one object a line.';
  static examples = [
    '<%= config.bin %> logs box -f',
    '<%= config.bin %> logs box --process web --tail 100 --timestamps',
    '<%= config.bin %> logs box --since 10m --grep "error|warn" --json',
  ];
  static args = { sandbox: sandboxArg };
  static flags = {
    process: Flags.string({
      char: 'p',
      completes: 'process',
      helpValue: '<id|name>',
      summary: 'process, as sbx ps shows it',
    }),
    follow: Flags.boolean({ char: 'f', summary: 'go on with what is written from now on' }),
    tail: Flags.string({
      char: 'n',
      completes: 'none',
      helpValue: '<n>',
      summary: 'only so many last lines; 0 for none',
    }),
    since: Flags.string({
      completes: 'none',
      helpValue: '<time>',
      summary: 'only what was written from then on',
    }),
    until: Flags.string({
      completes: 'none',
      helpValue: '<time>',
      summary: 'only what was written until then',
    }),
    timestamps: Flags.boolean({ char: 't', summary: 'put the time before each line' }),
    grep: Flags.string({ completes: 'none', helpValue: '<regex>', summary: 'only lines that match' }),
  };

  async run(): Promise<undefined> {
    const { context, flags } = this;
    const { stdout } = context.io;
    if (this.format === 'yaml') throw new SbxError('usage', 'a log has no YAML form', { hint: 'use --json' });
    const now = context.clock.now();
    const moment = (text: string | undefined, flag: string) =>
      text === undefined ? undefined : parseMoment(text, now, flag);
    const request = {
      process: flags.process,
      follow: flags.follow,
      tail: parseTail(flags.tail),
      since: moment(flags.since, '--since'),
      until: moment(flags.until, '--until'),
    };
    const pattern = flags.grep === undefined ? undefined : parsePattern(flags.grep);
    const call = { signal: context.signal };
    const sandbox = await resolveSandbox(context, this.args.sandbox, call, { verb: 'logs' });
    const backends = await context.backends();
    const reopen = async () => (await backends.get(sandbox.backend)).get(sandbox.id, call);
    const ask = async (candidates: readonly ProcessInfo[]) =>
      (await import('../lib/ops/ask-for-process.ts')).choiceOfProcess(context, sandbox, candidates);
    const pieces = readLogs(sandbox, request, { having: backends.having, reopen, ask }, call);
    try {
      if (pattern === undefined && !flags.timestamps && !this.wantsJson) {
        for await (const { data } of pieces) stdout.write(data);
      } else await this.#lines(pieces, pattern);
    } catch (error) {
      // Ctrl-C is how one leaves -f: no message.
      call.signal.throwIfAborted();
      throw error;
    }
  }

  async #lines(pieces: AsyncIterable<LogPiece>, pattern: RegExp | undefined): Promise<void> {
    const all = linesOf(pieces);
    for await (const line of pattern === undefined ? all : matching(all, pattern)) {
      if (this.wantsJson) this.line(JSON.stringify(lineObject(line)));
      else
        this.context.io.stdout.write(
          Buffer.concat([prefixOf(line, this.flags.timestamps), line.bytes, line.whole ? NEWLINE : NONE]),
        );
    }
  }
}

const NEWLINE = Buffer.from('\n');
const NONE = Buffer.alloc(0);

function prefixOf({ time, continued }: LogLine, wanted: boolean): Buffer {
  if (!wanted || continued) return NONE;
  return Buffer.from(`${time === undefined ? '-' : new Date(time).toISOString()} `);
}

function lineObject({ time, process, bytes, continued }: LogLine): Record<string, unknown> {
  return {
    ...(time === undefined ? {} : { time: new Date(time).toISOString() }),
    process: process.name ?? process.id,
    line: bytes.toString('utf8'),
    ...(continued ? { continued } : {}),
  };
}

function parseTail(text: string | undefined): number | undefined {
  if (text === undefined) return undefined;
  if (/^\d{1,9}$/.test(text)) return Number(text);
  throw new SbxError('usage', `--tail: not a number of lines: ${text || '(empty)'}`, { hint: '--tail 100' });
}

function parsePattern(text: string): RegExp {
  try {
    return new RegExp(text);
  } catch (cause) {
    throw new SbxError('usage', `--grep: ${(cause as Error).message}`, {
      cause,
      hint: 'write it as JavaScript does: --grep "error|warn"',
    });
  }
}
