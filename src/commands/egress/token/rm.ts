import { need } from '../../../lib/backend/need.ts';
import { type EachRow, printOutcomes } from '../../../lib/cli/each-sandbox.ts';
import { Args } from '../../../lib/cli/flags.ts';
import { SbxCommand } from '../../../lib/cli/sbx-command.ts';
import { SbxError } from '../../../lib/errors.ts';
import { doEach } from '../../../lib/ops/each.ts';
import { resolveSandbox } from '../../../lib/ops/resolve-sandbox.ts';

/** Revokes tokens with which a sandbox uses model providers. */
export default class EgressTokenRm extends SbxCommand<typeof EgressTokenRm> {
  static summary = 'revoke tokens for model providers';
  static description =
    'Calls that are under way go on. What was spent still counts for the spend cap of the sandbox.';
  static examples = ['<%= config.bin %> egress token rm box sbx_sb0123456789ab_0123456789abcdef'];
  static aliases = ['egress:token:remove', 'egress:token:revoke'];
  static usage = 'SANDBOX TOKEN…';
  static args = {
    sandbox: Args.string({ required: true, completes: 'sandbox', description: 'name, id or BACKEND/NAME' }),
    token: Args.string({
      multiple: true,
      completes: 'egress-token',
      description: 'tokens, as ls shows them',
    }),
  };

  async run(): Promise<undefined> {
    const { context, args } = this;
    const call = { signal: context.signal };
    const tokens = args.token ?? [];
    if (tokens.length === 0) {
      throw new SbxError('usage', 'name the sandbox and the tokens', {
        hint: `sbx egress token ls ${args.sandbox ?? 'SANDBOX'}`,
      });
    }
    const sandbox = await resolveSandbox(context, args.sandbox, call, { verb: 'egress token rm' });
    const { having } = await context.backends();
    const egress = need(sandbox, 'egress', having);
    const outcomes = await doEach(
      tokens,
      async (name): Promise<EachRow> => {
        await egress.revoke(name, call);
        return { name, backend: sandbox.backend, done: 'revoked' };
      },
      call,
    );
    await printOutcomes(this, outcomes);
  }
}
