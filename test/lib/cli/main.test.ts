import { describe, expect, it } from 'vitest';
import type { CommandClass, CommandTable } from '../../../src/lib/cli/command-class.ts';
import { createContext } from '../../../src/lib/cli/context.ts';
import { Args, duration, Flags } from '../../../src/lib/cli/flags.ts';
import { main } from '../../../src/lib/cli/main.ts';
import { type MemoryIoOptions, memoryIo } from '../../../src/lib/cli/memory-io.ts';
import { SbxCommand } from '../../../src/lib/cli/sbx-command.ts';
import { SignalHub } from '../../../src/lib/cli/signals.ts';
import { SbxError } from '../../../src/lib/errors.ts';

class Echo extends SbxCommand<typeof Echo> {
  static summary = 'prints what it was given';
  static strictCommandArgument = 1;
  static ownFailureExit = 125;
  static args = { sandbox: Args.string() };
  static flags = {
    env: Flags.string({ char: 'e', multiple: true }),
    timeout: duration(),
    tty: Flags.boolean({ char: 't' }),
  };

  async run(): Promise<undefined> {
    const { sandbox } = this.args;
    const { env, timeout, tty } = this.flags;
    this.line(JSON.stringify({ sandbox, env, timeout, tty, inner: this.inner, format: this.format }));
  }
}

class Fail extends SbxCommand<typeof Fail> {
  static summary = 'fails';
  static args = { how: Args.string({ required: true }) };

  async run(): Promise<number> {
    switch (this.args.how) {
      case 'missing':
        throw new SbxError('not_found', 'no sandbox \u001b[31mred', { hint: 'sbx ls', backend: 'local' });
      case 'bug':
        throw new TypeError('x is not a function');
      case 'abort':
        throw new DOMException('stopped', 'AbortError');
      case 'ask':
        return (await this.confirm('remove it?')) ? 0 : 1;
      default:
        return Number(this.args.how);
    }
  }
}

class Name extends SbxCommand<typeof Name> {
  static summary = 'takes two names, and a flag that may be repeated';
  static args = { box: Args.string({ required: true }), name: Args.string({ required: true }) };
  static flags = { env: Flags.string({ multiple: true }) };

  run(): Promise<undefined> {
    return Promise.resolve(undefined);
  }
}

class Run extends Fail {
  static override summary = 'fails like exec';
  static ownFailureExit = 125;
}

const table: CommandTable = {
  root: '',
  aliases: { broken: 'fail' },
  commands: Object.fromEntries(
    Object.entries({ echo: Echo, fail: Fail, name: Name, run: Run, 'ports:wait': Fail } as Record<
      string,
      CommandClass
    >).map(([id, Class]) => [id, async () => ({ default: Class })]),
  ),
};

async function sbx(argv: string[], env: Record<string, string> = {}, options: MemoryIoOptions = {}) {
  const io = memoryIo(options);
  const signals = new SignalHub();
  const exit = await main(argv, table, createContext({ io, env, signals }));
  return { exit, out: io.stdout.text, err: io.stderr.text };
}

describe('parsing', () => {
  it('keeps the inner command apart from flags', async () => {
    const { out } = await sbx(['echo', '-te', 'A=b', 'box', 'ls', '-la', '--json', '']);
    expect(JSON.parse(out)).toEqual({
      sandbox: 'box',
      env: ['A=b'],
      tty: true,
      inner: ['ls', '-la', '--json', ''],
      format: 'table',
    });
  });

  it('does not let a repeatable flag swallow the sandbox', async () => {
    const { out } = await sbx(['echo', '-e', 'A=1', '-e', 'B=2', 'box', 'true']);
    expect(JSON.parse(out)).toMatchObject({ sandbox: 'box', env: ['A=1', 'B=2'], inner: ['true'] });
  });

  it('takes flags from the environment, and the command line over it', async () => {
    const env = { SBX_TIMEOUT: '30s', SBX_TTY: '0', SBX_ENV: 'A=1\nB=two words', SBX_OUTPUT: 'yaml' };
    expect(JSON.parse((await sbx(['echo'], env)).out)).toMatchObject({
      timeout: 30_000,
      tty: false,
      env: ['A=1', 'B=two words'],
      format: 'yaml',
    });
    expect(JSON.parse((await sbx(['echo', '--timeout', '1m', '--json'], env)).out)).toMatchObject({
      timeout: 60_000,
      format: 'json',
    });
  });

  it.each([
    [['echo', '--timeout', 'soon'], '--timeout: not a duration: soon'],
    [['echo', '--timout', '1s'], 'unknown flag --timout'],
    [['fail'], 'missing argument: HOW\nhint: usage: '],
    [['name'], 'missing arguments: BOX, NAME\nhint: usage: '],
    [['fail', 'a', 'b'], 'unexpected argument: b'],
    [['echo', '-o', 'xml'], 'expected --output=xml to be one of'],
    [['nothing'], 'there is no command nothing'],
    [['ports', 'wiat'], 'there is no command ports wiat'],
  ])('%j is a usage error', async (argv, message) => {
    const { exit, err, out } = await sbx(argv);
    expect({ exit, out }).toEqual({ exit: 2, out: '' });
    expect(err).toContain(`error: ${message}`);
    expect(err).toContain('\nhint: ');
  });

  it('names the variable that is wrong', async () => {
    expect((await sbx(['echo'], { SBX_TTY: 'perhaps' })).err).toContain('$SBX_TTY is neither true nor false');
    expect((await sbx(['echo'], { SBX_TIMEOUT: 'x' })).err).toContain('$SBX_TIMEOUT: not a duration: x');
  });

  it('suggests what may have been meant', async () => {
    expect((await sbx(['ehco'])).err).toContain('did you mean: sbx echo');
    expect((await sbx(['ports', 'wiat'])).err).toContain('did you mean: sbx ports wait');
    expect((await sbx(['echo', '--timout', '1s'])).err).toContain('did you mean --timeout?');
  });
});

