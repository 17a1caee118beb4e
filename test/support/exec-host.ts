/** A host for commands: local streams in memory that a test feeds, holds up and breaks. */
import { writeFileSync } from 'node:fs';
import { PassThrough, Writable } from 'node:stream';
import type { Input, Output } from '../../src/lib/cli/io.ts';
import { SignalHub } from '../../src/lib/cli/signals.ts';
import type { ExecHost } from '../../src/lib/ops/exec.ts';
import { clockWith, timeless } from './later.ts';

/** A local input that stays open until the test ends it. */
export interface TestInput extends Input {
  readonly source: PassThrough;
  /** Whether anybody asked for the stream. */
  readonly touched: () => boolean;
}

export function testInput(options: { readonly isTTY?: boolean; readonly fd?: number } = {}): TestInput {
  const source = new PassThrough();
  let touched = false;
  return {
    fd: options.fd,
    isTTY: options.isTTY ?? false,
    source,
    touched: () => touched,
    stream() {
      touched = true;
      return source;
    },
    release: () => void source.destroy(),
  };
}

/** A local output that keeps what it gets. */
export interface TestOutput extends Output {
  readonly sink: Writable;
  readonly text: () => string;
}

/** `sink` takes the place of the one that keeps everything. */
export function testOutput(
  options: { readonly isTTY?: boolean; readonly fd?: number; readonly sink?: Writable } = {},
): TestOutput {
  const chunks: Buffer[] = [];
  const sink =
    options.sink ??
    new Writable({
      write(chunk: Buffer, _encoding, done) {
        chunks.push(chunk);
        done();
      },
    });
  return {
    fd: options.fd,
    isTTY: options.isTTY ?? false,
    columns: undefined,
    sink,
    beforeWrite: () => undefined,
    text: () => Buffer.concat(chunks).toString(),
    write(data) {
      if (options.fd === undefined) chunks.push(Buffer.from(data));
      else writeFileSync(options.fd, data);
    },
    stream: () => sink,
  };
}

/** What a test holds of the world of a command. */
export interface TestHost extends ExecHost {
  readonly io: { readonly stdin: TestInput; readonly stdout: TestOutput; readonly stderr: TestOutput };
  readonly signals: SignalHub;
}

export function testHost(streams: Partial<TestHost['io']> = {}): TestHost {
  const signals = new SignalHub();
  return {
    io: { stdin: testInput(), stdout: testOutput(), stderr: testOutput(), ...streams },
    signals,
    get signal() {
      return signals.signal;
    },
    clock: clockWith(timeless),
  };
}

/** A sink whose reader has gone. */
export function closedSink(code = 'EPIPE'): Writable {
  return new Writable({
    write: (_chunk, _encoding, done) => done(Object.assign(new Error(`write ${code}`), { code })),
  });
}

/** Resolves when `output` holds `wanted`. */
export function printed(output: TestOutput, wanted: string): Promise<void> {
  return new Promise((resolve) => {
    const look = () => {
      if (output.text().includes(wanted)) resolve();
      else setImmediate(look);
    };
    look();
  });
}
