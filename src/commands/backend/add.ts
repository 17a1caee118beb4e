import { changeConfig } from '../../lib/cli/change-config.ts';
import { Args, Flags } from '../../lib/cli/flags.ts';
import { SbxCommand } from '../../lib/cli/sbx-command.ts';
import { settingsOf, withBackend } from '../../lib/ops/backends.ts';

/** Adds a backend to the configuration. */
export default class BackendAdd extends SbxCommand<typeof BackendAdd> {
  static summary = 'add a backend to the configuration';
  static description =
    'Secrets are never stored: name the environment variable that has one. See what a type can do with `sbx capabilities`.\n\nOptions of docker: host, context, cert-path, image, and show=all, with which containers that sbx did not make are sandboxes, too. Options of daemon: url, and ca, a file with the certificate of the server or its authority.';
  static args = { name: Args.string({ required: true, completes: 'none', description: 'what to call it' }) };
  static flags = {
    type: Flags.string({
      required: true,
      completes: 'backend-type',
      summary: 'the type of backend',
      helpValue: '<type>',
    }),
    set: Flags.string({
      multiple: true,
      completes: 'backend-option',
      summary: 'an option of the type',
      helpValue: '<option>=<value>',
    }),
    'set-env': Flags.string({
      multiple: true,
      completes: 'backend-option',
      summary: 'an option whose value is in an environment variable',
      helpValue: '<option>=<variable>',
    }),
    url: Flags.string({
      completes: 'none',
      summary: 'address of a server; short for --set url=',
      helpValue: '<url>',
    }),
    'token-env': Flags.string({
      completes: 'local-variable',
      summary: "the environment variable that holds the type's secret",
      helpValue: '<variable>',
    }),
    use: Flags.boolean({ summary: 'make it the default' }),
  };
  static examples = [
    '<%= config.bin %> backend add lab --type docker --use',
    '<%= config.bin %> backend add far --type docker --set host=ssh://user@host --set show=all',
    '<%= config.bin %> backend add prod --type daemon --url https://sandboxes.example.com --token-env PROD_TOKEN',
  ];

  async run(): Promise<undefined> {
    const { name } = this.args;
    const { type, url, set = [], 'set-env': setEnv = [], 'token-env': tokenEnv, use } = this.flags;
    const given = url === undefined ? set : [...set, `url=${url}`];
    const backends = await this.context.backends();
    const settings = settingsOf({ name, type, set: given, setEnv, tokenEnv, use }, backends.types());
    await changeConfig(this.context, (config) => withBackend(config, name, settings, use));
    await this.printOne(
      { name, ...settings, default: use || undefined },
      {
        name: (added) => added.name,
        columns: [
          { header: 'NAME', value: (added) => added.name },
          { header: 'TYPE', value: (added) => String(added.type) },
        ],
      },
    );
    this.context.logger.info(`try it: sbx backend check ${name}`);
  }
}
