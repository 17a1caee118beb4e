/** What a plain server says of a sandbox: it knows no names, so a label has them. */
import type { RemoteRecord } from '../record.ts';

/** The label that has a sandbox's name. */
export const NAME_LABEL = 'sbx.name';

/** The record with its name in its place. */
export function namedRecord(record: RemoteRecord): RemoteRecord {
  if (record.name !== undefined) return record;
  const { [NAME_LABEL]: name, ...labels } = record.labels;
  return { ...record, name, labels };
}
