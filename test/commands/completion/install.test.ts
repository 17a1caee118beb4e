import { existsSync, lstatSync, mkdirSync, readFileSync, symlinkSync, writeFileSync } from 'node:fs';

import { dirname, join } from 'node:path';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import Completion from '../../../src/commands/completion/index.ts';
import Install from '../../../src/commands/completion/install.ts';
import Uninstall from '../../../src/commands/completion/uninstall.ts';
import { shellOf } from '../../../src/lib/cli/completion/shell-script.ts';
import { root } from '../../repo/sources.ts';
import { type CommandLine, commandLine } from '../../support/command-line.ts';

let line: CommandLine;
let home: string;
beforeEach(() => {
  line = commandLine({
    commands: { completion: Completion, 'completion:install': Install, 'completion:uninstall': Uninstall },
  });
  home = join(line.folder, 'home');
  mkdirSync(home);
  symlinkSync(join(root, 'completions'), join(line.folder, 'completions'));
});
afterEach(() => line[Symbol.asyncDispose]());

const run = (argv: readonly string[], env: Record<string, string> = {}) =>
  line.run(['completion', ...argv], { env: { HOME: home, ...env } });
const script = (file: string) => readFileSync(join(root, 'completions', file), 'utf8');
const at = (path: string) => join(home, path);
const put = (path: string, text: string) => {
  mkdirSync(dirname(at(path)), { recursive: true });
  writeFileSync(at(path), text);
};

const PLACES = [
  ['bash', 'sbx.bash', '.local/share/bash-completion/completions/sbx'],
  ['zsh', '_sbx', '.local/share/zsh/site-functions/_sbx'],
  ['fish', 'sbx.fish', '.config/fish/completions/sbx.fish'],
  ['powershell', 'sbx.ps1', '.local/share/sbx/completions/sbx.ps1'],
] as const;

describe.each(PLACES)('%s', (shell, file, path) => {
  test('its script is printed', async () => {
    expect(await run([shell])).toEqual({ exit: 0, stdout: script(file), stderr: '' });
    expect(JSON.parse((await run([shell, '--json'])).stdout)).toEqual({ shell, script: script(file) });
  });

  test('its script is put where it looks, once, and taken away again', async () => {
    const installed = await run(['install', shell, '--json']);
    expect(JSON.parse(installed.stdout)).toMatchObject({ shell, path: at(path), done: 'installed' });
    expect(readFileSync(at(path), 'utf8')).toBe(script(file));
    const again = await run(['install', shell, '--json']);
    expect(JSON.parse(again.stdout)).toMatchObject({ done: 'unchanged' });
    expect(JSON.parse(again.stdout)).not.toHaveProperty('profile');
    put(path, `${script(file)}# of an older sbx\n`);
    expect(JSON.parse((await run(['install', shell, '--json'])).stdout)).toMatchObject({
      done: 'updated',
    });
    expect(readFileSync(at(path), 'utf8')).toBe(script(file));
    expect(JSON.parse((await run(['uninstall', shell, '--json'])).stdout)).toMatchObject({
      done: 'removed',
    });
    expect(existsSync(at(path))).toBe(false);
    expect(JSON.parse((await run(['uninstall', shell, '--json'])).stdout)).toMatchObject({
      done: 'absent',
    });
  });

  test('--dry-run changes nothing', async () => {
    const { exit, stderr } = await run(['install', shell, '--dry-run']);
    expect(exit).toBe(0);
    expect(stderr).toContain('nothing was changed');
    expect(existsSync(at(path))).toBe(false);
    expect(existsSync(at('.config/powershell'))).toBe(false);
    await run(['install', shell]);
    await run(['uninstall', shell, '--dry-run']);
    expect(existsSync(at(path))).toBe(true);
  });

  test('a file of somebody else stays', async () => {
    put(path, 'echo mine\n');
    for (const verb of ['install', 'uninstall']) {
      const { exit, stderr } = await run([verb, shell]);
      expect(exit).not.toBe(0);
      expect(stderr).toContain('is not from sbx');
      expect(stderr).toContain(`mv ${at(path)} ${at(path)}.old`);
    }
    expect(readFileSync(at(path), 'utf8')).toBe('echo mine\n');
  });
});

