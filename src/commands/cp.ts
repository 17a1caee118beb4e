import { Args, Flags } from '../lib/cli/flags.ts';
import { untilOutputGone } from '../lib/cli/output-gone.ts';
import { startProgress } from '../lib/cli/progress.ts';
import { SbxCommand } from '../lib/cli/sbx-command.ts';
import { SbxError } from '../lib/errors.ts';
import { type CopyWorld, copy } from '../lib/ops/copy/copy.ts';
import { resolveSandbox } from '../lib/ops/resolve-sandbox.ts';
import { copyView } from '../lib/ui/copy-view.ts';
import { countText } from '../lib/ui/progress-line.ts';

/** Copies files. */
export default class Cp extends SbxCommand<typeof Cp> {
  static summary = 'copy files between this machine and sandboxes, or between sandboxes';
  static description =
    'A path in a sandbox is NAME:/path, BACKEND/NAME:/path or :/path for the default sandbox; without a leading "/" it is relative to the workdir. A local name with a colon starts with "./". "-" is a tar on standard input or output.\n\nDirectories are copied with all that they hold: into a destination that is a directory, else to that name; "dir/." means the contents of dir. Directories merge, files are replaced whole. Symlinks, modes and times are kept. Nothing is put in place before all of it has arrived; a copy that fails leaves the destination as it was.\n\nWhat comes out of a sandbox is checked: names and links that lead out of the destination, devices and fifos end the copy before anything is written, and setuid bits are dropped unless --archive is given.';
  static usage = 'SRC… DST';
  static examples = [
    '<%= config.bin %> cp ./app box:/srv',
    '<%= config.bin %> cp box:/var/log/. ./logs --exclude "*.gz"',
    '<%= config.bin %> cp . box:/src --gitignore --exclude .git',
    '<%= config.bin %> cp box-a:/data box-b:/data',
    '<%= config.bin %> cp box:/etc - | tar -tf -',
    'gzip -dc site.tgz | <%= config.bin %> cp - box:/srv',
  ];
  static args = {
    paths: Args.string({
      multiple: true,
      completes: 'copy',
      description: 'one or more sources, then the destination',
    }),
  };
  static flags = {
    exclude: Flags.string({
      multiple: true,
      completes: 'none',
      helpValue: '<pattern>',
      summary: 'leave out what matches, in the language of a .gitignore, below each source',
    }),
    gitignore: Flags.boolean({ summary: 'leave out what git ignores; for local sources' }),
    'follow-link': Flags.boolean({ char: 'L', summary: 'copy what a source that is a symlink leads to' }),
    archive: Flags.boolean({ char: 'a', summary: 'keep user and group ids, and setuid bits, where allowed' }),
    'unsafe-links': Flags.boolean({
      summary: 'keep symlinks that point out of the copied tree, on this machine',
    }),
  };

  async run(): Promise<undefined> {
    const { context, flags } = this;
    const { io, clock } = context;
    const paths = this.args.paths ?? [];
    const destination = paths.at(-1);
    if (destination === undefined || paths.length < 2) {
      throw new SbxError('usage', 'a copy needs a source and a destination', {
        hint: 'sbx cp ./file box:/tmp',
      });
    }
    this.#refuseWrongStreams(paths[0] === '-', destination === '-');
    const call = { signal: context.signal };
    using progress = startProgress(this, 'copying');
    const world: CopyWorld = {
      resolve: (ref) => resolveSandbox(context, ref, call, { verb: 'cp' }),
      having: (await context.backends()).having,
      input: () => io.stdin.stream(),
      output: () => io.stdout.stream(),
      monotonic: () => clock.monotonic(),
      onProgress: progress.count,
    };
    const { exclude = [], gitignore, archive, 'follow-link': follow, 'unsafe-links': outwardLinks } = flags;
    const request = {
      sources: paths.slice(0, -1),
      destination,
      exclude,
      gitignore,
      follow,
      archive,
      outwardLinks,
    };
    const run = () => copy(world, request, call);
    const result = await (destination === '-' ? untilOutputGone(io.stdout.stream(), run) : run());
    progress.end(`copied ${countText(result)}`);
    if (this.format !== 'table' && this.format !== 'wide' && this.format !== 'name')
      await this.printOne(result, copyView);
  }

  /** A tar does not go with a terminal or with other output. */
  #refuseWrongStreams(reads: boolean, writes: boolean): void {
    const { stdin, stdout } = this.context.io;
    if (reads && stdin.isTTY)
      throw new SbxError('usage', 'there is no tar on a terminal', { hint: 'add < FILE' });
    if (!writes) return;
    if (stdout.isTTY) throw new SbxError('usage', 'a tar is not for a terminal', { hint: 'add > FILE' });
    if (this.format === 'table') return;
    throw new SbxError('usage', `standard output is the tar: it cannot be ${this.format} too`);
  }
}
