/**
 * HTTP/1.1 as a client speaks it: a request's head as text, an answer's bytes as events. RFC 9112; what could be read in
 * two ways is refused. Bodies are handed on in the pieces they arrive in and never gathered, heads have a limit: no
 * length that the other end names allocates anything. Pure.
 */

/** By name in lower case; one that came several times has its values joined by commas. */
export type HttpHeaders = Readonly<Record<string, string | undefined>>;

export interface HttpHead {
  readonly status: number;
  readonly headers: HttpHeaders;
  /** Whether the connection can carry another request after this answer. */
  readonly persistent: boolean;
}

export interface AnswerEvents {
  /** Once, before any of the body. Status 101 ends the answer, and the rest of the bytes are no HTTP. */
  head(head: HttpHead): void;
  /** The next piece of the body: a view of what was pushed. */
  data(piece: Buffer): void;
}

export interface AnswerParser {
  /**
   * Takes the next bytes. Undefined while more are to come; once the answer is complete, how many of them were its own.
   * @throws MalformedHttp
   */
  push(chunk: Buffer): number | undefined;
  /** Whether the answer is complete when the connection ends here. */
  finish(): boolean;
}

/** What an answer replies to, as far as its form depends on it. */
export interface AnsweredRequest {
  readonly method: string;
  /** Whether the raw connection was asked for. */
  readonly upgrade: boolean;
}

/** The other end does not speak HTTP/1.1, or not as it should. */
export class MalformedHttp extends Error {}

/** Most bytes of a head with those that go before it; of the lines between two chunks; and of those after the last. */
const HEAD_LIMIT = 64 * 1024;

