/** What making a sandbox says and uses, from the context: shared by `create` and `run`. */
import type { CreateTools } from '../ops/create.ts';
import { visible } from '../ui/text.ts';
import type { Context } from './context.ts';

/** Progress and the output of git and setup commands go to stderr. */
export async function createTools(
  context: Pick<Context, 'backends' | 'env' | 'logger' | 'io'>,
): Promise<CreateTools> {
  const { having } = await context.backends();
  return {
    having,
    git: { env: context.env },
    progress: (line) => context.logger.info(visible(line)),
    output: (data) => context.io.stderr.write(data),
  };
}
