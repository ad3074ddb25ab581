// Reads which host a client asks for in the first bytes of its connection: TLS names it in clear, HTTP in its Host header. Pure.

export type FirstBytes =
  /** More bytes are needed. */
  | { kind: "part" }
  /** Null: the client names no host. */
  | { kind: "tls"; name: string | null }
  | { kind: "http"; host: string | null }
  /** HTTP/2 without TLS: every request in it may name another host, in compressed headers. */
  | { kind: "http2" }
  /** Begins like TLS or HTTP, and is neither. */
  | { kind: "invalid" }
  | { kind: "other" };

const maxHeadBytes = 64 * 1024;
const handshakeRecord = 22;
const clientHello = 1;
const serverNameExtension = 0;

export function readFirstBytes(bytes: Buffer): FirstBytes {
  if (bytes.length === 0) return { kind: "part" };
  if (bytes[0] === handshakeRecord) return readTls(bytes);
  // Servers pass over empty lines before a request.
  const text = bytes
    .subarray(0, maxHeadBytes)
    .toString("latin1")
    .replace(/^[\r\n]+/, "");
  if (text === "") return { kind: bytes.length < maxHeadBytes ? "part" : "invalid" };
  if (text.startsWith(http2Preface) || http2Preface.startsWith(text))
    return text.length < http2Preface.length ? { kind: "part" } : { kind: "http2" };
  if (isMethod.test(text)) return { kind: "part" };
  return startsWithMethod.test(text) ? readHttp(text) : { kind: "other" };
}

const http2Preface = "PRI * HTTP/2.0";
/** Servers are lenient: some read methods in lower case, or of their own. */
const method = /[\w!#$%&'*+.^`|~-]{1,40}/.source;
const isMethod = new RegExp(`^${method}$`);
const startsWithMethod = new RegExp(`^${method} `);
const requestLine = new RegExp(`^${method} \\S+ HTTP/\\d\\.\\d$`, "i");

function readHttp(text: string): FirstBytes {
  const [line = ""] = text.split(/\r?\n/, 1);
  // Lines of text begin other protocols too.
  if (text.includes("\n") && !requestLine.test(line)) return { kind: "other" };
  const end = text.search(/\n\r?\n/);
  if (end < 0) return text.length < maxHeadBytes ? { kind: "part" } : { kind: "invalid" };
  const head = text.slice(0, end + 1);
  // Some servers end a line there, and would read a Host header that is none for others.
  if (/\r(?!\n)|(?<!\r)\n/.test(head)) return { kind: "invalid" };
  const hosts = [...head.matchAll(/\r\nhost[ \t]*:[ \t]*([^\r\n]*)/gi)].map(([, host = ""]) => host.trim());
  return hosts.length > 1 ? { kind: "invalid" } : { kind: "http", host: hosts[0] ?? null };
}

function readTls(bytes: Buffer): FirstBytes {
  const handshake = joinRecords(bytes);
  if (handshake === undefined) return { kind: "invalid" };
  if (handshake.length < 4) return isTooLong(bytes);
  const length = handshake.readUIntBE(1, 3);
  if (handshake[0] !== clientHello || length > maxHeadBytes) return { kind: "invalid" };
  if (handshake.length < 4 + length) return isTooLong(bytes);
  try {
    return { kind: "tls", name: serverName(handshake.subarray(4, 4 + length)) };
  } catch {
    return { kind: "invalid" };
  }
}

const isTooLong = (bytes: Buffer): FirstBytes => ({ kind: bytes.length > 2 * maxHeadBytes ? "invalid" : "part" });

/** A client may split its first message over several records. Undefined if there are others. */
function joinRecords(bytes: Buffer): Buffer | undefined {
  const parts: Buffer[] = [];
  for (let at = 0; at < bytes.length; ) {
    if (bytes[at] !== handshakeRecord) return parts.length > 0 ? Buffer.concat(parts) : undefined;
    if (at + 1 < bytes.length && bytes[at + 1] !== 3) return undefined;
    if (at + 5 > bytes.length) break;
    const end = at + 5 + bytes.readUInt16BE(at + 3);
    parts.push(bytes.subarray(at + 5, Math.min(end, bytes.length)));
    at = end;
  }
  return Buffer.concat(parts);
}

/** Throws RangeError where a length leads outside of the message. */
function serverName(hello: Buffer): string | null {
  let at = 2 + 32;
  at += 1 + hello.readUInt8(at);
  at += 2 + hello.readUInt16BE(at);
  at += 1 + hello.readUInt8(at);
  if (at === hello.length) return null;
  const end = at + 2 + hello.readUInt16BE(at);
  if (end !== hello.length) throw new RangeError("extensions");
  let name: string | null = null;
  for (at += 2; at < end; ) {
    const type = hello.readUInt16BE(at);
    const length = hello.readUInt16BE(at + 2);
    if (type === serverNameExtension) {
      if (name !== null) throw new RangeError("two names");
      name = nameIn(hello.subarray(at + 4, at + 4 + length));
    }
    at += 4 + length;
  }
  return name;
}

function nameIn(extension: Buffer): string {
  const length = extension.readUInt16BE(3);
  if (extension.readUInt16BE(0) !== 3 + length || extension.length !== 5 + length) throw new RangeError("name");
  return extension.subarray(5).toString("latin1");
}
