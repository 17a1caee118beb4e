/** Does one thing to many sandboxes, so that one that fails stops none of the others. */
import type { Call, Sandbox } from '../backend/contract.ts';
import { SbxError } from '../errors.ts';
import { type ResolveContext, type ResolveOptions, resolveSandbox } from './resolve-sandbox.ts';

/** How it went for one of them. */
export type Outcome<T> =
  | { readonly name: string; readonly value: T; readonly error?: undefined }
  | { readonly name: string; readonly value?: undefined; readonly error: SbxError };

const AT_ONCE = 8;

/**
 * Finds each of `refs` (none: the obvious one) and does `act` to it, some at a time. Outcomes come in the order of `refs`;
 * a name given twice is done once. Errors that are not an `SbxError`, and interrupts, reject.
 */
export async function onEach<T>(
  context: ResolveContext,
  refs: readonly string[],
  options: ResolveOptions,
  act: (sandbox: Sandbox, ref: string) => Promise<T>,
  call: Call,
): Promise<Outcome<T>[]> {
  if (refs.length === 0) {
    const sandbox = await resolveSandbox(context, undefined, call, options);
    return [await one(sandbox.name, async () => act(sandbox, sandbox.name), call)];
  }
  return doEach(refs, async (ref) => act(await resolveSandbox(context, ref, call, options), ref), call);
}

/** Does `act` to each of `refs`, some at a time; otherwise as {@link onEach}. */
export async function doEach<T>(
  refs: readonly string[],
  act: (ref: string) => Promise<T>,
  call: Call,
): Promise<Outcome<T>[]> {
  const wanted = [...new Set(refs)];
  const outcomes: Outcome<T>[] = new Array(wanted.length);
  const queue = wanted.entries();
  const worker = async () => {
    for (const [at, ref] of queue) outcomes[at] = await one(ref, () => act(ref), call);
  };
  await Promise.all(Array.from({ length: Math.min(AT_ONCE, wanted.length) }, worker));
  return outcomes;
}

async function one<T>(name: string, act: () => Promise<T>, call: Call): Promise<Outcome<T>> {
  try {
    return { name, value: await act() };
  } catch (error) {
    if (!(error instanceof SbxError) || call.signal.aborted) throw error;
    return { name, error };
  }
}

/** The error that ends the command: the only one as it is, or one of the first one's kind that counts them. */
export function failureOf<T>(outcomes: readonly Outcome<T>[]): SbxError | undefined {
  const failed = outcomes.flatMap((outcome) => (outcome.error === undefined ? [] : [outcome.error]));
  const [first] = failed;
  if (first === undefined || outcomes.length === 1) return first;
  return new SbxError(first.code, `${failed.length} of ${outcomes.length} failed`, {
    retryable: first.retryable,
    backend: first.backend,
  });
}
