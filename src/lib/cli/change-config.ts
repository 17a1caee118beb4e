/** Changing the config file on behalf of a command. */
import type { Config } from '../store/config.ts';
import type { Context } from './context.ts';

/** Applies `change` to what the file holds now; says so when another process keeps it waiting. Rejects like `store/config-write.ts`. */
export async function changeConfig(
  context: Pick<Context, 'paths' | 'signal' | 'logger'>,
  change: (present: Config) => Config,
): Promise<Config> {
  const [store, { describeHolder }] = await Promise.all([
    import('../store/config-write.ts'),
    import('../store/lock.ts'),
  ]);
  const { paths, signal, logger } = context;
  return store.changeConfig(paths.config, { signal }, change, (holder) =>
    logger.info(describeHolder(holder)),
  );
}
