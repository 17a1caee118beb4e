/** What making a sandbox uses, from the context: shared by `create` and `run`. */
import type { CreateTools } from '../ops/create.ts';
import type { Progress } from '../ops/progress.ts';
import type { Context } from './context.ts';

/** Steps, and the output of git and setup commands, go to `progress`. */
export async function createTools(
  context: Pick<Context, 'backends' | 'env'>,
  progress: Progress,
): Promise<CreateTools> {
  const { having } = await context.backends();
  return { having, git: { env: context.env }, progress };
}
