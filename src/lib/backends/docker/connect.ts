/** Opens connections to an engine, whatever its address. */
import { connect as connectSocket } from 'node:net';
import type { Duplex } from 'node:stream';
import type { EngineAddress, TlsFiles } from './address.ts';

/** What opens a connection to `address`; loads only what that kind needs. */
export async function connector(
  address: EngineAddress,
  env: Readonly<Record<string, string | undefined>>,
): Promise<() => Duplex> {
  switch (address.kind) {
    case 'socket':
      return () => connectSocket({ path: address.path, allowHalfOpen: true });
    case 'tcp': {
      const { host, port, tls } = address;
      if (tls === undefined) return () => connectSocket({ host, port, allowHalfOpen: true, noDelay: true });
      return secureConnector(host, port, tls);
    }
    case 'program': {
      const { connectProgram } = await import('../../transport/program-connection.ts');
      return () => connectProgram(address.argv, env);
    }
  }
}

async function secureConnector(host: string, port: number, files: TlsFiles): Promise<() => Duplex> {
  const { connect } = await import('node:tls');
  const { readFileSync } = await import('node:fs');
  const { isIP } = await import('node:net');
  const read = (path: string | undefined) => (path === undefined ? undefined : readFileSync(path));
  const options = {
    ...{ host, port, ca: read(files.ca), cert: read(files.cert), key: read(files.key) },
    rejectUnauthorized: files.verify,
    ...(isIP(host) === 0 ? { servername: host } : {}),
  };
  return () => connect(options).setNoDelay();
}
