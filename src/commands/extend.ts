import { need } from '../lib/backend/need.ts';
import { SHORTEST_TTL } from '../lib/backend/spec.ts';
import { Args, Flags } from '../lib/cli/flags.ts';
import { SbxCommand } from '../lib/cli/sbx-command.ts';
import { SbxError } from '../lib/errors.ts';
import { resolveSandbox } from '../lib/ops/resolve-sandbox.ts';
import type { View } from '../lib/ui/output.ts';
import { parseDuration } from '../lib/util/duration.ts';

interface Extended {
  readonly name: string;
  readonly backend: string;
  readonly expiresAt?: string | undefined;
}

const view: View<Extended> = {
  name: ({ name }) => name,
  columns: [
    { header: 'NAME', value: ({ name }) => name, whole: true },
    { header: 'EXPIRES', value: ({ expiresAt }) => expiresAt ?? 'never' },
  ],
};

/** Sets the time after which a sandbox is removed. */
export default class Extend extends SbxCommand<typeof Extend> {
  static summary = 'set how long a sandbox lives from now on';
  static description = 'The duration counts from now and replaces the one of create --ttl.';
  static examples = [
    '<%= config.bin %> extend box 1h',
    '<%= config.bin %> extend 1h',
    '<%= config.bin %> extend box --never',
  ];
  static usage = '[SANDBOX] (DURATION | --never)';
  static args = {
    sandbox: Args.string({
      completes: 'sandbox',
      description: 'name, id or BACKEND/NAME; left out: $SBX_SANDBOX, or the only running one',
    }),
    duration: Args.string({ completes: 'none', description: 'such as 30m or 1h30m' }),
  };
  static flags = { never: Flags.boolean({ summary: 'it is not removed by itself any more' }) };

  async run(): Promise<undefined> {
    const { context } = this;
    const call = { signal: context.signal };
    const { ref, ms } = this.#input();
    const { having } = await context.backends();
    const sandbox = await resolveSandbox(context, ref, call, {
      verb: 'extend',
      states: ['running', 'paused'],
    });
    const expiresAt = await need(sandbox, 'lifetime', having).extend(ms, call);
    await this.printOne({ name: sandbox.name, backend: sandbox.backend, expiresAt }, view);
  }

  #input(): { ref: string | undefined; ms: number | undefined } {
    const { sandbox: first, duration: second } = this.args;
    if (this.flags.never) {
      if (second !== undefined) throw new SbxError('usage', 'a duration and --never do not go together');
      return { ref: first, ms: undefined };
    }
    const text = second ?? first;
    if (text === undefined)
      throw new SbxError('usage', 'no duration is given', { hint: 'sbx extend box 1h, or --never' });
    const ms = parseDuration(text);
    if (ms < SHORTEST_TTL) throw new SbxError('usage', 'the duration must be at least 1s');
    return { ref: second === undefined ? undefined : first, ms };
  }
}
