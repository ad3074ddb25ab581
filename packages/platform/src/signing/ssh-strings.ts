// Texts and bytes as ssh writes them: their length in four bytes, then themselves. Pure.

export function sshString(content: string | Buffer): Buffer {
  const bytes = Buffer.from(content);
  const length = Buffer.alloc(4);
  length.writeUInt32BE(bytes.length);
  return Buffer.concat([length, bytes]);
}

/** Reads one after the other. Each throws RangeError where there is less than it needs. */
export interface SshReader {
  number(): number;
  string(): Buffer;
}

export function readSsh(bytes: Buffer): SshReader {
  let at = 0;
  const number = (): number => {
    const value = bytes.readUInt32BE(at);
    at += 4;
    return value;
  };
  return {
    number,
    string() {
      const length = number();
      if (length > bytes.length - at) throw new RangeError("a length is longer than what follows");
      at += length;
      return bytes.subarray(at - length, at);
    },
  };
}
