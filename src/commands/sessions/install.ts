import { sandboxArg } from '../../lib/cli/each-sandbox.ts';
import { startProgress } from '../../lib/cli/progress.ts';
import { SbxCommand } from '../../lib/cli/sbx-command.ts';
import { resolveSandbox } from '../../lib/ops/resolve-sandbox.ts';
import { installKeeper } from '../../lib/ops/sessions.ts';
import { toolView } from '../../lib/ui/session-view.ts';

/** Installs what keeps sessions. */
export default class SessionsInstall extends SbxCommand<typeof SessionsInstall> {
  static summary = 'install dtach, which keeps sessions, in a sandbox';
  static description =
    "With the sandbox's own package manager, as its root: apt-get, apk, dnf, microdnf, yum, zypper or xbps-install. Does nothing where dtach is there.";
  static examples = ['<%= config.bin %> sessions install box'];
  static args = { sandbox: sandboxArg };

  async run(): Promise<undefined> {
    const { context } = this;
    const call = { signal: context.signal };
    const sandbox = await resolveSandbox(context, this.args.sandbox, call, { verb: 'sessions install' });
    using progress = startProgress(this);
    progress.step(`installing dtach in sandbox '${sandbox.name}'`);
    const installed = await installKeeper(sandbox, call);
    progress.end('installed dtach');
    const row = { tool: 'dtach', sandbox: sandbox.name, done: installed ? 'installed' : 'present' };
    if (this.format === 'table' || this.format === 'name') this.line(row.done);
    else await this.printOne(row, toolView);
  }
}
