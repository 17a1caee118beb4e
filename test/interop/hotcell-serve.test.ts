import { describeHotcellApi } from './hotcell/index.ts';

import { startServe, whyUnavailable } from './hotcell-serve.ts';

describeHotcellApi({
  name: 'sbx serve',
  start: startServe,
  unavailable: await whyUnavailable(),
  strict: true,
  timeout: 60_000,
  openapi: {
    more: [
      'GET /openapi.json',
      'POST /sandboxes/:id/calls/:name',
      'POST /sandboxes/:id/lists/:name',
      ...['GET', 'PUT'].flatMap((method) => [
        `${method} /sandboxes/:id/content`,
        `${method} /sandboxes/:id/archive`,
      ]),
      ...['exec', 'dial', 'attach'].map((name) => `GET /sandboxes/:id/links/${name}`),
      'GET /links/create',
    ],
  },
});
