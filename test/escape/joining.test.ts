/** A process that enters a sandbox is for a moment neither in nor out; and everything inside may have been replaced. */
import { spawn } from 'node:child_process';
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, onTestFinished } from 'vitest';
import type { Sandbox } from '../../src/lib/backend/contract.ts';
import { call, read, say, sh, untilReady } from '../conformance/harness.ts';
import { asRoot } from '../support/require.ts';
import { caged, openCage } from './cage.ts';

const cage = openCage();
const JOINS = 30;

caged('a process on its way in shows nothing of this machine to those who look', async () => {
  const sandbox = await cage.make();
  const secret = join(cage.outside, 'secret');
  // Looks through the root and the working folder of every process that turns up, and at what program it is.
  const watcher = `use filetest "access"; $| = 1; print "ready\\n"; for (;;) { for my $p ($$ + 1 .. $$ + 400) {
    for my $n ("root", "cwd") { if (-e "/proc/$p/$n$ARGV[0]") { print "out through $n\\n"; exit } }
    if (-w "/proc/$p/exe" && (readlink "/proc/$p/exe") =~ /nsenter|setpriv|chroot/) {
      my $f = readlink "/proc/$p/exe"; print "writable $f\\n"; exit }
  } }`;
  const running = await sandbox.exec({ argv: ['perl', '-e', watcher, secret], stdin: 'none' }, call);
  running.stderr?.resume();
  let said = '';
  running.stdout?.on('data', (data: Buffer) => {
    said += data.toString();
  });
  await new Promise<void>((resolve) => running.stdout?.once('data', () => resolve()));
  for (let join = 0; join < JOINS; join++) await say(sandbox, ':');
  await running.terminate(0);
  await running.wait();
  expect(said).toBe('ready\n');
});

describe('programs and libraries that were replaced', () => {
  const REPLACED = [
    ...[
      'sh',
      'dash',
      'bash',
      'setpriv',
      'nsenter',
      'chroot',
      'mount',
      'umount',
      'unshare',
      'pivot_root',
      'setsid',
    ],
    ...[
      'cp',
      'rm',
      'mv',
      'tar',
      'mkdir',
      'hostname',
      'ip',
      'sleep',
      'env',
      'mknod',
      'find',
      'mkfifo',
      'kill',
      'busybox',
    ],
  ];

  caged('run with nothing that the inside does not have anyway, whatever is done from outside', async () => {
    const sandbox = await cage.make();
    // A program that tells who it is, wherever it runs; perl stays as it was.
    const spy = [
      '#!/usr/bin/perl',
      'open(S, "<", "/proc/self/status"); my ($c) = grep { s/^CapEff:\\s*// } <S>; chomp $c;',
      'open(O, ">>", "/var/tmp/log") and print O "$0 $c ", (-e "/.sbx-tools" ? "inside" : "OUTSIDE"), "\\n";',
      'exit 77;',
    ].join('\n');
    await say(
      sandbox,
      `printf '%s' "$SPY" > /var/tmp/spy; chmod 755 /var/tmp/spy; touch /var/tmp/log; chmod 666 /var/tmp/log
       for n in ${REPLACED.join(' ')}; do for d in /usr/bin /usr/sbin /usr/local/bin /usr/local/sbin; do
         perl -e 'open(A, "<", "/var/tmp/spy"); local $/; my $t = <A>; unlink $ARGV[0]; open(B, ">", $ARGV[0]); print B $t; chmod 0755, $ARGV[0]' "$d/$n"
       done; done`,
      { env: { SPY: spy }, workdir: '/' },
    );
    await manage(sandbox);
    // A snapshot on the way makes a layer of what was written until then.
    const folders = [
      join('sandboxes', sandbox.id, 'upper'),
      ...readdirSync(join(cage.state, 'local/layers')).map((layer) => join('layers', layer)),
    ];
    const logs = folders.map((folder) => join(cage.state, 'local', folder, 'var/tmp/log'));
    const log = logs.flatMap((path) => (existsSync(path) ? [readFileSync(path, 'utf8')] : [])).join('');
    expect(log).not.toContain('OUTSIDE');
    const capabilities = log.split('\n').flatMap((line) => line.split(' ')[1] ?? []);
    // The shell at least was run, by the attempt to run a command.
    expect(capabilities.length).toBeGreaterThan(0);
    for (const set of capabilities) expect(BigInt(`0x${set}`) & ~0xa80425fbn).toBe(0n);
  });

  // A plain user's sandbox cannot replace what is root's below /usr.
  asRoot()('are needed for nothing but to run commands', async () => {
    const sandbox = await cage.make();
    await say(
      sandbox,
      `echo /tmp/evil.so > /etc/ld.so.preload; perl -e 'unlink $_ for glob("/usr/lib*/*/ld-*.so* /usr/lib*/ld-*.so* /lib*/ld-*.so* /usr/lib*/*/libc.so*")'`,
      { workdir: '/' },
    );
    await manage(sandbox);
  });
});

