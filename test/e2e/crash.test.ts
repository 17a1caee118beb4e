/** The client is killed at every step of what it does; the next one has to find and clean what is left. */
import { execFileSync, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdirSync } from 'node:fs';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect } from 'vitest';
import {
  bin,
  type Client,
  canTrace,
  clientAt,
  entries,
  idsIn,
  killAt,
  leftovers,
  list,
  must,
  type Point,
  pointsOf,
  sbx,
  some,
  TTL_SECONDS,
} from '../support/crash.ts';
import { isRoot, requireOrSkip } from '../support/require.ts';

/** Points of an operation that are tried when not all are. */
const POINTS = 3;
/** For cgroups to be there; a plain user may make none. */
const LIMITED: readonly string[] = isRoot ? ['--memory', '200m'] : [];
const EXHAUSTIVE = process.env.SBX_TEST_EXHAUSTIVE !== undefined;

let home: string;
let client: Client;
beforeEach(async () => {
  home = await mkdtemp(join(tmpdir(), 'sbx-crash-'));
  client = clientAt(home);
});
afterEach(async () => {
  sbx(client, 'rm', '--all', '--force', '--yes');
  await rm(home, { recursive: true, force: true });
});

const usable = canTrace && probe();
const crash = requireOrSkip(usable, 'strace and the local backend');

/** Kills `args` at points, each time in the state that `set` makes; `check` gets the names that were there before. */
async function everyStep(
  args: readonly string[],
  set: () => void,
  check: () => void | Promise<void>,
): Promise<void> {
  let points: Point[] = [];
  // The first run fills node's compile cache, so that the second is like all others.
  for (let run = EXHAUSTIVE ? 0 : 1; run < 2; run++) {
    reset();
    set();
    points = some(pointsOf(client, args), POINTS);
  }
  expect(points.length).toBeGreaterThan(2);
  for (const point of points) {
    reset();
    set();
    killAt(client, args, point);
    const seen = idsIn(client);
    try {
      expect(await leftovers(client, seen)).toEqual([]);
      await check();
      removeAll();
      expect(await leftovers(client, seen)).toEqual([]);
      must(client, 'prune', '--yes');
      expect(layersInUse()).toEqual(entries(join(client.root, 'layers')).sort());
    } catch (error) {
      throw new Error(`killed before: ${point.text}`, { cause: error });
    }
  }
}

/** Only the snapshots in `kept` stay. */
function reset(): void {
  removeAll();
  for (const name of entries(join(client.root, 'snapshots'))) {
    const id = name.slice(0, -'.json'.length);
    if (!kept.has(id)) must(client, 'snapshot', 'rm', id, '--yes');
  }
}

function removeAll(): void {
  if (idsIn(client).length > 0) must(client, 'rm', '--all', '--force', '--yes');
}

/** Snapshots that a test needs in every round. */
const kept = new Set<string>();

function layersInUse(): string[] {
  const used = new Set<string>();
  for (const name of entries(join(client.root, 'snapshots'))) {
    const text = execFileSync('cat', [join(client.root, 'snapshots', name)], { encoding: 'utf8' });
    const { layers } = JSON.parse(text) as { layers: Record<string, string[]> };
    for (const ids of Object.values(layers)) for (const id of ids) used.add(id);
  }
  return [...used].sort();
}

const nothing = () => undefined;
/** The name that was being made is free, or is that of a whole sandbox. */
const nameIsUsable = () => {
  const [box] = list(client);
  if (box !== undefined) expect(sbx(client, 'exec', 'box', '--', 'true').code).toBe(0);
  must(client, 'rm', '--force', '--yes', 'box');
  must(client, 'create', 'box', '--network', 'none');
};

const withFile = (...more: string[]) => {
  must(client, 'create', 'box', '--network', 'none', ...more);
  write('one');
};
const write = (text: string) =>
  must(client, 'exec', 'box', '--', 'sh', '-c', `echo ${text} > /workspace/file; echo ${text} > /etc/mine`);
const content = (name = 'box') => must(client, 'exec', name, '--', 'cat', '/workspace/file', '/etc/mine');
/** It is whole, can be started where it does not run, and has its files. */
const intact = (allowed = ['one\none\n'], name = 'box') => {
  const box = list(client).find((each) => each.name === name);
  if (box?.state === 'paused') must(client, 'resume', name);
  if (box?.state === 'stopped') must(client, 'start', name);
  expect(allowed).toContain(content(name));
};

