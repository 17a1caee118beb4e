/** Ports of a sandbox that shares this machine's network are this machine's ports. */
import { createServer } from 'node:net';
import { dialError, listenError } from '../../backend/derived/dial-error.ts';
import { connectTcp } from '../../transport/connect.ts';
import type { Dialer } from './dial.ts';

export const hostDialer: Dialer = {
  async dial(target, call) {
    try {
      return await connectTcp(target, { signal: call.signal });
    } catch (error) {
      throw dialError(target, error, call.signal);
    }
  },
  listen(target, onConnection, call) {
    const server = createServer({ allowHalfOpen: true, noDelay: true }, onConnection);
    return new Promise((resolve, reject) => {
      server.once('error', (error) => reject(listenError(target, error, call.signal)));
      server.listen({ port: target.port, host: target.host ?? '127.0.0.1', signal: call.signal }, () => {
        const address = server.address();
        const port = address !== null && typeof address === 'object' ? address.port : target.port;
        resolve({
          port,
          async close() {
            // Connections live on; their owner ends them.
            server.close();
          },
        });
      });
    });
  },
};
