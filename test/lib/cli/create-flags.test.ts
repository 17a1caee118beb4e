import { describe, expect, it } from 'vitest';
import type { CreateSpec } from '../../../src/lib/backend/contract.ts';
import { splitArgv } from '../../../src/lib/cli/argv.ts';
import type { CommandClass } from '../../../src/lib/cli/command-class.ts';
import { createFlags, createSpecFromFlags } from '../../../src/lib/cli/create-flags.ts';
import { Args, allFlags, shapesOf } from '../../../src/lib/cli/flags.ts';
import { parseInput } from '../../../src/lib/cli/parse.ts';
import { pathsFrom } from '../../../src/lib/cli/paths.ts';
import type { CreateRequest } from '../../../src/lib/ops/create.ts';

const command = {
  summary: 'x',
  args: { name: Args.string() },
  flags: createFlags,
  commandNeedsDashes: true,
} as unknown as CommandClass;

const env = { TOKEN: 's3cret' };

async function requestOf(...argv: string[]): Promise<CreateRequest> {
  const split = splitArgv(argv, { flags: shapesOf(allFlags(createFlags)), positionals: undefined });
  const { flags, args, inner } = await parseInput(command, 'create', split, env);
  const context = { env, paths: pathsFrom({}, () => '/home/me') };
  return createSpecFromFlags(flags, context, { name: args.name as string | undefined, command: inner });
}

const nothing = { env: {}, labels: {}, limits: {} };

/** Without what is undefined. */
const plain = (value: unknown): unknown => JSON.parse(JSON.stringify(value));

describe('argv to CreateSpec', () => {
  it.each<[string[], Partial<CreateSpec>]>([
    [[], {}],
    [['box'], { name: 'box' }],
    [['--image', 'debian:13'], { image: 'debian:13' }],
    [['--template', 'base'], { image: 'base' }],
    [['--rootfs', 'tree'], { rootfs: '/home/me/tree' }],
    [['--rootfs', '/srv/root.tar'], { rootfs: '/srv/root.tar' }],
    [['--from', 'before'], { snapshot: 'before' }],
    [
      ['--cpus', '1.5', '--memory', '512m', '--pids', '100', '--disk', '10g'],
      { limits: { cpus: 1.5, memory: 536_870_912, pids: 100, disk: 10_737_418_240 } },
    ],
    [['--size', '2vcpu-4gb'], { limits: { cpus: 2, memory: 4_294_967_296 } }],
    [['--size', '0.5cpu-512m', '--memory', '1g'], { limits: { cpus: 0.5, memory: 1_073_741_824 } }],
    [
      ['-e', 'A=b=c', '--env', 'TOKEN', '-e', 'EMPTY=', '-e', 'ABSENT'],
      { env: { A: 'b=c', TOKEN: 's3cret', EMPTY: '' } },
    ],
    [['-l', 'team=web', '--label', 'solo', '-l', 'team=api'], { labels: { team: 'api', solo: '' } }],
    [['--port', '80', '-p', '443'], { ports: [80, 443] }],
    [['--ttl', '1h30m', '--idle', '10m'], { ttl: 5_400_000, idle: 600_000 }],
    [['--network', 'none', '--isolation', 'namespaces'], { network: 'none', isolation: 'namespaces' }],
    [
      ['--workdir', '/srv', '--user', '1000:1000', '--hostname', 'web.local'],
      { workdir: '/srv', user: '1000:1000', hostname: 'web.local' },
    ],
    [
      ['box', '--', 'sh', '-c', 'a b', '', '--json'],
      { name: 'box', command: ['sh', '-c', 'a b', '', '--json'] },
    ],
    [['--setup', 'true', '--', 'ls'], { command: ['ls'] }],
    [['--repo', '.', '--', 'ls'], { command: ['ls'] }],
    [['--setup', 'true'], {}],
  ])('%j', async (argv, expected) => {
    const { spec } = await requestOf(...argv);
    expect(plain(spec)).toEqual({ ...nothing, ...expected });
  });

  it('keeps apart what only sbx does', async () => {
    const { repo, setup, wait, waitTimeoutMs, ifNotExists } = await requestOf(
      'box',
      '--repo',
      'https://example.com/x.git#main',
      '--setup',
      'a',
      '--setup',
      'b',
      '--wait',
      'port:80',
      '--wait',
      'process:main',
      '--wait-timeout',
      '5s',
      '--if-not-exists',
    );
    expect(repo).toEqual({
      kind: 'remote',
      url: 'https://example.com/x.git',
      ref: 'main',
      username: '',
      password: '',
    });
    expect(setup).toEqual(['a', 'b']);
    expect(wait).toEqual([
      { kind: 'port', port: 80 },
      { kind: 'process', id: 'main' },
    ]);
    expect({ waitTimeoutMs, ifNotExists }).toEqual({ waitTimeoutMs: 5000, ifNotExists: true });
  });

  it('knows by what words each option was asked for', async () => {
    const { given } = await requestOf(
      'box',
      '--image',
      'a',
      '--size',
      '1cpu-1g',
      '--env-file',
      '/dev/null',
      '-l',
      'x',
      '--setup',
      'true',
      '--',
      'ls',
    );
    expect(given.map(({ option, as }) => `${option} ${as}`)).toEqual([
      'image --image',
      'limits.cpus --size',
      'limits.memory --size',
      'env --env-file',
      'labels --label',
      'name a name of your choice',
      'command a main command',
    ]);
  });
});

it('a port in the words of docker run is answered with the two commands that do it', async () => {
  for (const port of ['8080:80', '127.0.0.1:8080:80', '8080:80/tcp'])
    await expect(requestOf('--port', port)).rejects.toMatchObject({
      code: 'usage',
      hint: '--port 80; for one of your choice on this machine: sbx forward NAME 8080:80',
    });
});
