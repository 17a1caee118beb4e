/** Single files and folders of a sandbox over exec and POSIX programs. */
import { SbxError } from '../../errors.ts';
import commitScript from '../../guest/file-commit.sh';
import listScript from '../../guest/file-list.sh';
import mkdirScript from '../../guest/file-mkdir.sh';
import readScript from '../../guest/file-read.sh';
import records from '../../guest/file-records.sh';
import { type FileRecord, garbled, parseRecords } from '../../guest/file-records.ts';
import removeScript from '../../guest/file-remove.sh';
import watchScript from '../../guest/file-watch.sh';
import { inotifyEvents, snapshotEvents } from '../../guest/file-watch.ts';
import writeScript from '../../guest/file-write.sh';
import { randomHex } from '../../util/random-id.ts';
import type { Call, FileStat, Files } from '../contract.ts';
import {
  asStream,
  feedFileProgram,
  guestPath,
  runFileProgram,
  startFileProgram,
  tidyUp,
} from './files-guest.ts';
import type { ExecSandbox } from './run-guest.ts';

/** Milliseconds between looks where the sandbox has no inotifywait. */
const WATCH_PAUSE_MS = 1000;

/**
 * The capability `files`, derived from exec. Needs `sh` and coreutils or busybox in the sandbox. `watch` uses inotifywait
 * where the sandbox has one of version 3.22 or later; else a loop in the sandbox looks again and again and sends what is there when it changed.
 */
export function deriveFiles(sandbox: ExecSandbox): Files {
  const list = async function* (
    path: string,
    what: 'one' | 'all',
    call: Call,
  ): AsyncGenerator<FileStat, void, void> {
    const at = guestPath(path);
    const program = {
      name: 'file-list',
      script: records + listScript,
      verb: 'look at',
      path,
      args: [at, what],
    };
    const { output } = await startFileProgram(sandbox, program, call);
    for await (const record of parseRecords(output)) if (record !== 'end') yield toStat(record);
  };
  return {
    async stat(path, call) {
      for await (const found of list(path, 'one', call)) return found;
      throw garbled();
    },
    list: (path, call) => list(path, 'all', call),
    async read(path, call) {
      const args = [guestPath(path)];
      const { output } = await startFileProgram(
        sandbox,
        { name: 'file-read', script: readScript, verb: 'read', path, args },
        call,
      );
      return asStream(output);
    },
    async write(path, content, options, call) {
      if (path.endsWith('/')) throw new SbxError('usage', `not the path of a file: '${path}'`);
      const at = guestPath(path);
      const beside = `.sbx-${randomHex(8)}`;
      const finish = (what: 'commit' | 'discard', mode: string, finishCall: Call) => {
        const args = [at, beside, what, mode];
        return runFileProgram(
          sandbox,
          { name: 'file-commit', script: commitScript, verb: 'write', path, args },
          finishCall,
        );
      };
      const args = [at, beside, options.parents ? '1' : ''];
      try {
        await feedFileProgram(
          sandbox,
          { name: 'file-write', script: writeScript, verb: 'write', path, args },
          content,
          call,
        );
        await finish('commit', octal(options.mode), call);
      } catch (cause) {
        await tidyUp(cause, `${beside} beside ${path}`, (tidyCall) => finish('discard', '', tidyCall));
      } finally {
        content.destroy();
      }
    },
    async makeDirectory(path, options, call) {
      const args = [guestPath(path), options.parents ? '1' : '', octal(options.mode)];
      await runFileProgram(
        sandbox,
        { name: 'file-mkdir', script: mkdirScript, verb: 'make', path, args },
        call,
      );
    },
    async remove(path, options, call) {
      const at = guestPath(path);
      if (/^(\/|\.{1,2}|.*\/\.{1,2})$/.test(at)) throw new SbxError('usage', `refusing to remove '${path}'`);
      const args = [at, options.recursive ? '1' : '', options.force ? '1' : ''];
      await runFileProgram(
        sandbox,
        { name: 'file-remove', script: removeScript, verb: 'remove', path, args },
        call,
      );
    },
    async *watch(path, { recursive, pauseMs = WATCH_PAUSE_MS, onBegun }, call) {
      const args = [guestPath(path), recursive ? '1' : '', String(pauseMs / 1000)];
      const program = {
        name: 'file-watch',
        script: records + watchScript,
        verb: 'watch',
        path,
        args,
        env: { SBX_RECORDS: records },
      };
      const { greeting, output } = await startFileProgram(sandbox, program, call);
      if (greeting === 'inotify') {
        onBegun?.();
        yield* inotifyEvents(output);
      } else if (greeting === 'snapshots') yield* snapshotEvents(output, onBegun);
      else throw garbled();
    },
  };
}

function octal(mode: number | undefined): string {
  return mode === undefined ? '' : (mode & 0o7777).toString(8);
}

function toStat({ stamp: _, ...stat }: FileRecord): FileStat {
  return stat;
}
