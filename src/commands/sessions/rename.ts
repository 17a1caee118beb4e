import { need } from '../../lib/backend/need.ts';
import { Args } from '../../lib/cli/flags.ts';
import { SbxCommand } from '../../lib/cli/sbx-command.ts';
import { resolveSandbox } from '../../lib/ops/resolve-sandbox.ts';
import { sessionView } from '../../lib/ui/session-view.ts';

/** Gives a session another name. */
export default class SessionsRename extends SbxCommand<typeof SessionsRename> {
  static summary = 'give a session another name';
  static description = 'Whoever is attached stays so. The name of an ended session is free.';
  static examples = ['<%= config.bin %> sessions rename box main work'];
  static args = {
    sandbox: Args.string({
      required: true,
      completes: 'sandbox:running',
      description: 'name, id or BACKEND/NAME',
    }),
    session: Args.string({ required: true, completes: 'session', description: 'its present name' }),
    name: Args.string({ required: true, completes: 'none', description: 'its new name' }),
  };

  async run(): Promise<undefined> {
    const { context, args } = this;
    const call = { signal: context.signal };
    const sandbox = await resolveSandbox(context, args.sandbox, call, { verb: 'sessions rename' });
    const sessions = need(sandbox, 'sessions', (await context.backends()).having);
    await sessions.rename(args.session, args.name, call);
    if (this.format === 'table' || this.format === 'name') return this.line(args.name) as undefined;
    const info = (await sessions.list(call)).find(({ name }) => name === args.name);
    await this.printOne(info ?? { name: args.name, state: 'ended' }, sessionView);
  }
}
