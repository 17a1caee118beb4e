/** What the verbs of `files` have in common: `[SANDBOX] PATH` on the command line. */
import type { Call } from '../backend/contract.ts';
import { SbxError } from '../errors.ts';
import type { FilesTarget } from '../ops/files.ts';
import { resolveSandbox } from '../ops/resolve-sandbox.ts';
import { quoteWord } from '../util/shell-quote.ts';
import type { Context } from './context.ts';
import { Args } from './flags.ts';

/** The arguments; the first is the path when it stands alone. */
export const fileArgs = {
  sandbox: Args.string({
    completes: 'sandbox:running|path',
    description: 'name, id or BACKEND/NAME; may be left out',
  }),
  path: Args.string({ completes: 'path', description: 'path in the sandbox; relative to its workdir' }),
};

/** The sandbox and the path that the words mean. @throws SbxError `usage` without a path. */
export async function fileTarget(
  context: Context,
  words: { readonly sandbox: string | undefined; readonly path: string | undefined },
  verb: string,
  call: Call,
): Promise<FilesTarget & { readonly path: string }> {
  const [ref, path] = words.path === undefined ? [undefined, words.sandbox] : [words.sandbox, words.path];
  if (path === undefined || path === '') {
    throw new SbxError('usage', 'no path is named', { hint: `sbx files ${verb} SANDBOX PATH` });
  }
  const [, name, inside] = /^([a-zA-Z0-9][^/:]*(?:\/[^/:]+)?):(\/.*)$/s.exec(path) ?? [];
  if (ref === undefined && name !== undefined && inside !== undefined) {
    throw new SbxError('usage', 'the sandbox and its path are two words here', {
      hint: `sbx files ${verb} ${quoteWord(name)} ${quoteWord(inside)}`,
    });
  }
  const sandbox = await resolveSandbox(context, ref, call, { verb: `files ${verb}`, rest: quoteWord(path) });
  return { sandbox, having: (await context.backends()).having, path };
}
