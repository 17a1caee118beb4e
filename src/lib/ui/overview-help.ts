/** What `sbx` alone prints: all verbs on one screen, by what they are for. Pure. */
import { type PageOptions, page, usageLines } from './command-help.ts';
import { type HelpRow, labelWidth, twoColumns, wrap } from './help-layout.ts';

/** Verbs and topics that stand on one line. */
export interface ThemeLine {
  readonly names: readonly string[];
  readonly text: string;
}

/** A heading and its lines. */
export interface Theme {
  readonly title: string;
  readonly lines: readonly ThemeLine[];
}

/** Every verb and topic has its place here; test/golden holds that. */
export const THEMES: readonly Theme[] = [
  {
    title: 'Create and lifecycle',
    lines: [
      { names: ['create'], text: 'make a sandbox' },
      { names: ['run'], text: 'make one, run a command in it, remove it again' },
      { names: ['ls', 'info'], text: 'list sandboxes; all that is known of one' },
      { names: ['start', 'stop', 'restart'], text: 'end its processes or start it again; files stay' },
      { names: ['pause', 'resume'], text: 'freeze its processes and let them go on' },
      { names: ['wait', 'extend', 'rename'], text: 'wait for a state; change its time to live or name' },
      { names: ['rm'], text: 'remove it with its files' },
    ],
  },
  {
    title: 'Run things',
    lines: [
      { names: ['exec'], text: 'run a command in a sandbox' },
      { names: ['shell', 'sessions'], text: 'work in terminals that go on without you' },
      { names: ['ps', 'logs', 'kill'], text: 'background processes: list, read, signal' },
      { names: ['env'], text: 'its environment variables' },
    ],
  },
  {
    title: 'Files',
    lines: [
      { names: ['cp'], text: 'copy from, to and between sandboxes' },
      { names: ['files'], text: 'read, write, list and watch single files' },
      { names: ['diff'], text: 'what changed since it was made' },
    ],
  },
  {
    title: 'Network',
    lines: [
      { names: ['ports'], text: 'what listens inside' },
      { names: ['forward'], text: 'reach it from here, or this machine from there' },
      { names: ['egress'], text: 'tokens instead of the keys of model providers' },
    ],
  },
  {
    title: 'State',
    lines: [{ names: ['snapshot', 'fork'], text: 'keep its files; make a copy of it' }],
  },
  {
    title: 'Fleet and set-up',
    lines: [
      { names: ['top'], text: 'watch all sandboxes on a full screen' },
      { names: ['stats', 'quota', 'prune'], text: 'what is used, what is left, and what can go' },
      { names: ['backend', 'capabilities'], text: 'where sandboxes run, and what each place can do' },
      { names: ['completion'], text: 'names and flags at the press of Tab' },
      { names: ['serve'], text: 'these sandboxes, for others: over HTTP' },
      { names: ['config', 'doctor', 'version'], text: 'settings, and what works on this machine' },
    ],
  },
];

/** @param known the verbs and topics there are; others are left out, and those without a theme stand last. */
export function overviewPage(about: string, known: readonly string[], options: PageOptions): string {
  const { columns } = options;
  const rows = THEMES.map(({ title, lines }) => ({
    title,
    rows: lines.flatMap(({ names, text }): HelpRow[] => {
      const present = names.filter((name) => known.includes(name));
      return present.length === 0 ? [] : [{ label: present.join(', '), text }];
    }),
  }));
  const placed = THEMES.flatMap(({ lines }) => lines.flatMap(({ names }) => names));
  const others = known.filter((name) => !placed.includes(name)).map((label) => ({ label, text: '' }));
  const all = [...rows, { title: 'Others', rows: others }];
  // One left column for all themes: the eye runs down it.
  const left = labelWidth(
    all.flatMap((theme) => theme.rows),
    columns,
  );
  return page(
    [
      ['', wrap(about, columns)],
      ['Usage', usageLines('sbx COMMAND [FLAGS]', columns)],
      ...all.map((theme) => [theme.title, twoColumns(theme.rows, columns, left)] as const),
      ['', wrap('sbx COMMAND --help tells more of one. First steps: sbx run -- uname -a', columns)],
    ],
    options,
  );
}
