/** Opens connections to an engine, whatever its address. */
import { connect as connectSocket } from 'node:net';
import type { Duplex } from 'node:stream';
import type { SecureContext } from 'node:tls';
import { SbxError } from '../../errors.ts';
import type { EngineAddress, TlsFiles } from './address.ts';

/** What opens a connection to `address`; loads only what that kind needs. `auth` for keys that are no good. */
export async function connector(
  address: EngineAddress,
  env: Readonly<Record<string, string | undefined>>,
  backend: string,
): Promise<() => Duplex> {
  switch (address.kind) {
    case 'socket':
      return () => connectSocket({ path: address.path, allowHalfOpen: true });
    case 'tcp': {
      const { host, port, tls } = address;
      if (tls === undefined) return () => connectSocket({ host, port, allowHalfOpen: true, noDelay: true });
      return secureConnector(host, port, tls, backend);
    }
    case 'program': {
      const { connectProgram } = await import('../../transport/program-connection.ts');
      return () => connectProgram(address.argv, env);
    }
  }
}

async function secureConnector(
  host: string,
  port: number,
  files: TlsFiles,
  backend: string,
): Promise<() => Duplex> {
  const { connect } = await import('node:tls');
  const { isIP } = await import('node:net');
  const options = {
    ...{ host, port, secureContext: await secureContext(files, backend) },
    rejectUnauthorized: files.verify,
    ...(isIP(host) === 0 ? { servername: host } : {}),
  };
  return () => connect(options).setNoDelay();
}

/** `auth` when the files cannot be read, or are no certificates and key that belong together. */
async function secureContext({ ca, cert, key, folder }: TlsFiles, backend: string): Promise<SecureContext> {
  const { createSecureContext } = await import('node:tls');
  const { readFileSync } = await import('node:fs');
  const read = (path: string | undefined) => (path === undefined ? undefined : readFileSync(path));
  try {
    return createSecureContext({ ca: read(ca), cert: read(cert), key: read(key) });
  } catch (cause) {
    const why = cause instanceof Error ? cause.message : String(cause);
    throw new SbxError('auth', `cannot use the keys for TLS in ${folder}: ${why}`, {
      backend,
      hint: 'ca.pem, cert.pem and key.pem there have to be PEM files that you may read, the key without a password',
      cause,
    });
  }
}
