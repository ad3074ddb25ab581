// The string encoding of the ssh protocol: a length in four bytes, then the bytes. Pure.

export function sshString(content: string | Buffer): Buffer {
  const bytes = Buffer.from(content);
  const length = Buffer.alloc(4);
  length.writeUInt32BE(bytes.length);
  return Buffer.concat([length, bytes]);
}

/** Reads values in sequence. Each call throws RangeError if too few bytes remain. */
export interface SshReader {
  number(): number;
  string(): Buffer;
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
  };
}
