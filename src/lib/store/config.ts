/**
 * What `config.json` holds, and the fast way to read it; `config-write.ts` changes it. The file may hold secrets, so
 * no error here quotes a value.
 */
import { join } from 'node:path';
import { isEnvName } from '../util/env-file.ts';
import { readJsonFile } from './json-file.ts';

/** A value of a setting; `env` names the variable that has it, for secrets. */
export type Setting = string | number | boolean | { readonly env: string };

/** A configured backend: its type, and its options by name. */
export interface BackendConfig {
  readonly type: string;
  readonly [option: string]: Setting;
}

/** Value of a flag that is not given; a list for flags that can be repeated. */
export type FlagDefault = string | number | boolean | readonly string[];

/** The configuration. Keys that this version does not know are kept. */
export interface Config {
  /** The default backend. */
  readonly backend?: string;
  readonly backends?: Readonly<Record<string, BackendConfig>>;
  /** By flag, without the dashes. */
  readonly defaults?: Readonly<Record<string, FlagDefault>>;
  readonly [unknown: string]: unknown;
}

/** Path of the file in the configuration folder. */
export function configPath(folder: string): string {
  return join(folder, 'config.json');
}

/** The configuration; empty when there is no file. @throws SbxError `failed` with the path for a file that is no good. */
export function readConfig(folder: string): Config {
  return readJsonFile(configPath(folder), validateConfig) ?? {};
}

/**
 * The config file's values for flags, as texts like an environment variable would give them. Verbs that repair or
 * explain the configuration get none, so that a broken file does not stop them.
 */
export function flagDefaults(folder: () => string, commandId: string): Readonly<Record<string, string>> {
  if (INDEPENDENT.has(commandId.split(':')[0] ?? '')) return {};
  const entries = Object.entries(readConfig(folder()).defaults ?? {});
  return Object.fromEntries(
    entries.map(([flag, value]) => [flag, isList(value) ? value.join('\n') : String(value)]),
  );
}

const INDEPENDENT: ReadonlySet<string> = new Set([
  'config',
  'doctor',
  'version',
  'completion',
  'capabilities',
]);

/** Throws an Error that says which key is wrong and how. */
export function validateConfig(value: unknown): Config {
  if (!isRecord(value)) throw new Error('it must hold a JSON object');
  const { backend, backends, defaults } = value;
  if (backend !== undefined && (typeof backend !== 'string' || !isBackendName(backend))) {
    throw new Error('"backend" must be the name of a backend');
  }
  if (backends !== undefined) {
    if (!isRecord(backends)) throw new Error('"backends" must be an object');
    for (const [name, settings] of Object.entries(backends)) checkBackend(name, settings);
  }
  if (defaults !== undefined) {
    if (!isRecord(defaults)) throw new Error('"defaults" must be an object');
    for (const [flag, preset] of Object.entries(defaults)) {
      if (!isPlain(preset) && !(Array.isArray(preset) && preset.every((each) => typeof each === 'string'))) {
        throw new Error(`"defaults.${flag}" must be a text, a number, true, false or a list of texts`);
      }
    }
  }
  return value as Config;
}

/** Whether `name` may name a backend: `BACKEND/NAME` must stay readable. */
export function isBackendName(name: string): boolean {
  return /^[a-zA-Z0-9][a-zA-Z0-9_.-]{0,62}$/.test(name) && name !== '__proto__';
}

/** Whether a setting is the name of an environment variable rather than a value. */
export function isEnvSetting(value: unknown): value is { readonly env: string } {
  return (
    isRecord(value) &&
    Object.keys(value).length === 1 &&
    typeof value.env === 'string' &&
    isEnvName(value.env)
  );
}

function checkBackend(name: string, settings: unknown): void {
  if (!isBackendName(name)) throw new Error('a key of "backends" is no name: letters, digits and ._- only');
  if (!isRecord(settings)) throw new Error(`"backends.${name}" must be an object`);
  if (typeof settings.type !== 'string') throw new Error(`"backends.${name}.type" is missing`);
  for (const [option, value] of Object.entries(settings)) {
    if (!isPlain(value) && !isEnvSetting(value)) {
      throw new Error(
        `"backends.${name}.${option}" must be a text, a number, true, false or {"env": "NAME"}`,
      );
    }
  }
}

function isPlain(value: unknown): value is string | number | boolean {
  return ['string', 'number', 'boolean'].includes(typeof value);
}

function isList(value: FlagDefault): value is readonly string[] {
  return Array.isArray(value);
}

function isRecord(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}
