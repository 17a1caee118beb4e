/** The one seam between the command line and the backends: what `Context.backends()` gives. */
import type { Backends } from '../backend/registry.ts';
import type { Context } from './context.ts';

export type { Backends };

/** Opens the configured backends; called at most once a command, and only when a command asks. */
export type OpenBackends = (context: Context) => Promise<Backends>;

/** Opens those of the config file; loads the list of types only then. */
export const openConfiguredBackends: OpenBackends = async ({ env, paths, settings, logger }) => {
  const [{ openBackends }, { catalog }] = await Promise.all([
    import('../backend/registry.ts'),
    import('../backends/catalog.ts'),
  ]);
  return openBackends({
    catalog,
    paths,
    env,
    preferred: settings.backend,
    notice: (line) => logger.info(line),
  });
};