describe('a client that is killed', { timeout: EXHAUSTIVE ? 3_600_000 : 120_000 }, () => {
  const createCases: [string, string[]][] = [
    ['create', ['--network', 'none']],
    [
      'create with a main command and a time to live',
      ['--network', 'none', '--ttl', `${TTL_SECONDS}s`, '--', 'sleep', '1000'],
    ],
    ['create with limits and the default network', [...LIMITED, '--workdir', '/tmp/deep/er']],
  ];
  for (const [what, args] of createCases)
    crash(`${what} leaves a whole sandbox or none`, () =>
      everyStep(['create', 'box', ...args], nothing, nameIsUsable),
    );

  crash('create in the middle of its setup commands leaves nothing', async () => {
    const words = [
      'create',
      'box',
      '--network',
      'none',
      '--setup',
      'echo here; sleep 1000',
      '--',
      'sleep',
      '1',
    ];
    const child = spawn(process.execPath, [bin, ...words], {
      env: client.env,
      stdio: ['ignore', 'ignore', 'pipe'],
    });
    await new Promise<void>((resolve) => {
      let said = '';
      child.stderr.on('data', (data: Buffer) => {
        said += data.toString();
        if (/^here$/m.test(said)) resolve();
      });
    });
    const seen = idsIn(client);
    child.kill('SIGKILL');
    await once(child, 'exit');
    expect(list(client)).toEqual([]);
    expect(await leftovers(client, seen)).toEqual([]);
  });

  crash('create --rootfs leaves no layer', async () => {
    const folder = join(home, 'rootfs');
    mkdirSync(join(folder, 'bin'), { recursive: true });
    execFileSync('cp', [busybox(), join(folder, 'bin/sh')]);
    const tar = join(home, 'rootfs.tar');
    execFileSync('tar', ['-cf', tar, '-C', folder, '.']);
    await everyStep(['create', 'box', '--network', 'none', '--rootfs', tar], nothing, () => {
      must(client, 'rm', '--force', '--yes', 'box');
      must(client, 'create', 'box', '--network', 'none', '--rootfs', tar);
    });
  });

  crash('create --from keeps the snapshot', async () => {
    withFile();
    kept.clear();
    kept.add(must(client, 'snapshot', 'create', 'box', '--name', 'base').trim());
    await everyStep(['create', 'box', '--network', 'none', '--from', 'base'], nothing, () => {
      must(client, 'rm', '--force', '--yes', 'box');
      must(client, 'create', 'box', '--network', 'none', '--from', 'base');
      intact();
    });
  });

  crash('start leaves it stopped or running', () =>
    everyStep(
      ['start', 'box'],
      () => {
        withFile('--ttl', `${TTL_SECONDS}s`);
        must(client, 'stop', 'box');
      },
      () => intact(),
    ),
  );

  for (const paused of [false, true])
    crash(`stop of a ${paused ? 'paused' : 'running'} sandbox can be done again`, () =>
      everyStep(
        ['stop', 'box', '--timeout', '0s'],
        () => {
          withFile(...LIMITED);
          if (paused) must(client, 'pause', 'box');
        },
        () => {
          must(client, 'stop', 'box');
          intact();
        },
      ),
    );

  crash('rm leaves all of it or nothing', () =>
    everyStep(
      ['rm', '--force', '--yes', 'box'],
      () => withFile(...LIMITED),
      () => {
        if (list(client).length > 0) intact();
        must(client, 'rm', '--force', '--yes', 'box');
        must(client, 'create', 'box', '--network', 'none');
      },
    ),
  );

  for (const state of ['running', 'paused', 'stopped'])
    crash(`snapshot of a ${state} sandbox is whole or absent`, () =>
      everyStep(
        ['snapshot', 'create', 'box', '--name', 'snap'],
        () => {
          withFile();
          if (state === 'paused') must(client, 'pause', 'box');
          if (state === 'stopped') must(client, 'stop', 'box');
        },
        () => {
          if (must(client, 'snapshot', 'ls', '-q').trim() !== '') {
            must(client, 'create', 'copy', '--network', 'none', '--from', 'snap');
            intact(undefined, 'copy');
          }
          intact();
        },
      ),
    );

  crash('restore leaves the old files or those of the snapshot', () =>
    everyStep(
      ['snapshot', 'restore', 'box', 'snap', '--yes'],
      () => {
        withFile();
        must(client, 'snapshot', 'create', 'box', '--name', 'snap');
        write('two');
      },
      () => intact(['one\none\n', 'two\ntwo\n']),
    ),
  );

  crash('fork leaves the old one as it was, and a whole new one or none', () =>
    everyStep(
      ['fork', 'box', 'copy'],
      () => withFile(),
      () => {
        intact();
        if (list(client).some(({ name }) => name === 'copy')) intact(undefined, 'copy');
        else must(client, 'fork', 'box', 'copy');
      },
    ),
  );

  crash('rename leaves one name', () =>
    everyStep(
      ['rename', 'box', 'other'],
      () => withFile(),
      () => {
        const [{ name = '' } = {}, more] = list(client);
        expect(more).toBeUndefined();
        expect(['box', 'other']).toContain(name);
        intact(undefined, name);
        must(client, 'create', name === 'box' ? 'other' : 'box', '--network', 'none');
      },
    ),
  );

  crash('extend leaves one timer', () =>
    everyStep(
      ['extend', 'box', `${TTL_SECONDS}s`],
      () => withFile('--ttl', `${TTL_SECONDS - 1}s`),
      () => intact(),
    ),
  );

  crash('env set leaves the old or the new value', () =>
    everyStep(
      ['env', 'set', 'box', 'A=new'],
      () => withFile('--env', 'A=old'),
      () => {
        expect(['old', 'new']).toContain(must(client, 'exec', 'box', '--', 'sh', '-c', 'echo "$A"').trim());
        intact();
      },
    ),
  );
});

function busybox(): string {
  return execFileSync('sh', ['-c', 'command -v busybox'], { encoding: 'utf8' }).trim();
}

/** Whether this machine can make a sandbox at all. */
function probe(): boolean {
  const folder = execFileSync('mktemp', ['-d'], { encoding: 'utf8' }).trim();
  const probing = clientAt(folder);
  try {
    return sbx(probing, 'create', 'probe').code === 0 && sbx(probing, 'rm', '--force', 'probe').code === 0;
  } finally {
    execFileSync('rm', ['-rf', folder]);
  }
}
