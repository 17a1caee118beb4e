import type { SandboxInfo } from '../lib/backend/contract.ts';
import { parseLabels } from '../lib/backend/spec.ts';
import { Flags } from '../lib/cli/flags.ts';
import { SbxCommand } from '../lib/cli/sbx-command.ts';
import { canDraw } from '../lib/cli/screens/can-draw.ts';
import { exitCodeOf } from '../lib/errors.ts';
import { type Listing, type ListOptions, listSandboxes, watchSandboxes } from '../lib/ops/list.ts';
import { sandboxView } from '../lib/ui/sandbox-view.ts';

const WATCH_INTERVAL_MS = 2000;
const STATES = ['creating', 'running', 'paused', 'stopped', 'failed'] as const;

/** Lists sandboxes. */
export default class Ls extends SbxCommand<typeof Ls> {
  static summary = 'list sandboxes of all backends, the newest first';
  static description =
    'Backends are asked at the same time. One that cannot be reached is a warning, and the exit code is 6 in the end.';
  static examples = [
    '<%= config.bin %> ls',
    '<%= config.bin %> ls --all --label team=web',
    '<%= config.bin %> ls --state stopped -q',
    '<%= config.bin %> ls --watch --json',
  ];
  static aliases = ['list'];
  static flags = {
    all: Flags.boolean({ char: 'a', summary: 'also those that do not run' }),
    label: Flags.string({
      char: 'l',
      multiple: true,
      completes: 'none',
      helpValue: '<k[=v]>',
      summary: 'only with this label; may be repeated',
    }),
    state: Flags.option({ options: STATES, multiple: true })({
      summary: 'only in this state; may be repeated',
    }),
    watch: Flags.boolean({
      summary: 'live on a terminal; else again whenever it changes, JSON as an object a line',
    }),
  };

  async run(): Promise<number | undefined> {
    const { context, flags } = this;
    const call = { signal: context.signal };
    const backends = await context.backends();
    const options: ListOptions = {
      all: flags.all || flags.state !== undefined,
      labels: parseLabels(flags.label ?? []),
      ...(flags.state === undefined ? {} : { states: flags.state }),
      ...(flags.backend === undefined ? {} : { backends: [flags.backend] }),
    };
    if (!flags.watch) return this.#show(await listSandboxes(backends, options, call));
    if (canDraw(this)) {
      const { showList } = await import('../lib/cli/screens/watch.ts');
      await showList(context, options, this.format === 'wide');
      return undefined;
    }
    for await (const listing of watchSandboxes(backends, options, WATCH_INTERVAL_MS, call))
      await this.#refresh(listing);
    return undefined;
  }

  async #show({ sandboxes, failures }: Listing): Promise<number | undefined> {
    const [first] = failures;
    if (first !== undefined && this.flags.backend !== undefined) throw first.error;
    await this.print<SandboxInfo>(sandboxes, sandboxView);
    this.#warn({ sandboxes, failures });
    return first === undefined ? undefined : exitCodeOf(first.error);
  }

  async #refresh(listing: Listing): Promise<void> {
    this.#warn(listing);
    if (this.wantsJson)
      this.line(
        JSON.stringify({ time: this.context.clock.now().toISOString(), sandboxes: listing.sandboxes }),
      );
    else {
      await this.print(listing.sandboxes, sandboxView);
      this.line('');
    }
  }

  #warn({ failures }: Listing): void {
    for (const { backend, error } of failures)
      this.context.logger.warn(`backend '${backend}' is missing from the list: ${error.message}`);
  }
}
