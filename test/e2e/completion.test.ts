/** Tab in the real shells: the scripts of completions/, the built bin, and a sandbox on the local backend. */
import { execFileSync, spawnSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterAll, beforeAll, describe, expect } from 'vitest';
import { requireOrSkip } from '../support/require.ts';
import { type TypedShell, typedShell } from '../support/typed-shell.ts';

const root = fileURLToPath(new URL('../..', import.meta.url));
const completions = join(root, 'completions');
const home = mkdtempSync(join(tmpdir(), 'sbx-tab-'));
const work = join(home, 'work');
const env = {
  PATH: `${home}/bin:${dirname(process.execPath)}:${process.env.PATH}`,
  HOME: home,
  ZDOTDIR: home,
  INPUTRC: '/dev/null',
  LC_ALL: 'C.UTF-8',
  // A busy machine must not fail this.
  SBX_COMPLETION_TIMEOUT: '1m',
  SBX_STATE_DIR: join(home, 'state'),
  SBX_CONFIG_DIR: join(home, 'config'),
};

/** Names that a shell has to quote, and one that no shell may show as it is. */
const FILES = [
  'a b/c d/deep',
  "q'uote",
  'do$llar',
  'bang!x',
  'new\nline',
  'ünï',
  'colon:x',
  '-dash',
  'esc\u001b[31mred',
];

function sbx(...args: string[]): string {
  return execFileSync(process.execPath, [join(root, 'bin/run.js'), ...args], { env, encoding: 'utf8' });
}

function has(shell: string): boolean {
  return spawnSync(shell, ['--version'], { stdio: 'ignore' }).status === 0;
}

beforeAll(() => {
  mkdirSync(join(home, 'bin'));
  symlinkSync(join(root, 'bin/run.js'), join(home, 'bin/sbx'));
  mkdirSync(join(work, 'notes'), { recursive: true });
  writeFileSync(join(work, 'local file.env'), '');
  sbx('create', 'box');
  sbx(
    'exec',
    'box',
    '--',
    'sh',
    '-c',
    'cd /srv; for f; do mkdir -p "$(dirname "./$f")"; : >"./$f"; done',
    'sh',
    ...FILES,
  );
});
afterAll(() => {
  sbx('rm', '--all', '--force', '--yes');
  rmSync(home, { recursive: true, force: true });
});

type Shell = 'bash' | 'zsh' | 'fish';

/** Starts a shell that loads completion by these lines, and waits for its prompt. */
async function prompt(shell: Shell, load: string, own = home): Promise<TypedShell> {
  const quiet = {
    bash: "PS1='> '; bind 'set bell-style none'; bind 'set enable-bracketed-paste off'",
    zsh: "PS1='> '; unsetopt beep prompt_sp",
    fish: "set fish_greeting; set fish_autosuggestion_enabled 0; function fish_prompt; echo '> '; end",
  };
  const lines = `${quiet[shell]}\n${load}\n`;
  if (shell === 'bash') writeFileSync(join(own, 'bashrc'), lines);
  if (shell === 'zsh') writeFileSync(join(own, '.zshrc'), lines);
  const argv = {
    bash: ['bash', '--noprofile', '--rcfile', join(own, 'bashrc'), '-i'],
    zsh: ['zsh', '-i'],
    fish: ['fish', '--interactive', '--init-command', lines],
  } as const;
  const typed = typedShell({ argv: argv[shell], env: { ...env, HOME: own, ZDOTDIR: own }, cwd: work });
  await typed.line('> ');
  return typed;
}

const BASH_COMPLETION = 'f=/usr/share/bash-completion/bash_completion; [ ! -e $f ] || . $f';
const COMPINIT = 'autoload -U compinit; compinit -u -D';
const LOAD: Readonly<Record<Shell, string>> = {
  bash: `${BASH_COMPLETION}\n. '${completions}/sbx.bash'`,
  zsh: `fpath=('${completions}' $fpath); ${COMPINIT}`,
  fish: `source '${completions}/sbx.fish'`,
};

