/** How settings are shown. */
import type { ConfigEntry } from '../ops/config.ts';
import type { View } from './output.ts';

/** Key and value; a variable's name is shown as `$NAME`, a secret not at all. */
export const configView: View<ConfigEntry> = {
  name: ({ key }) => key,
  columns: [
    { header: 'KEY', value: ({ key }) => key, whole: true },
    { header: 'VALUE', value: settingText },
  ],
};

/** A setting in one line. */
export function settingText({ value, hidden }: Pick<ConfigEntry, 'value' | 'hidden'>): string {
  if (hidden) return '(hidden)';
  if (Array.isArray(value)) return value.join(', ');
  if (typeof value === 'object' && value !== null && 'env' in value) return `$${String(value.env)}`;
  return String(value);
}
