/**
 * The conformance suite: what every backend must do, asserted by its effects. A backend joins with a file of at most twenty
 * lines that calls {@link describeConformance}. A capability that the manifest does not name is not tested, but must be absent.
 * To add a topic: a file here that exports `somethingConformance(harness)`, and a line in `topics`.
 */
import { afterAll, beforeAll, describe, test } from 'vitest';
import { requireOrSkip } from '../support/require.ts';
import { chosenTopics } from '../support/topics.ts';
import { agreementConformance } from './agreement.ts';
import { argvConformance } from './argv.ts';
import { filesConformance } from './files.ts';
import { type ConformanceOptions, createHarness, type Harness } from './harness.ts';
import { lifecycleConformance } from './lifecycle.ts';
import { limitsConformance } from './limits.ts';
import { placeConformance } from './place.ts';
import { portsConformance } from './ports.ts';
import { powerConformance } from './power.ts';
import { processesConformance } from './processes.ts';
import { sessionsConformance } from './sessions.ts';
import { signalsConformance } from './signals.ts';
import { snapshotsConformance } from './snapshots.ts';
import { streamsConformance } from './streams.ts';
import { terminateConformance } from './terminate.ts';

export type { ConformanceOptions, Feature, Harness } from './harness.ts';

/** A topic; it is defined only where the backend has all of its capabilities. */
type Topic = readonly [
  title: string,
  define: (harness: Harness) => void,
  ...needs: Parameters<Harness['has']>[0][],
];

const topics: readonly Topic[] = [
  ['what it says it can do', agreementConformance],
  ['streams of a command', streamsConformance],
  ['arguments and exit codes', argvConformance],
  ['environment, workdir and user', placeConformance],
  ['signals', signalsConformance],
  ['ending a command', terminateConformance],
  ['lifecycle', lifecycleConformance],
  ['limits', limitsConformance],
  ['stop, pause, rename, fork', powerConformance],
  ['snapshots', snapshotsConformance, 'snapshots'],
  ['ports', portsConformance],
  ['background processes', processesConformance, 'processes'],
  ['sessions', sessionsConformance, 'sessions'],
  ['files', filesConformance, 'files', 'archive'],
];

const TIMEOUT = 20_000;

/** Defines the suite for one backend. */
export function describeConformance(options: ConformanceOptions): void {
  const { name, unavailable, timeout = TIMEOUT } = options;
  if (unavailable !== undefined) {
    requireOrSkip(false, unavailable)(`conformance of ${name}`, () => undefined);
    return;
  }
  describe(`conformance of ${name}`, { timeout }, () => {
    const harness = createHarness(options);
    beforeAll(() => harness.open(), timeout);
    afterAll(() => harness.close(), timeout);
    for (const [title, define, ...needs] of chosenTopics(topics, options.topics)) {
      describe(title, () => {
        const missing = needs.filter((capability) => !harness.has(capability));
        if (missing.length === 0) define(harness);
        else test.skip(`has no ${missing.join(', ')}`, () => undefined);
      });
    }
  });
}