/** What is typed, and what stands on the line after Tab. */
const SAME = [
  ['sbx sna', 'sbx snapshot '],
  ['sbx snapshot res', 'sbx snapshot restore '],
  ['sbx exec b', 'sbx exec box '],
  ['sbx ls --sta', 'sbx ls --state '],
  ['sbx ls --output=jsonl', 'sbx ls --output=jsonl '],
  ['sbx -b lo', 'sbx -b local '],
  ['sbx cp b', 'sbx cp box:'],
  ['sbx cp box:/srv/col', 'sbx cp box:/srv/colon:x '],
  ['sbx cp box:/srv/colon:', 'sbx cp box:/srv/colon:x '],
  ['sbx cp box:/srv/a', 'sbx cp box:/srv/a\\ b/'],
  ['sbx cp box:/srv/a\\ b/c', 'sbx cp box:/srv/a\\ b/c\\ d/'],
  ['sbx cp box:/srv/q', "sbx cp box:/srv/q\\'uote "],
  ['sbx cp box:/srv/do', 'sbx cp box:/srv/do\\$llar '],
  ['sbx files cat box /srv/ü', 'sbx files cat box /srv/ünï '],
  ['sbx cp "box:/srv/q', 'sbx cp "box:/srv/q\'uote" '],
  ['sbx cp "box:/srv/do', 'sbx cp "box:/srv/do\\$llar" '],
  ['sbx cp ./no', 'sbx cp ./notes/'],
  ['sbx create --env-file local', 'sbx create --env-file local\\ file.env '],
  ['sbx create --repo no', 'sbx create --repo notes/'],
  ['sbx exec box unam', 'sbx exec box uname '],
  ['sbx exec box -- unam', 'sbx exec box -- uname '],
  ['sbx run -- unam', 'sbx run -- uname '],
] as const;

/** Where each shell has a way of its own. */
const OWN = {
  bash: [
    ['sbx cp box:/srv/new', "sbx cp box:/srv/new$'\\n'line "],
    ["sbx cp 'box:/srv/q", "sbx cp 'box:/srv/q'\\''uote' "],
    ["sbx cp 'box:/srv/new", "sbx cp 'box:/srv/new'$'\\n''line' "],
    ['sbx cp box:/srv/esc', "sbx cp box:/srv/esc$'\\e'\\[31mred "],
    ['sbx cp "box:/srv/ba', `sbx cp "box:/srv/bang"'!'"x" `],
    ['sbx cp box:/srv/ba', 'sbx cp box:/srv/bang\\!x '],
    ['sbx ls >no', 'sbx ls >notes/'],
  ],
  zsh: [
    ['sbx cp box:/srv/new', "sbx cp box:/srv/new$'\\n'line "],
    ["sbx cp 'box:/srv/q", "sbx cp 'box:/srv/q'\\''uote' "],
    ["sbx cp 'box:/srv/a", "sbx cp 'box:/srv/a b/"],
    ['sbx create --env-file=local', 'sbx create --env-file=local\\ file.env '],
  ],
  fish: [
    ['sbx cp box:/srv/new', 'sbx cp box:/srv/new\\nline '],
    ["sbx cp 'box:/srv/a", "sbx cp 'box:/srv/a b/"],
  ],
} as const;

