/** Bytes from and to a command: all of them, in order, apart, and never more than a little in memory. */

import { execFileSync } from 'node:child_process';
import { createHash, randomBytes } from 'node:crypto';
import { closeSync, createReadStream, createWriteStream, openSync, readFileSync } from 'node:fs';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { call, feed, type Harness, read, run, say, sh, uniqueSleep, untilReady, watch } from './harness.ts';

const MIB = 1024 * 1024;
const ALL_BYTES = Buffer.from(Array.from({ length: 256 }, (_, i) => i));

export function streamsConformance(h: Harness): void {
  const isPipe = h.lacks?.includes('device paths') !== true;

  test('stdout and stderr arrive apart', async () => {
    const result = await sh(await h.shared(), 'echo out; echo err >&2; echo out2');
    expect(result).toEqual({ exit: { code: 0 }, stdout: Buffer.from('out\nout2\n'), stderr: 'err\n' });
  });

  test('bytes of every value go in and come out unchanged', async () => {
    const input = Buffer.concat([ALL_BYTES, randomBytes(3 * MIB), ALL_BYTES]);
    const { stdout } = await run(await h.shared(), ['cat'], { input });
    expect(stdout.equals(input)).toBe(true);
  });

  test('the last line of three million arrives', async () => {
    const { stdout, exit } = await run(await h.shared(), ['seq', '1', '3000000']);
    expect(exit).toEqual({ code: 0 });
    expect(stdout.length).toBe(22_888_896);
    expect(stdout.subarray(-16).toString()).toBe('2999999\n3000000\n');
  });

  test('sixty thousand writes of one byte arrive', async () => {
    const { stdout, exit } = await sh(
      await h.shared(),
      'i=0; while [ $i -lt 60000 ]; do printf x; i=$((i+1)); done',
    );
    expect(exit).toEqual({ code: 0 });
    expect(stdout.toString()).toBe('x'.repeat(60_000));
  });

  test('a slow reader holds the command up instead of filling memory', async () => {
    const sandbox = await h.shared();
    const text = 'i=0; while [ $i -lt 320 ]; do head -c 65536 /dev/zero; i=$((i+1)); echo $i >&2; done';
    const running = await sandbox.exec({ argv: ['sh', '-c', text], stdin: 'none' }, call);
    const progress = watch(running.stderr);
    await progress.until('\n');
    // It stands still when other commands come and go and it has not moved.
    for (let before = -1, still = 0; still < 10; before = progress.text().length) {
      await say(sandbox, 'true');
      still = progress.text().length === before ? still + 1 : 0;
    }
    const written = Number(progress.text().trim().split('\n').at(-1)) * 65_536;
    expect(written).toBeLessThan(4 * MIB);
    const [stdout, exit] = await Promise.all([read(running.stdout), running.wait()]);
    expect(stdout.length).toBe(20 * MIB);
    expect(exit).toEqual({ code: 0 });
  });

  test('thirty megabytes reach a command that prints nothing', async () => {
    const sandbox = await h.shared();
    const chunks = Array.from({ length: 30 }, () => randomBytes(MIB));
    const running = await sandbox.exec(
      { argv: ['sh', '-c', 'sha256sum > hash-of-input'], stdin: 'pipe' },
      call,
    );
    const [stdout, exit] = await Promise.all([
      read(running.stdout),
      running.wait(),
      feed(running.stdin, chunks),
    ]);
    expect([stdout.length, exit]).toEqual([0, { code: 0 }]);
    const hash = createHash('sha256');
    for (const chunk of chunks) hash.update(chunk);
    expect(await say(sandbox, 'cut -d " " -f 1 hash-of-input')).toBe(hash.digest('hex'));
  });

  test('a character cut in two arrives whole', async () => {
    const sandbox = await h.shared();
    const text = "printf 'ready\\n\\303'; head -c 1 >/dev/null; printf '\\251'";
    const { running, output } = await untilReady(sandbox, text, { stdin: 'pipe' });
    await output.until('\xc3');
    running.stdin?.end('x');
    await running.wait();
    expect(Buffer.from(output.text(), 'latin1').toString()).toBe('ready\né');
  });

  test('the end of input reaches the command', async () => {
    const { stdout } = await sh(await h.shared(), 'cat; echo end', { input: 'b\na\n' });
    expect(stdout.toString()).toBe('b\na\nend\n');
  });

  test('without input the command reads the end at once', async () => {
    const { stdout } = await sh(await h.shared(), 'cat; echo end');
    expect(stdout.toString()).toBe('end\n');
  });

  test('ending the input does not end the output', async () => {
    const { stdout } = await sh(await h.shared(), 'cat >/dev/null; seq 1 1000', { input: '' });
    expect(stdout.toString().split('\n')).toHaveLength(1001);
  });

  test('a command that ends while its input stays open is over at once', async () => {
    const sandbox = await h.shared();
    const running = await sandbox.exec({ argv: ['sh', '-c', 'exit 4'], stdin: 'pipe' }, call);
    const [exit] = await Promise.all([running.wait(), read(running.stdout), read(running.stderr)]);
    expect(exit).toEqual({ code: 4 });
  });

  test('a command that reads only the head of its input is no failure', async () => {
    const { stdout, exit } = await run(await h.shared(), ['head', '-c', '3'], {
      input: Buffer.alloc(8 * MIB, 'x'),
    });
    expect(exit).toEqual({ code: 0 });
    if (h.lacks?.includes('unread input') !== true) expect(stdout.toString()).toBe('xxx');
  });

  test('a command that closed its input goes on', async () => {
    const text = 'exec 0<&-; echo ready; sleep 0.1; echo more; exit 3';
    const { running, output } = await untilReady(await h.shared(), text, { stdin: 'pipe' });
    running.stdin?.on('error', () => undefined);
    running.stdin?.write(Buffer.alloc(MIB));
    expect(await running.wait()).toEqual({ code: 3 });
    expect(output.text()).toBe('ready\nmore\n');
  });

  test('a reader that goes away ends the command, by SIGPIPE where its output is a pipe', async () => {
    const sandbox = await h.shared();
    const { running } = await untilReady(sandbox, 'echo ready; while :; do echo more || exit 1; done');
    running.stdout?.destroy();
    running.stderr?.resume();
    const exit = await running.wait();
    if (isPipe) expect(exit).toEqual({ signal: 'PIPE' });
    else expect(exit).not.toEqual({ code: 0 });
  });

  test('a process that was left behind with the output open does not hold up the end', async () => {
    const sandbox = await h.shared();
    const seconds = uniqueSleep();
    const { stdout, exit } = await sh(sandbox, `sleep ${seconds} & echo all`);
    expect([stdout.toString(), exit]).toEqual(['all\n', { code: 0 }]);
  });

  test('fifty commands at once do not mix', async () => {
    const sandbox = await h.shared();
    const numbers = Array.from({ length: 50 }, (_, i) => i);
    const results = await Promise.all(
      numbers.map((i) => sh(sandbox, 'cat; echo "$1"; exit "$1"', { args: [String(i)], input: `in ${i}\n` })),
    );
    expect(results.map(({ stdout, exit }) => [stdout.toString(), exit])).toEqual(
      numbers.map((i) => [`in ${i}\n${i}\n`, { code: i }]),
    );
  });

  h.when(isPipe)('/dev/stdout and /dev/stderr can be written inside', async () => {
    const result = await sh(await h.shared(), 'echo out > /dev/stdout; echo err > /dev/stderr');
    expect(result).toEqual({ exit: { code: 0 }, stdout: Buffer.from('out\n'), stderr: 'err\n' });
  });

  h.when(h.onThisMachine === true)('pipes that are handed over are the command’s own', async () => {
    const folder = await mkdtemp(join(tmpdir(), 'sbx-pipes-'));
    const [stdin, stdout, stderr] = ['in', 'out', 'err'].map((name) => openPipe(join(folder, name)));
    if (!stdin || !stdout || !stderr) throw new Error('no pipes');
    try {
      const handOver = { stdin: stdin.read, stdout: stdout.write, stderr: stderr.write };
      const argv = ['sh', '-c', 'sort; echo err >&2; exit 9'] as const;
      const running = await (await h.shared()).exec({ argv: [...argv], stdin: 'pipe', handOver }, call);
      expect([running.stdin, running.stdout, running.stderr]).toEqual([undefined, undefined, undefined]);
      for (const fd of Object.values(handOver)) closeSync(fd);
      createWriteStream('', { fd: stdin.write }).end('b\na\n');
      const [out, err, exit] = await Promise.all([
        read(createReadStream('', { fd: stdout.read })),
        read(createReadStream('', { fd: stderr.read })),
        running.wait(),
      ]);
      expect([out.toString(), err.toString(), exit]).toEqual(['a\nb\n', 'err\n', { code: 9 }]);
    } finally {
      await rm(folder, { recursive: true });
    }
  });

  h.when(h.onThisMachine === true)(
    'a handed-over error output gets the message of a command that cannot run',
    async () => {
      const folder = await mkdtemp(join(tmpdir(), 'sbx-pipes-'));
      const stderr = openPipe(join(folder, 'err'));
      try {
        const running = await (await h.shared()).exec(
          { argv: ['no-such-command'], stdin: 'none', handOver: { stderr: stderr.write } },
          call,
        );
        closeSync(stderr.write);
        const [exit] = await Promise.all([running.wait(), read(running.stdout)]);
        expect(exit).toEqual({ code: 127 });
        expect(readFileSync(stderr.read, 'utf8')).toContain('no-such-command');
      } finally {
        closeSync(stderr.read);
        await rm(folder, { recursive: true });
      }
    },
  );
}

/** Both ends of a new pipe at `path`. */
function openPipe(path: string): { read: number; write: number } {
  execFileSync('mkfifo', [path]);
  // Opening one end waits for the other; this one is both.
  const both = openSync(path, 'r+');
  const ends = { read: openSync(path, 'r'), write: openSync(path, 'w') };
  closeSync(both);
  return ends;
}
