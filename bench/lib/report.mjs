/** From figures to a verdict and a line to read. */

/**
 * @typedef {object} Row
 * @property {string} id
 * @property {string} title
 * @property {'time' | 'rate' | 'absolute'} kind time: ours / theirs; rate: theirs / ours, which is ours / theirs in bytes
 *   a second; absolute: one figure
 * @property {string} [unit] of an absolute figure
 * @property {number} [bytes] that every run moves
 * @property {{ most?: number, least?: number, goal?: number }} [target] `goal`: where it is to go from `most`
 * @property {(world: import('./world.mjs').World) => Promise<Measured>} measure
 *
 * @typedef {object} Measured
 * @property {readonly string[]} [commands]
 * @property {readonly import('./measure.mjs').Figures[]} [figures] ours, then the peer's
 * @property {number} [value] of an absolute row
 * @property {string} [note]
 *
 * @typedef {object} Result
 * @property {string} id
 * @property {string} title
 * @property {'met' | 'missed' | 'no target' | 'not measured' | 'failed'} verdict
 * @property {number} [ratio]
 * @property {number} [cpuRatio] the same of user + system time, for machines on which others work too
 */

/** @param {Row} row @param {Measured} measured @returns {Result} */
export function resultOf(row, { commands = [], figures = [], value, note }) {
  const [ours, theirs] = figures;
  const ratio = theirs === undefined ? undefined : ratioOf(row, ours.wall, theirs.wall);
  const cpuRatio = theirs?.cpu > 0 ? ratioOf(row, ours.cpu, theirs.cpu) : undefined;
  return {
    id: row.id,
    title: row.title,
    kind: row.kind,
    unit: row.unit,
    bytes: row.bytes,
    commands,
    figures,
    value,
    ratio,
    cpuRatio,
    target: row.target,
    verdict: verdictOf(row, row.kind === 'absolute' ? value : ratio, ours),
    note,
  };
}

function ratioOf({ kind }, ours, theirs) {
  return kind === 'rate' ? theirs / ours : ours / theirs;
}

function verdictOf({ target }, value, ours) {
  if (value === undefined) return ours === undefined || target !== undefined ? 'not measured' : 'no target';
  if (target === undefined) return 'no target';
  const met = value <= (target.most ?? Number.POSITIVE_INFINITY) && value >= (target.least ?? 0);
  return met ? 'met' : 'missed';
}

/** @param {Result} result @returns {string} */
export function textOf(result) {
  const { id, title, verdict, note, commands = [] } = result;
  const lines = [
    `${id.padEnd(20)} ${[summaryOf(result), verdict].filter(Boolean).join('   ')}`,
    `  ${title}`,
  ];
  for (const [index, command] of commands.entries()) {
    lines.push(`  ${figureOf(result, index).padEnd(34)} ${command}`);
  }
  if (note !== undefined) lines.push(`  note: ${note}`);
  return `${lines.join('\n')}\n`;
}

function summaryOf({ ratio, cpuRatio, value, unit, target }) {
  const parts = [];
  if (value !== undefined) parts.push(`${number(value)} ${unit}`);
  if (ratio !== undefined) parts.push(`ratio ${ratio.toFixed(2)}`);
  if (cpuRatio !== undefined) parts.push(`(cpu ${cpuRatio.toFixed(2)})`);
  if (target?.most !== undefined) parts.push(`target ≤ ${target.most}`);
  if (target?.least !== undefined) parts.push(`target ≥ ${target.least}`);
  if (target?.goal !== undefined) parts.push(`(goal ≤ ${target.goal})`);
  return parts.join(' ');
}

function figureOf({ figures = [], bytes }, index) {
  const figure = figures[index];
  if (figure === undefined) return '';
  const rate = bytes === undefined ? '' : `${number(bytes / 1000 / figure.wall)} MB/s, `;
  const cpu = figure.cpu === undefined ? '' : `, cpu ${number(figure.cpu)}`;
  return `${rate}${number(figure.wall)} ms (median ${number(figure.median)}${cpu})`;
}

function number(value) {
  return value >= 100 ? value.toFixed(0) : value.toFixed(value >= 10 ? 1 : 2);
}
