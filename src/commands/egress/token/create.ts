import type { EgressPolicy } from '../../../lib/backend/contract.ts';
import { need } from '../../../lib/backend/need.ts';
import { sandboxArg } from '../../../lib/cli/each-sandbox.ts';
import { duration, Flags } from '../../../lib/cli/flags.ts';
import { SbxCommand } from '../../../lib/cli/sbx-command.ts';
import { SbxError } from '../../../lib/errors.ts';
import { resolveSandbox } from '../../../lib/ops/resolve-sandbox.ts';
import { newTokenView } from '../../../lib/ui/egress-view.ts';
import { visible } from '../../../lib/ui/text.ts';

/** Makes a token with which a sandbox uses model providers. */
export default class EgressTokenCreate extends SbxCommand<typeof EgressTokenCreate> {
  static summary = 'make a token for model providers, and print it';
  static description =
    'It takes the place of the key of each provider that the server has, at the base URL that --json tells. What is spent with it is ' +
    'counted from the answers. It goes with its sandbox.';
  static examples = [
    '<%= config.bin %> egress token create box --spend-cap 5 --ttl 8h',
    '<%= config.bin %> egress token create box --provider openai --model gpt-4o --json',
    '<%= config.bin %> egress token create box --calls 60 --tokens 100000 --window 1m',
  ];
  static args = { sandbox: sandboxArg };
  static flags = {
    ttl: duration({ summary: 'time after which it expires' }),
    'spend-cap': Flags.string({
      completes: 'none',
      helpValue: '<dollars>',
      summary: 'most that may be spent with it',
    }),
    calls: Flags.string({ completes: 'none', helpValue: '<n>', summary: 'most calls in a window' }),
    tokens: Flags.string({
      completes: 'none',
      helpValue: '<n>',
      summary: 'most tokens of models in a window',
    }),
    window: duration({ summary: 'how long a window of --calls and --tokens is; 1m if left out' }),
    model: Flags.string({
      multiple: true,
      completes: 'none',
      helpValue: '<model>',
      summary: 'a model that it is for; may be repeated; all if left out',
    }),
    provider: Flags.string({
      multiple: true,
      completes: 'none',
      helpValue: '<name>',
      summary: 'a provider that it is for; may be repeated; all if left out',
    }),
  };

  async run(): Promise<undefined> {
    const { context } = this;
    const call = { signal: context.signal };
    const policy = this.#policy();
    const sandbox = await resolveSandbox(context, this.args.sandbox, call, { verb: 'egress token create' });
    const { having } = await context.backends();
    const made = await need(sandbox, 'egress', having).create(policy, call);
    if (this.format === 'table' || this.format === 'wide' || this.format === 'name')
      this.line(visible(made.token));
    else await this.printOne(made, newTokenView);
  }

  #policy(): EgressPolicy {
    const { ttl, model, provider, 'spend-cap': cap } = this.flags;
    const end = this.context.clock.now().getTime() + (ttl ?? 0);
    const rateLimit = this.#rateLimit();
    return {
      ...(ttl === undefined ? {} : { expiresAt: new Date(end).toISOString() }),
      ...(cap === undefined ? {} : { spendCapUsd: parseDollars(cap) }),
      ...(rateLimit === undefined ? {} : { rateLimit }),
      ...(model === undefined ? {} : { models: model }),
      ...(provider === undefined ? {} : { providers: provider }),
    };
  }

  #rateLimit(): EgressPolicy['rateLimit'] {
    const { calls, tokens, window } = this.flags;
    if (calls === undefined && tokens === undefined) {
      if (window === undefined) return undefined;
      throw new SbxError('usage', '--window needs --calls or --tokens', {
        hint: 'as in --calls 60 --window 1m',
      });
    }
    return {
      windowMs: window ?? MINUTE,
      ...(calls === undefined ? {} : { calls: parseCount(calls, '--calls') }),
      ...(tokens === undefined ? {} : { tokens: parseCount(tokens, '--tokens') }),
    };
  }
}

const MINUTE = 60_000;

function parseDollars(text: string): number {
  if (/^\$?\d+(\.\d+)?$/.test(text)) return Number(text.replace('$', ''));
  throw new SbxError('usage', `--spend-cap ${JSON.stringify(text)} is no amount`, {
    hint: 'dollars, as in --spend-cap 2.50',
  });
}

function parseCount(text: string, flag: string): number {
  if (/^[1-9]\d{0,14}$/.test(text)) return Number(text);
  throw new SbxError('usage', `${flag} ${JSON.stringify(text)} is no number of at least 1`);
}
