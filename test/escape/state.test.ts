/** What a sandbox leaves where sbx works on it later: links, pipes and other things in place of files and folders. */
import { execFileSync } from 'node:child_process';
import { mkdirSync, readdirSync, readFileSync, rmSync, statSync, symlinkSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { beforeEach, describe, expect } from 'vitest';
import type { Sandbox } from '../../src/lib/backend/contract.ts';
import { findProgram } from '../../src/lib/backends/local/network.ts';
import { call, say, sh } from '../conformance/harness.ts';
import { requireOrSkip } from '../support/require.ts';
import { caged, HOSTILES, openCage, succeeds } from './cage.ts';

const cage = openCage();
let before: string;
beforeEach(() => {
  before = outside();
});

/** Everything about the folder that a sandbox must not touch. */
function outside(): string {
  return execFileSync('find', [cage.outside, '-printf', '%p %m %U %s %T@\\n'], { encoding: 'utf8' });
}

function unharmed(): void {
  expect(outside()).toBe(before);
}

async function restart(sandbox: Sandbox): Promise<void> {
  await sandbox.can.power?.stop({ graceMs: 0 }, call);
  await sandbox.can.power?.start(call);
}

const MOVE = 'move() { perl -e \'rename $ARGV[0], $ARGV[1] or die "$!\\n"\' "$1" "$2"; };';

/** Shell text that puts something else in a place, with `$1` a folder of this machine. */
const RECORDS: Readonly<Record<string, string>> = {
  'a link': 'ln -s "$1"',
  'a link to a file': 'ln -s "$1/secret"',
  'a dangling link': 'ln -s "$1/made"',
  'a FIFO': 'mkfifo',
  'a file': 'touch',
};

/** Attempts that mount points below should stop; whatever they come to must do no harm. */
const TRAPS: Readonly<Record<string, string>> = {
  'a link in place of /dev': 'move /dev /old; ln -s "$1" /dev',
  'links in place of devices':
    'for n in null tty pts shm; do rm -rf /dev/$n; ln -s "$1/secret" /dev/$n; done',
  'a link in place of /var/lib': 'move /var/lib /var/old; ln -s "$1" /var/lib',
  'a link in place of /var/lib/sbx': 'move /var/lib/sbx /var/lib/old; ln -s "$1" /var/lib/sbx',
  'links in place of identity':
    'for n in hosts hostname resolv.conf; do rm -f /etc/$n; ln -s "$1/secret" /etc/$n; done',
  'a link in place of /mnt': 'rmdir /mnt; ln -s "$1" /mnt',
  'a link in place of the process records':
    'rm -rf /var/lib/sbx/processes; ln -s "$1" /var/lib/sbx/processes',
};

const GOOD =
  'test -c /dev/null && test -d /mnt && test -f /etc/hosts && echo x > /var/lib/sbx/processes/x && echo good';

describe('stopped and started again', () => {
  for (const [what, trap] of Object.entries(RECORDS)) {
    caged(`${what} in place of the process records leads nowhere`, async () => {
      const sandbox = await cage.make();
      const swap = `rm -rf /var/lib/sbx/processes && ${trap} /var/lib/sbx/processes`;
      expect(await succeeds(sandbox, swap, { args: [cage.outside] })).toMatchObject({ ok: true });
      await restart(sandbox);
      unharmed();
      expect(await say(sandbox, GOOD, { workdir: '/' })).toBe('good');
      unharmed();
    });
  }

  for (const [what, trap] of Object.entries(TRAPS)) {
    caged(`${what} leads nowhere`, async () => {
      const sandbox = await cage.make();
      await sh(sandbox, `${MOVE} ${trap}`, { args: [cage.outside], workdir: '/' });
      await restart(sandbox);
      unharmed();
      expect(await say(sandbox, GOOD, { workdir: '/' })).toBe('good');
      unharmed();
    });
  }

  // As if a sandbox had found a way to leave them: the mount points are then all that is there.
  for (const place of [
    ...[
      'root/dev',
      'root/dev/null',
      'root/dev/pts',
      'root/proc',
      'root/run',
      'root/mnt',
      'root/usr',
      'root/.sbx',
    ],
    ...['root/.sbx-tools', 'root/etc', 'etc/hosts', 'etc/resolv.conf', 'var/lib', 'var/lib/sbx'],
  ]) {
    caged(`a link or a FIFO in place of ${place} misleads no start`, async () => {
      const sandbox = await cage.make();
      const path = join(cage.state, 'local/sandboxes', sandbox.id, 'upper', place);
      const plants = [
        () => symlinkSync(cage.outside, path),
        () => symlinkSync(join(cage.outside, 'secret'), path),
        () => execFileSync('mkfifo', [path]),
      ];
      for (const plant of plants) {
        await sandbox.can.power?.stop({ graceMs: 0 }, call);
        rmSync(path, { recursive: true, force: true });
        mkdirSync(dirname(path), { recursive: true });
        plant();
        await sandbox.can.power?.start(call);
        unharmed();
        expect(await say(sandbox, GOOD, { workdir: '/' })).toBe('good');
      }
    });
  }

  caged('mount points cannot be replaced while it runs', async () => {
    const sandbox = await cage.shared();
    for (const place of [
      ...['/etc', '/usr', '/proc', '/run', '/tmp', '/etc/hosts', '/var/lib/sbx', '/.sbx', '/.sbx-tools'],
      ...['/dev', '/var/lib'],
    ])
      expect(await succeeds(sandbox, `${MOVE} move ${place} ${place}.moved`)).toMatchObject({ ok: false });
  });
});

describe('caught while it runs', () => {
  for (const [what, trap] of Object.entries(TRAPS)) {
    caged(`${what} misleads no snapshot, fork or restore`, async () => {
      const sandbox = await cage.make();
      // A change in every part, so that each is worked on.
      await say(
        sandbox,
        'for d in / /etc /usr /var /opt /home /root /srv /tmp /workspace; do echo x > $d/changed; done',
        { workdir: '/' },
      );
      await sh(sandbox, `${MOVE} ${trap}`, { args: [cage.outside], workdir: '/' });
      const snapshot = await sandbox.can.snapshots?.create({}, call).catch(refused);
      unharmed();
      const forked = await sandbox.can.fork?.({}, call).catch(refused);
      if (forked !== undefined) await cage.backend.destroy(forked.id, { force: true }, call);
      unharmed();
      if (snapshot !== undefined) await sandbox.can.snapshots?.restore(snapshot.id, call);
      await sandbox.can.power?.start(call);
      unharmed();
      expect(await say(sandbox, 'test -c /dev/null && echo good', { workdir: '/' })).toBe('good');
    });
  }

  caged('a diff follows no link', async () => {
    const sandbox = await cage.make();
    await say(sandbox, 'ln -s "$OUT" link; mkdir folder; ln -s "$OUT" folder/link', {
      env: { OUT: cage.outside },
    });
    const paths: string[] = [];
    for await (const { path } of sandbox.can.diff?.({}, call) ?? []) paths.push(path);
    expect(paths).toContain('/workspace/folder/link');
    expect(paths.filter((path) => path.includes('secret'))).toEqual([]);
  });

  caged('process records that are links show nothing of this machine', async () => {
    const sandbox = await cage.make();
    const info = await sandbox.can.processes?.start({ argv: ['true'] }, call);
    await say(
      sandbox,
      'cd /var/lib/sbx/processes/$ID && for f in *; do ln -sf "$OUT/secret" "$f"; done; mkfifo ../fifo',
      {
        env: { OUT: cage.outside, ID: info?.id ?? '' },
      },
    );
    const seen: unknown[] = [];
    for await (const each of sandbox.can.processes?.list(call) ?? []) seen.push(each);
    for await (const chunk of sandbox.can.processes?.logs(info?.id ?? '', { follow: false }, call) ?? [])
      seen.push(Buffer.from(chunk.data).toString());
    expect(JSON.stringify(seen)).not.toContain(cage.secret);
  });
});

describe('the list of users', () => {
  const OTHER = HOSTILES.includes('nobody') ? 'mallory' : 'root2';
  const LISTS: Readonly<Record<string, string>> = {
    'a link': `rm /etc/passwd && ln -s "$1/passwd" /etc/passwd`,
    'a FIFO': 'rm /etc/passwd && mkfifo /etc/passwd',
    'a folder': 'rm /etc/passwd && mkdir /etc/passwd',
    'a huge file': 'rm /etc/passwd && truncate -s 20G /etc/passwd',
    nothing: 'rm /etc/passwd',
  };
  for (const [what, trap] of Object.entries(LISTS)) {
    caged(`that is ${what} is no list`, async () => {
      const sandbox = await cage.make();
      expect(await succeeds(sandbox, trap, { args: [cage.outside] })).toMatchObject({ ok: true });
      await expect(sh(sandbox, 'id', { user: OTHER })).rejects.toMatchObject({ code: 'failed' });
    });
  }

  caged('cannot make a user of this machine', async () => {
    const sandbox = await cage.make();
    await say(
      sandbox,
      `{ cat /etc/passwd; printf '%s\\n' 'far:x:4294967295:0::/:/bin/sh' 'minus:x:-1:0::/:/bin/sh' 'wide:x:70000:0::/:/bin/sh'; } > /tmp/users; rm /etc/passwd; cp /tmp/users /etc/passwd`,
    );
    for (const user of ['far', 'minus', 'wide'])
      await expect(sh(sandbox, 'id', { user })).rejects.toMatchObject({ code: 'failed' });
  });

  caged('cannot break sbx with what cannot stand in an environment', async () => {
    const sandbox = await cage.make();
    await say(
      sandbox,
      `{ cat /etc/passwd; printf 'nul:x:0:0::/\\000:/bin/sh\\n'; } > /tmp/users; rm /etc/passwd; cp /tmp/users /etc/passwd`,
    );
    const outcome = await sh(sandbox, 'echo fine', { user: 'nul', workdir: '/' }).catch(
      (error: unknown) => error,
    );
    expect(outcome).not.toBeInstanceOf(TypeError);
  });
});

const shell = findProgram('busybox');
requireOrSkip(shell !== undefined, 'busybox')(
  'a root file system of its own cannot lead out either',
  async () => {
    const rootfs = join(cage.outside, 'rootfs');
    mkdirSync(join(rootfs, 'bin'), { recursive: true });
    copyProgram(shell ?? '', rootfs);
    execFileSync('sh', [
      '-c',
      'for n in sh ls mv ln id rm mkdir test echo mkfifo; do ln -s busybox "$1/bin/$n"; done',
      'sh',
      rootfs,
    ]);
    const sandbox = await cage.make({ rootfs, workdir: '/' });
    before = outside();
    const names = join(cage.outside, 'rootfs/bin');
    expect(
      await succeeds(sandbox, 'mv /etc /etc2; mv /var /var2; ln -s "$1" /etc; ln -s "$1" /var', {
        args: [names],
      }),
    ).toMatchObject({ ok: true });
    await expect(sh(sandbox, 'id', { user: 'root2' })).rejects.toMatchObject({ code: 'failed' });
    await sandbox.can.snapshots?.create({}, call);
    unharmed();
    await restart(sandbox);
    unharmed();
    expect(await say(sandbox, 'test -d /var/lib/sbx/processes && test -f /etc/hosts && echo good')).toBe(
      'good',
    );
  },
);

caged('what a sandbox writes lies below folders that others on this machine cannot enter', async () => {
  const sandbox = await cage.make();
  await say(sandbox, 'cp "$(readlink -f /bin/sh)" /tmp/root-shell && chmod 6755 /tmp/root-shell', {
    workdir: '/',
  });
  await sandbox.can.snapshots?.create({}, call);
  const root = join(cage.state, 'local');
  expect(statSync(root).mode & 0o077).toBe(0);
  expect(readdirSync(join(root, 'layers')).length).toBeGreaterThan(0);
  const record = readFileSync(join(root, 'sandboxes', sandbox.id, 'record.json'), 'utf8');
  expect(record).toContain(sandbox.id);
});

/** Refusing is no escape; but it has to be said. */
function refused(error: unknown): undefined {
  expect(error).toMatchObject({ name: 'SbxError' });
  return undefined;
}

/** With the libraries that it needs. */
function copyProgram(path: string, root: string): void {
  const script =
    'cp "$1" "$2/bin/busybox"; ldd "$1" 2>/dev/null | grep -o "/[^ )]*" | while read -r f; do cp --parents -L "$f" "$2"; done; true';
  execFileSync('sh', ['-c', script, 'sh', path, root]);
}
