// The string encoding of the ssh protocol: a length in four bytes, then the bytes. Pure.

export function sshString(content: string | Buffer): Buffer {
  const bytes = Buffer.from(content);
  return Buffer.concat([sshNumber(bytes.length), bytes]);
}

export function sshNumber(value: number): Buffer {
  const bytes = Buffer.alloc(4);
  bytes.writeUInt32BE(value);
  return bytes;
}

/** A positive integer, without leading zeros except for one that keeps it positive. */
export function sshInteger(bytes: Buffer): Buffer {
  const start = bytes.findIndex((byte) => byte !== 0);
  const digits = start < 0 ? Buffer.alloc(0) : bytes.subarray(start);
  return sshString((digits[0] ?? 0) & 0x80 ? Buffer.concat([Buffer.of(0), digits]) : digits);
}

/** Reads values in sequence. Each call throws RangeError if too few bytes remain. */
export interface SshReader {
  number(): number;
  string(): Buffer;
  isAtEnd(): boolean;
}

export function readSsh(bytes: Buffer): SshReader {
  let offset = 0;
  const number = (): number => {
    const value = bytes.readUInt32BE(offset);
    offset += 4;
    return value;
  };
  return {
    number,
    string() {
      const length = number();
      if (length > bytes.length - offset) throw new RangeError("a length is longer than what follows");
      offset += length;
      return bytes.subarray(offset - length, offset);
    },
    isAtEnd: () => offset === bytes.length,
  };
}
