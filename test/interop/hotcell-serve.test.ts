import { describeHotcellApi } from './hotcell/index.ts';
import { startServe, whyUnavailable } from './hotcell-serve.ts';

describeHotcellApi({
  name: 'sbx serve',
  start: startServe,
  unavailable: await whyUnavailable(),
  strict: true,
});
