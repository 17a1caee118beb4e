/** Looks up who a command shall run as, on this machine. */
import { readFile } from 'node:fs/promises';
import { SbxError } from '../../errors.ts';

/** Ids for `name` or `uid[:gid]`. `failed` when there is no such user, or this process may not become it. */
export async function lookUpUser(user: string): Promise<{ uid: number; gid: number }> {
  const rows = (await readFile('/etc/passwd', 'utf8')).split('\n').map((line) => line.split(':'));
  const ids = /^(\d+)(?::(\d+))?$/.exec(user);
  const row = rows.find((fields) => (ids === null ? fields[0] === user : fields[2] === ids[1]));
  if (ids === null && row === undefined) throw new SbxError('failed', `there is no user '${user}'`);
  const uid = Number(ids?.[1] ?? row?.[2]);
  const gid = Number(ids?.[2] ?? row?.[3] ?? uid);
  const own = process.getuid?.();
  if (own !== 0 && own !== uid) throw new SbxError('failed', `only root can run commands as '${user}'`);
  return { uid, gid };
}