/** Everything that is done to a sandbox from outside and needs no command in it, and an attempt at one. */
async function manage(sandbox: Sandbox): Promise<void> {
  const { can } = sandbox;
  const attempt = async () => {
    const outcome = await sh(sandbox, 'echo ran').catch((error: Error) => error);
    expect(outcome instanceof Error || !outcome.stdout.includes('ran')).toBe(true);
  };
  await attempt();
  const running = await can.snapshots?.create({}, call);
  await can.suspend?.pause(call);
  await can.suspend?.resume(call);
  await attempt();
  await can.power?.stop({ graceMs: 200 }, call);
  await can.snapshots?.create({}, call);
  await can.power?.start(call);
  await attempt();
  const forked = await can.fork?.({}, call);
  if (forked !== undefined) await cage.backend.destroy(forked.id, { force: true }, call);
  for await (const _change of can.diff?.({}, call) ?? []);
  expect((await sandbox.info(call)).state).toBe('running');
  expect(running?.id).toBeTruthy();
}

caged('a folder that sbx itself was started with is not passed on', async () => {
  const bin = join(import.meta.dirname, '../../bin/run.js');
  const list =
    'for fd in /proc/1/fd/* /proc/self/fd/*; do [ -d "$fd/" ] && readlink "$fd"; done; echo listed';
  const words = [process.execPath, bin, 'run', '--network', 'none', '--', 'sh', '-c', list];
  const child = spawn('sh', ['-c', 'exec 7< / 8< /; exec "$@"', 'sh', ...words], {
    env: { PATH: process.env.PATH, SBX_STATE_DIR: cage.state, SBX_CONFIG_DIR: cage.outside },
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  onTestFinished(() => void child.kill());
  // The loop's own view of the descriptors is open while it looks.
  expect((await read(child.stdout)).toString().replaceAll(/^\/proc\/\d+\/fd\n/gm, '')).toBe('listed\n');
});

caged('a hostile peer of a command can lie about that command and no more', async () => {
  const sandbox = await cage.make();
  // Writes into the channel of every other command's watcher, and reads from it.
  const liar = `for (;;) { for my $f (glob "/proc/[0-9]*/fd/*") { next unless readlink($f) =~ /^socket:/; open(my $h, "+<", $f) and print $h "gone\\nok\\n" x 1000 } select(undef, undef, undef, 0.001) }`;
  const peer = await untilReady(sandbox, `echo ready; exec perl -e '${liar}'`);
  for (let round = 0; round < 10; round++)
    expect((await sh(sandbox, 'echo fine; exit 3')).exit).toEqual({ code: 3 });
  await peer.running.terminate(0);
  await peer.running.wait();
});

asRoot()(
  'a shell that never answers and keeps every descriptor does not outlive the patience of terminate',
  async () => {
    const sandbox = await cage.make();
    await say(
      sandbox,
      `perl -e 'unlink "/usr/bin/sh"; open(B, ">", "/usr/bin/sh"); print B "#!/usr/bin/perl\\n\\$SIG{TERM} = \\$SIG{HUP} = sub {}; fork; sleep 100 while 1"; chmod 0755, "/usr/bin/sh"'`,
      { workdir: '/' },
    );
    const running = await sandbox.exec({ argv: ['true'], stdin: 'none' }, call);
    running.stdout?.resume();
    running.stderr?.resume();
    await running.terminate(100);
    await expect(running.wait()).rejects.toThrow();
  },
);