describe('exit codes and reports', () => {
  it.each([
    ['fail', '7', 7],
    ['broken', '0', 0],
    ['fail', 'missing', 3],
    ['fail', 'bug', 70],
    ['fail', 'abort', 130],
    ['run', 'missing', 125],
    ['run', 'bug', 125],
    ['run', 'abort', 130],
  ])('%s %s exits %i', async (verb, how, exit) => {
    expect((await sbx([verb, how])).exit).toBe(exit);
  });

  it('makes control characters of a message visible and shows no stack', async () => {
    expect((await sbx(['fail', 'missing'])).err).toBe('error: no sandbox \\e[31mred\nhint: sbx ls\n');
    expect((await sbx(['fail', 'missing', '--debug'])).err).toContain('main.test.ts');
  });

  it('reports one line of JSON with --json, also when parsing fails', async () => {
    const { err, out } = await sbx(['fail', 'missing', '--json']);
    expect(out).toBe('');
    expect(JSON.parse(err)).toEqual({
      error: 'no sandbox \u001b[31mred',
      code: 'not_found',
      hint: 'sbx ls',
      retryable: false,
      backend: 'local',
    });
    expect(JSON.parse((await sbx(['fail', '--json'])).err)).toMatchObject({ code: 'usage' });
    expect((await sbx(['run', 'a', 'b', '--', '--json'])).err).toMatch(/^error: /);
  });

  it('ends quietly when the reader of stdout has gone', async () => {
    const io = memoryIo();
    io.stdout.close();
    const context = createContext({ io, env: {}, signals: new SignalHub() });
    expect(await main(['echo'], table, context)).toBe(0);
    expect(io.stderr.text).toBe('');
  });

  it('exits 128 + n after a signal', async () => {
    const signals = new SignalHub();
    signals.deliver('SIGTERM');
    expect(await main(['fail', 'abort'], table, createContext({ io: memoryIo(), env: {}, signals }))).toBe(
      143,
    );
  });
});

describe('questions', () => {
  it('are never asked without a terminal, with --no-input or in CI', async () => {
    const usage = { exit: 2, err: expect.stringContaining('hint: add --yes') };
    expect(await sbx(['fail', 'ask'])).toMatchObject(usage);
    expect(await sbx(['fail', 'ask', '--no-input'], {}, { tty: true })).toMatchObject(usage);
    expect(await sbx(['fail', 'ask'], { CI: '1' }, { tty: true })).toMatchObject(usage);
  });

  it('are answered by --yes', async () => {
    expect((await sbx(['fail', 'ask', '-y'])).exit).toBe(0);
  });
});

describe('signals', () => {
  it('abort once, then ask for an end at once; a taker gets them instead', () => {
    const hub = new SignalHub();
    const seen: string[] = [];
    {
      using _taken = hub.takeOver((name) => seen.push(name));
      expect(hub.deliver('SIGINT')).toBe(false);
    }
    expect(seen).toEqual(['SIGINT']);
    expect(hub.signal.aborted).toBe(false);
    expect(hub.deliver('SIGHUP')).toBe(false);
    expect(hub.signal.aborted).toBe(true);
    expect(hub.deliver('SIGINT')).toBe(true);
  });
});
