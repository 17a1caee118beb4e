import { need } from '../../../lib/backend/need.ts';
import { sandboxArg } from '../../../lib/cli/each-sandbox.ts';
import { SbxCommand } from '../../../lib/cli/sbx-command.ts';
import { resolveSandbox } from '../../../lib/ops/resolve-sandbox.ts';
import { egressTokenView } from '../../../lib/ui/egress-view.ts';

/** Lists the tokens with which a sandbox uses model providers. */
export default class EgressTokenLs extends SbxCommand<typeof EgressTokenLs> {
  static summary = "list a sandbox's tokens for model providers, with what was spent";
  static examples = ['<%= config.bin %> egress token ls box', '<%= config.bin %> egress token ls box --json'];
  static aliases = ['egress:token:list'];
  static args = { sandbox: sandboxArg };

  async run(): Promise<undefined> {
    const { context } = this;
    const call = { signal: context.signal };
    const sandbox = await resolveSandbox(context, this.args.sandbox, call, { verb: 'egress token ls' });
    const { having } = await context.backends();
    await this.print(await need(sandbox, 'egress', having).list(call), egressTokenView);
  }
}
