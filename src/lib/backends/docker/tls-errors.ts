/** How TLS fails between sbx and an engine, by the codes of Node.js (nodejs.org, "X509 certificate error codes") and OpenSSL. */
import { X509Certificate } from 'node:crypto';
import { readFileSync } from 'node:fs';
import type { SbxErrorDetails } from '../../errors.ts';
import type { TlsFiles } from './address.ts';

/** Its certificate is none that `ca.pem` vouches for, or not its own, or not of this time. */
const UNTRUSTED = [
  'CERT_HAS_EXPIRED',
  'CERT_NOT_YET_VALID',
  'CERT_REJECTED',
  'CERT_SIGNATURE_FAILURE',
  'CERT_UNTRUSTED',
  'DEPTH_ZERO_SELF_SIGNED_CERT',
  'ERR_TLS_CERT_ALTNAME_INVALID',
  'HOSTNAME_MISMATCH',
  'INVALID_CA',
  'INVALID_PURPOSE',
  'SELF_SIGNED_CERT_IN_CHAIN',
  'UNABLE_TO_GET_ISSUER_CERT',
  'UNABLE_TO_GET_ISSUER_CERT_LOCALLY',
  'UNABLE_TO_VERIFY_LEAF_SIGNATURE',
];
/** It tells us that ours is missing or no good. */
const REFUSED = /^ERR_SSL_.*ALERT_(.*CERTIFICATE.*|UNKNOWN_CA|ACCESS_DENIED)$/;
/** What came is no TLS, or none that both know. */
const NOT_TLS = ['EPROTO', 'ERR_SSL_WRONG_VERSION_NUMBER', 'ERR_SSL_PACKET_LENGTH_TOO_LONG'];

/** What failed, why, and what to do. */
export interface TlsFailure extends Required<Pick<SbxErrorDetails, 'hint'>> {
  readonly code: 'auth' | 'unreachable';
  readonly why: string;
}

/** Undefined when TLS is not the reason. */
export function tlsFailure(error: Error, files: TlsFiles, backend: string): TlsFailure | undefined {
  const code = 'code' in error ? String(error.code) : '';
  const set = `sbx config set backends.${backend}.cert-path FOLDER`;
  if (UNTRUSTED.includes(code)) {
    const known = files.ca ?? 'the certificates of this machine';
    return {
      code: 'unreachable',
      // What follows the semicolon is advice for programmers.
      why: `it cannot prove with ${known} who it is: ${error.message.split(';', 1)[0]}`,
      hint: `name the folder with the ca.pem of that engine: ${set}`,
    };
  }
  if (REFUSED.test(code)) {
    return {
      code: 'auth',
      why:
        files.cert === undefined
          ? 'it wants a certificate of ours'
          : `it does not take ${files.cert}${outOfDate(files.cert)}`,
      hint: `name the folder with a cert.pem and key.pem that it knows: ${set}`,
    };
  }
  if (NOT_TLS.includes(code)) {
    return {
      code: 'unreachable',
      why: 'it speaks no TLS there',
      hint: `name its port with TLS, or do without: unset DOCKER_TLS_VERIFY DOCKER_TLS; sbx config unset backends.${backend}.cert-path`,
    };
  }
  return undefined;
}

/** What is wrong with the time of a certificate, as the end of a sentence. */
function outOfDate(path: string): string {
  const { validFromDate, validToDate } = new X509Certificate(readFileSync(path));
  const now = new Date();
  if (validToDate < now) return `, which expired at ${validToDate.toISOString()}`;
  return validFromDate > now ? `, which is good from ${validFromDate.toISOString()} on` : '';
}