const LF = 0x0a;
const STATUS_LINE = /^HTTP\/1\.([01]) ([1-5]\d\d)(?: [\t\x20-\x7e\x80-\xff]*)?$/;
const FIELD = /^([!#$%&'*+.^_`|~\w-]+):[\t ]*([\t\x20-\x7e\x80-\xff]*?)[\t ]*$/;
/** Up to 15 digits: exact as a number. */
const LENGTH = /^\d{1,15}$/;
/** Up to 12 digits after zeros: exact as a number. */
const CHUNK_SIZE = /^0*([\da-f]{1,12})[\t ]*(?:;.*)?$/i;

/** The head of a request. @throws RangeError when a part of it would end a line or is not ASCII. */
export function requestHead(method: string, path: string, headers: Readonly<Record<string, string>>): string {
  if (!/^[\x21-\x7e]+$/.test(path)) throw new RangeError(`no path of a request: ${JSON.stringify(path)}`);
  const lines = Object.entries(headers).map(([name, value]) => {
    if (!/^[\w-]+$/.test(name) || !/^[\t\x20-\x7e]*$/.test(value))
      throw new RangeError(`no header of a request: ${JSON.stringify(name)}`);
    return `${name}: ${value}\r\n`;
  });
  return `${method} ${path} HTTP/1.1\r\n${lines.join('')}\r\n`;
}

/** A parser of one answer. */
export function answerParser(request: AnsweredRequest, events: AnswerEvents): AnswerParser {
  /** Takes the next line; undefined while the bytes are the body's. */
  let onLine: ((line: string) => void) | undefined = onStatus;
  /** The beginning of a line whose end has not come. */
  let begun = '';
  /** Bytes that the lines from here on may have. */
  let allowed = HEAD_LIMIT;
  /** Bytes to come of the body, or of this chunk; infinite when the connection's end is the body's. */
  let left = 0;
  let isChunked = false;
  let isOver = false;
  let version = '';
  let status = 0;
  let headers: Record<string, string> = Object.create(null);

  function onStatus(line: string): void {
    const [, minor, digits] = STATUS_LINE.exec(line) ?? [];
    if (minor === undefined) throw malformed('a status line', line);
    version = minor;
    status = Number(digits);
    headers = Object.create(null);
    onLine = onField;
  }

  function onField(line: string): void {
    if (line === '') {
      onHead();
      return;
    }
    // One that begins with a blank would go on with the line before it.
    const [, name, value = ''] = FIELD.exec(line) ?? [];
    if (name === undefined) throw malformed('a header', line);
    const key = name.toLowerCase();
    headers[key] = key in headers ? `${headers[key]}, ${value}` : value;
  }

  function onHead(): void {
    if (status < 200 && status !== 101) {
      onLine = onStatus;
      return;
    }
    if (status === 101 && !request.upgrade) throw new MalformedHttp('the connection was handed over unasked');
    const framing = framingOf(headers, version);
    const isBare = request.method === 'HEAD' || status < 200 || status === 204 || status === 304;
    const closes = /(^|[\t ,])close($|[\t ,])/i.test(headers.connection ?? '');
    isChunked = framing === 'chunked';
    if (isBare || framing === 0) isOver = true;
    else if (framing === 'chunked') onLine = onChunk;
    else {
      onLine = undefined;
      left = framing;
    }
    events.head({
      ...{ status, headers },
      persistent: version === '1' && !closes && (isBare || framing !== Number.POSITIVE_INFINITY),
    });
  }

  function onChunk(line: string): void {
    const [, digits] = CHUNK_SIZE.exec(line) ?? [];
    if (digits === undefined) throw malformed('the length of a chunk', line);
    left = Number.parseInt(digits, 16);
    onLine = left > 0 ? undefined : onTrailer;
    allowed = HEAD_LIMIT;
  }

  function onChunkEnd(line: string): void {
    if (line !== '') throw malformed('the end of a chunk', line);
    onLine = onChunk;
  }

  function onTrailer(line: string): void {
    if (line === '') isOver = true;
    else if (!FIELD.test(line)) throw malformed('a header', line);
  }

  /** @returns where the line, or what has come of it, ends in `chunk`. */
  function takeLine(chunk: Buffer, at: number, take: (line: string) => void): number {
    const end = chunk.indexOf(LF, at);
    const stop = end < 0 ? chunk.length : end + 1;
    allowed -= stop - at;
    if (allowed < 0) throw new MalformedHttp('the head of an answer is too long');
    begun += chunk.toString('latin1', at, stop);
    if (end < 0) return stop;
    if (!begun.endsWith('\r\n')) throw malformed('the end of a line', begun);
    const line = begun.slice(0, -2);
    begun = '';
    take(line);
    return stop;
  }

  /** @returns where the body, or what has come of it, ends in `chunk`. */
  function takeBody(chunk: Buffer, at: number): number {
    const piece = chunk.subarray(at, at + left);
    left -= piece.length;
    if (left === 0 && isChunked) onLine = onChunkEnd;
    else if (left === 0) isOver = true;
    events.data(piece);
    return at + piece.length;
  }

  return {
    push(chunk) {
      let at = 0;
      while (at < chunk.length && !isOver)
        at = onLine === undefined ? takeBody(chunk, at) : takeLine(chunk, at, onLine);
      return isOver ? at : undefined;
    },
    finish: () => isOver || left === Number.POSITIVE_INFINITY,
  };
}

/** How long a body is; infinite: as long as the connection. */
function framingOf(headers: HttpHeaders, version: string): number | 'chunked' {
  const { 'content-length': length, 'transfer-encoding': encoding } = headers;
  if (encoding !== undefined) {
    if (length !== undefined || version !== '1' || encoding.toLowerCase() !== 'chunked')
      throw malformed('the framing of the answer', [encoding, length].join(' '));
    return 'chunked';
  }
  if (length === undefined) return Number.POSITIVE_INFINITY;
  if (!LENGTH.test(length)) throw malformed('the length of the answer', length);
  return Number(length);
}

function malformed(what: string, text: string): MalformedHttp {
  return new MalformedHttp(`${what} is malformed: ${JSON.stringify(text.slice(0, 80))}`);
}
