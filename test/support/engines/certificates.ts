/** Certificates for engines with TLS, made by openssl and good for a day. */
import { execFileSync } from 'node:child_process';
import { copyFileSync, mkdirSync, writeFileSync } from 'node:fs';
import { lacking } from '../programs.ts';

/** What this machine lacks to make some; undefined when it has everything. */
export const certificateNeeds: string | undefined = lacking('openssl');

/** What a certificate is for, and for how many days; -1: it is over since yesterday. */
interface Purpose {
  readonly use: 'serverAuth' | 'clientAuth';
  readonly days?: number;
}

/**
 * An authority of its own in the new `folder`: `ca.pem` there, and a folder with `ca.pem`, `cert.pem` and `key.pem` for each of
 * `purposes`.
 */
export function makeCertificates(folder: string, purposes: Readonly<Record<string, Purpose>>): void {
  mkdirSync(folder);
  const openssl = (...args: readonly string[]) =>
    execFileSync('openssl', args, { cwd: folder, stdio: 'pipe' });
  const newKey = ['-newkey', 'ec', '-pkeyopt', 'ec_paramgen_curve:P-256', '-nodes'];
  openssl(
    'req',
    '-x509',
    ...newKey,
    '-keyout',
    'ca-key.pem',
    '-out',
    'ca.pem',
    '-subj',
    '/CN=sbx',
    '-days',
    '1',
  );
  for (const [name, { use, days = 1 }] of Object.entries(purposes)) {
    mkdirSync(`${folder}/${name}`);
    copyFileSync(`${folder}/ca.pem`, `${folder}/${name}/ca.pem`);
    writeFileSync(`${folder}/${name}/extensions`, `extendedKeyUsage=${use}\nsubjectAltName=IP:127.0.0.1\n`);
    const file = (each: string) => `${name}/${each}`;
    openssl(
      'req',
      ...newKey,
      '-keyout',
      file('key.pem'),
      '-out',
      file('request.pem'),
      '-subj',
      `/CN=${name}`,
    );
    openssl(
      ...[
        'x509',
        '-req',
        '-in',
        file('request.pem'),
        '-CA',
        'ca.pem',
        '-CAkey',
        'ca-key.pem',
        '-CAcreateserial',
      ],
      ...['-days', String(days), '-extfile', file('extensions'), '-out', file('cert.pem')],
    );
  }
}