describe.each(Object.keys(LOAD) as Shell[])('%s in a terminal', (shell) => {
  const test = requireOrSkip(has(shell), shell);

  test('Tab completes verbs, flags, names, paths and commands, quoted where they must be', async () => {
    await using typed = await prompt(shell, LOAD[shell]);
    for (const [keys, line] of [...SAME, ...OWN[shell]]) {
      typed.type(`${keys}\t`);
      await typed.line(`> ${line}`);
      // Ctrl-U of zsh takes the whole line, the others what is before the cursor; both is all of it here.
      typed.type('\u0015');
      await typed.line('> ');
    }
  });

  test('a list of names shows none that could steer the terminal', async () => {
    await using typed = await prompt(shell, LOAD[shell]);
    typed.type('sbx cp box:/srv/\t\t');
    await typed.shows('colon:x');
    await typed.shows('ünï');
    expect(typed.raw()).not.toContain('esc\u001b[31m');
  });

  test('what completion install makes works in the next one', async () => {
    const own = join(home, `own-${shell}`);
    mkdirSync(own);
    const args = [join(root, 'bin/run.js'), 'completion', 'install', shell];
    const { stderr } = spawnSync(process.execPath, args, {
      env: { ...env, HOME: own, ZDOTDIR: own },
      encoding: 'utf8',
    });
    const hint = /^left to do: .*?: (.*)$/m.exec(stderr)?.[1] ?? '';
    const load = { bash: `${BASH_COMPLETION}\n${hint}`, zsh: `${hint}; ${COMPINIT}`, fish: '' };
    await using typed = await prompt(shell, load[shell], own);
    typed.type('sbx sna\t');
    await typed.line('> sbx snapshot ');
  });

  test('with a broken config file it says nothing', async () => {
    mkdirSync(env.SBX_CONFIG_DIR, { recursive: true });
    const config = join(env.SBX_CONFIG_DIR, 'config.json');
    writeFileSync(config, '{ broken');
    try {
      await using typed = await prompt(shell, LOAD[shell]);
      typed.type('sbx exec b\tox --detac\t');
      await typed.line('> sbx exec box --detach ');
      expect(typed.screen().join('\n').trim()).toBe('> sbx exec box --detach');
    } finally {
      rmSync(config);
    }
  });
});

describe('bash without a terminal', () => {
  const test = requireOrSkip(has('bash'), 'bash');

  /** Calls the function as bash would, and gives what it leaves. */
  function reply(words: readonly string[], line: string, end: string): string[] {
    const script = `. "$1"; COMP_LINE=$2 COMP_POINT=\${#2} end=$3; shift 3
COMP_WORDS=("$@") COMP_CWORD=$(($# - 1)); compopt() { :; }
_sbx sbx "$end" "\${COMP_WORDS[COMP_CWORD - 1]}"; printf '%s\\0' "\${COMPREPLY[@]}"`;
    const args = ['--norc', '-c', script, 'bash', join(completions, 'sbx.bash'), line, end, ...words];
    const { stdout, stderr } = spawnSync('bash', args, {
      env,
      cwd: work,
      encoding: 'utf8',
      stdio: ['ignore', 'pipe', 'pipe'],
    });
    expect(stderr).toBe('');
    return stdout.split('\0').slice(0, -1);
  }

  test('words that it splits at ":" and "=" are put together', () => {
    expect(reply(['sbx', 'cp', 'box', ':', '/srv/co'], 'sbx cp box:/srv/co', '/srv/co')).toEqual([
      '/srv/colon:x',
    ]);
    expect(reply(['sbx', 'ls', '--output', '=', 'jsonl'], 'sbx ls --output=jsonl', 'jsonl')).toEqual([
      'jsonl',
    ]);
    expect(reply(['sbx', 'cp', 'a', ':', 'b', 'box', ':'], 'sbx cp  a:b box:', '')).toEqual(
      expect.arrayContaining([]),
    );
    expect(reply(['sbx', 'cp', "'a b'", 'bo'], "sbx cp 'a b'   bo", 'bo')).toEqual(['box:']);
  });
});

describe('fish without a terminal', () => {
  const test = requireOrSkip(has('fish'), 'fish');

  function candidates(line: string): string[] {
    const script = `source $argv[1]; complete -C $argv[2]`;
    const args = ['--no-config', '-c', script, join(completions, 'sbx.fish'), line];
    return execFileSync('fish', args, { env, cwd: work, encoding: 'utf8' }).trimEnd().split('\n');
  }

  test('shows what each is', () => {
    expect(candidates('sbx exec ')).toEqual(['box\trunning']);
    expect(candidates('sbx snapshot ')).toContain('rm\tremove snapshots');
    expect(candidates('sbx ls --json --')).toContain('--state\tonly in this state; may be repeated');
    expect(candidates('sbx ls --json --').some((line) => line.startsWith('--json'))).toBe(false);
    expect(candidates('sbx create --env-file=local')).toEqual(['--env-file=local file.env']);
  });
});