describe('folders of the XDG rules, and of bash-completion', () => {
  test.each([
    ['bash', { XDG_DATA_HOME: 'data' }, 'data/bash-completion/completions/sbx'],
    ['bash', { BASH_COMPLETION_USER_DIR: 'own' }, 'own/completions/sbx'],
    ['fish', { XDG_CONFIG_HOME: 'config' }, 'config/fish/completions/sbx.fish'],
  ])('%s with %j', async (shell, env, path) => {
    const absolute = Object.fromEntries(Object.entries(env).map(([name, folder]) => [name, at(folder)]));
    await run(['install', shell], absolute);
    expect(existsSync(at(path))).toBe(true);
  });

  test('without a home there is no place', async () => {
    const { exit, stderr } = await run(['install', 'fish'], { HOME: '' });
    expect(exit).toBe(1);
    expect(stderr).toContain('HOME is not set');
  });
});

describe('what is left to do', () => {
  test('zsh has to be told of the folder, until it is', async () => {
    const folder = at('.local/share/zsh/site-functions');
    const { stderr } = await run(['install', 'zsh']);
    expect(stderr).toContain(`left to do: add to ~/.zshrc, before compinit: fpath=(${folder} $fpath)`);
    expect(existsSync(at('.zshrc'))).toBe(false);
    put('.zshrc', `fpath=(${folder} $fpath)\ncompinit\n`);
    expect((await run(['install', 'zsh'])).stderr).toBe('');
  });

  test('PowerShell gets a line in its profile, which is said; the rest of it stays, and a link stays a link', async () => {
    put('dotfiles/profile.ps1', 'Set-PSReadLineOption -EditMode Emacs');
    mkdirSync(at('.config/powershell'), { recursive: true });
    const profile = at('.config/powershell/profile.ps1');
    symlinkSync(at('dotfiles/profile.ps1'), profile);
    const { stderr } = await run(['install', 'powershell']);
    expect(stderr).toContain(`added a line to ${profile}`);
    const path = at('.local/share/sbx/completions/sbx.ps1');
    const text = `Set-PSReadLineOption -EditMode Emacs\n. '${path}' # sbx completion\n`;
    expect(readFileSync(profile, 'utf8')).toBe(text);
    await run(['install', 'powershell']);
    expect(readFileSync(profile, 'utf8')).toBe(text);
    expect(lstatSync(profile).isSymbolicLink()).toBe(true);
    expect((await run(['uninstall', 'powershell'])).stderr).toContain(`took a line out of ${profile}`);
    expect(readFileSync(profile, 'utf8')).toBe('Set-PSReadLineOption -EditMode Emacs\n');
  });

  test('a place that cannot be written is named', async () => {
    put('.config', 'a file');
    const { exit, stderr } = await run(['install', 'fish']);
    expect(exit).toBe(1);
    expect(stderr).toContain(`cannot write ${at('.config/fish/completions/sbx.fish')}`);
  });
});

describe('which shell', () => {
  test.each([
    [undefined, { SHELL: '/usr/bin/zsh' }, 'node', 'zsh'],
    [undefined, { SHELL: '/bin/bash' }, 'fish', 'fish'],
    [undefined, { SHELL: '/bin/bash' }, 'pwsh', 'powershell'],
    [undefined, {}, '-bash', 'bash'],
    ['fish', { SHELL: '/bin/bash' }, 'zsh', 'fish'],
  ])('%j in %j, started by %s: %s', (named, env, parent, shell) => {
    expect(shellOf(named, env, parent)).toBe(shell);
  });

  test('one that is not known has to be named', async () => {
    const { exit, stderr } = await run(['install'], { SHELL: '/bin/dash' });
    expect(exit).toBe(2);
    expect(stderr).toContain('name one of: bash, zsh, fish, powershell');
    expect((await run(['tcsh'])).exit).toBe(2);
  });
});
