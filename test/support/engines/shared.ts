/** The engine that tests share: the one that .ci/run started, or that this run of tests has of its own. */
import { asRoot } from '../require.ts';
import { engineNeeds } from './engine.ts';

/** Its address, such as `unix:///tmp/…`; undefined where there is none. */
export const engineHost = process.env.SBX_TEST_DOCKER;

/** Why there is none. */
export const noEngine: string | undefined =
  engineHost === undefined
    ? `an engine, for which this machine lacks ${engineNeeds() ?? 'nothing'}`
    : undefined;

/** `test` where there is an engine. */
export const onEngine = asRoot(engineHost !== undefined, noEngine ?? '');
