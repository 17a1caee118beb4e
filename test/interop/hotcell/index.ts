/**
 * What every server of the hotcell API must do, asserted over the wire. A server joins with a file of at most twenty lines
 * that calls {@link describeHotcellApi}. To add a topic: a file here that exports `somethingTopic(harness)`, and a line in
 * `topics`. What is taken as given is in docs/protocol.md.
 */
import { afterAll, beforeAll, describe } from 'vitest';
import { requireOrSkip } from '../../support/require.ts';
import { chosenTopics } from '../../support/topics.ts';
import { activityTopic } from './activity.ts';
import { apiKeyTopic } from './api-key.ts';
import { backupsTopic } from './backups.ts';
import { bodiesTopic } from './bodies.ts';
import { capacityTopic } from './capacity.ts';
import { codeTopic } from './code.ts';
import { createTopic } from './create.ts';
import { egressPolicyTopic } from './egress-policy.ts';
import { egressTokensTopic } from './egress-tokens.ts';
import { egressWiringTopic } from './egress-wiring.ts';
import { envTopic } from './env.ts';
import { execTopic } from './exec.ts';
import { exposeTopic } from './expose.ts';
import { filesTopic } from './files.ts';
import { createHarness, type Harness, type HotcellOptions } from './harness.ts';
import { hostsTopic } from './hosts.ts';
import { infoTopic } from './info.ts';
import { limitsTopic } from './limits.ts';
import { logsTopic } from './logs.ts';
import { metricsTopic } from './metrics.ts';
import { openApiTopic } from './openapi.ts';
import { powerTopic } from './power.ts';
import { processesTopic } from './processes.ts';
import { restartTopic } from './restart.ts';
import { sandboxesTopic } from './sandboxes.ts';
import { sessionsTopic } from './sessions.ts';
import { terminalTopic } from './terminal.ts';
import { tracesTopic } from './traces.ts';
import { unknownTopic } from './unknown.ts';
import { waitPortTopic } from './wait-port.ts';
import { watchTopic } from './watch.ts';

export type { Feature, HotcellOptions } from './harness.ts';
export type { HotcellServer, Settings } from './server.ts';

type Topic = readonly [title: string, define: (harness: Harness) => void];

const topics: readonly Topic[] = [
  ['health, info and dashboard', infoTopic],
  ['API key', apiKeyTopic],
  ['names of the host', hostsTopic],
  ['bodies', bodiesTopic],
  ['what there is not', unknownTopic],
  ['sandboxes', sandboxesTopic],
  ['create', createTopic],
  ['limits', limitsTopic],
  ['stop, start, pause', powerTopic],
  ['activity', activityTopic],
  ['exec', execTopic],
  ['sessions', sessionsTopic],
  ['environment', envTopic],
  ['files', filesTopic],
  ['watch', watchTopic],
  ['processes', processesTopic],
  ['logs', logsTopic],
  ['wait-port', waitPortTopic],
  ['expose', exposeTopic],
  ['terminal', terminalTopic],
  ['backups', backupsTopic],
  ['code', codeTopic],
  ['egress policies', egressPolicyTopic],
  ['egress tokens', egressTokensTopic],
  ['egress of new sandboxes', egressWiringTopic],
  ['metrics', metricsTopic],
  ['capacity', capacityTopic],
  ['traces', tracesTopic],
  ['after a restart', restartTopic],
  ['OpenAPI', openApiTopic],
];

const TIMEOUT = 20_000;

/** Defines the suite for one server. */
export function describeHotcellApi(options: HotcellOptions): void {
  const { name, unavailable, timeout = TIMEOUT } = options;
  if (unavailable !== undefined) {
    requireOrSkip(false, unavailable)(`the hotcell API of ${name}`, () => undefined);
    return;
  }
  describe(`the hotcell API of ${name}`, { timeout }, () => {
    const harness = createHarness(options);
    beforeAll(() => harness.open(), timeout);
    afterAll(() => harness.close(), timeout);
    for (const [title, define] of chosenTopics(topics, options.topics))
      describe(title, () => define(harness));
  });
}
