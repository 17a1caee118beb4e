/** Tokens for model providers from the command line, over a server in this process. */
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import Create from '../../src/commands/create.ts';
import EgressTokenCreate from '../../src/commands/egress/token/create.ts';
import EgressTokenLs from '../../src/commands/egress/token/ls.ts';
import EgressTokenRm from '../../src/commands/egress/token/rm.ts';
import EnvLs from '../../src/commands/env/ls.ts';
import { openDaemonBackend } from '../../src/lib/backends/daemon/index.ts';
import { createMemoryBackend, type MemoryBackend } from '../../src/lib/backends/memory/index.ts';
import { egressSettings } from '../../src/lib/server/egress/settings.ts';
import { type Serving, serve } from '../../src/lib/server/serve.ts';
import { testSettings } from '../conformance/serving.ts';
import { type CommandLine, commandLine } from '../support/command-line.ts';

let sbx: CommandLine;
let memory: MemoryBackend;
let server: Serving;
let folder: string;

beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'sbx-egress-'));
  memory = createMemoryBackend();
  server = await serve({
    settings: {
      ...testSettings,
      egress: egressSettings({
        listen: { host: '127.0.0.1', port: 0 },
        advertise: 'gateway.example',
        enforce: false,
        allow: [],
        spendCapUsd: 0,
        env: { OPENAI_API_KEY: 'sk-real', ANTHROPIC_API_KEY: 'sk-real' },
      }),
    },
    backends: { get: async () => memory, having: () => [] },
    folder,
    now: () => new Date('2030-01-01T00:00:00.000Z'),
    notice: (line) => process.stderr.write(`${line}\n`),
    log: () => undefined,
  });
  const settings = { url: server.url, token: testSettings.apiKey ?? '' };
  sbx = commandLine({
    commands: {
      create: Create,
      'egress:token:create': EgressTokenCreate,
      'egress:token:ls': EgressTokenLs,
      'egress:token:rm': EgressTokenRm,
      'env:ls': EnvLs,
    },
    backends: [openDaemonBackend({ name: 'prod', settings })],
  });
});
afterEach(async () => {
  await sbx[Symbol.asyncDispose]();
  await server.close();
  await memory.dispose();
  await rm(folder, { recursive: true });
});

const run = async (...words: string[]) => {
  const result = await sbx.run(words);
  expect(result).toMatchObject({ exit: 0 });
  return result.stdout;
};
const list = async () => JSON.parse(await run('egress', 'token', 'ls', 'prod/box', '--json')) as unknown[];

describe('create --egress', () => {
  it('has a token in the environment, in the place of the keys', async () => {
    await run('create', 'prod/box', '--egress');
    const env = JSON.parse(await run('env', 'ls', 'prod/box', '--json')) as Record<string, string>;
    expect(Object.keys(env).sort()).toEqual([
      'ANTHROPIC_API_KEY',
      'ANTHROPIC_BASE_URL',
      'OPENAI_API_KEY',
      'OPENAI_BASE_URL',
    ]);
    expect(await list()).toEqual([{ token: env.OPENAI_API_KEY, policy: {}, spendUsd: 0 }]);
    expect(env.OPENAI_BASE_URL).toMatch(/^http:\/\/gateway\.example:\d+\/openai$/);
  });

  it('is refused where there is no gateway, and nothing is made', async () => {
    const { exit, stderr } = await sbx.run(['create', 'memory/box', '--egress']);
    expect(exit).toBe(5);
    expect(stderr).toContain("backend 'memory' (memory) cannot honour --egress");
    expect((await sbx.run(['egress', 'token', 'ls', 'memory/box'])).exit).toBe(3);
  });
});

describe('egress token', () => {
  beforeEach(async () => {
    await run('create', 'prod/box');
  });

  it('is made with its limits, shown, and revoked', async () => {
    const limits = [
      '--ttl',
      '8h',
      '--spend-cap',
      '2.50',
      '--calls',
      '60',
      '--tokens',
      '1000',
      '--window',
      '30s',
    ];
    const only = ['--model', 'gpt-4o', '--model', 'o3', '--provider', 'openai'];
    const token = (await run('egress', 'token', 'create', 'prod/box', ...limits, ...only)).trim();
    expect(token).toMatch(/^sbx_sb[0-9a-f]{12}_[0-9a-f]{32}$/);
    expect(await list()).toEqual([
      {
        token,
        policy: {
          expiresAt: expect.stringMatching(/Z$/),
          spendCapUsd: 2.5,
          rateLimit: { windowMs: 30_000, calls: 60, tokens: 1000 },
          models: ['gpt-4o', 'o3'],
          providers: ['openai'],
        },
        spendUsd: 0,
      },
    ]);
    const table = await run('egress', 'token', 'ls', 'prod/box');
    expect(table.split('\n')[0]?.split(/ {2,}/)).toEqual([
      'TOKEN',
      'SPENT',
      'CAP',
      'EXPIRES',
      'RATE',
      'MODELS',
      'PROVIDERS',
    ]);
    expect(table).toMatch(/ \$0\.00 +\$2\.50 .* 60 calls, 1000 tokens in 30s +gpt-4o,o3 +openai\n$/);
    expect(await run('egress', 'token', 'rm', 'prod/box', token)).toBe(`${token}\n`);
    expect(await list()).toEqual([]);
  });

  it('is told with where to use it', async () => {
    const made = JSON.parse(await run('egress', 'token', 'create', 'prod/box', '--json')) as object;
    expect(made).toMatchObject({
      token: expect.stringMatching(/^sbx_/),
      providers: [
        { name: 'openai', baseUrlEnv: 'OPENAI_BASE_URL', keyEnv: 'OPENAI_API_KEY' },
        { name: 'anthropic' },
      ],
    });
  });

  it.each([
    [['create', 'prod/box', '--window', '1m'], 2, '--window needs --calls or --tokens'],
    [['create', 'prod/box', '--spend-cap', 'much'], 2, '--spend-cap "much" is no amount'],
    [['create', 'prod/box', '--calls', '0'], 2, '--calls "0" is no number'],
    [['rm', 'prod/box'], 2, 'name the sandbox and the tokens'],
    [['rm', 'prod/box', 'nope'], 3, 'token not found'],
    [['ls', 'prod/nobody'], 3, "no sandbox is called 'nobody'"],
  ])('%j: exit %i', async (words, exit, said) => {
    const result = await sbx.run(['egress', 'token', ...words]);
    expect(result).toMatchObject({ exit, stderr: expect.stringContaining(said) });
  });
});
