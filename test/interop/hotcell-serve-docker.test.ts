import { afterAll } from 'vitest';
import { dockerWith } from '../conformance/docker-engine.ts';
import { closedNetwork } from '../support/engines/closed-network.ts';
import { describeHotcellApi } from './hotcell/index.ts';
import { besides, serving } from './hotcell-serve.ts';

const image = 'sbx-test/debian-dtach';
const host = process.env.SBX_TEST_DOCKER;
const { backend, unavailable } = await dockerWith({ image, pipes: true });
const closed = host === undefined || unavailable !== undefined ? undefined : await closedNetwork(host);
afterAll(() => closed?.[Symbol.asyncDispose]());
const gateway = { advertise: closed?.gateway, network: closed?.name };

describeHotcellApi({
  name: 'sbx serve over docker',
  start: (settings) => serving({ open: () => backend, image, gateway }, settings),
  unavailable,
  lacks: ['javascript'],
  strict: true,
  topics: [
    ...[
      'health, info and dashboard',
      'create',
      'limits',
      'stop, start, pause',
      'activity',
      'exec',
      'sessions',
    ],
    ...[
      'environment',
      'files',
      'watch',
      'processes',
      'logs',
      'wait-port',
      'expose',
      'terminal',
      'backups',
      'code',
    ],
    ...['egress of new sandboxes', 'metrics', 'after a restart'],
  ],
  timeout: 60_000,
  openapi: { more: besides },
});
