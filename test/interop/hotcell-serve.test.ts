import { describeHotcellApi } from './hotcell/index.ts';
import { besides, startServe, whyUnavailable } from './hotcell-serve.ts';

describeHotcellApi({
  name: 'sbx serve',
  start: startServe,
  unavailable: await whyUnavailable(),
  strict: true,
  timeout: 60_000,
  openapi: { more: besides },
});
