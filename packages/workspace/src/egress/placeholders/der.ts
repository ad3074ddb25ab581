// Writes the few structures of a certificate in DER. Pure.

const tags = { boolean: 1, integer: 2, bits: 3, octets: 4, text: 12, time: 23, sequence: 48, set: 49 };

function node(tag: number, ...parts: Buffer[]): Buffer {
  const body = Buffer.concat(parts);
  if (body.length < 128) return Buffer.concat([Buffer.of(tag, body.length), body]);
  const length = Buffer.alloc(4);
  length.writeUInt32BE(body.length);
  const digits = length.subarray(length.findIndex((byte) => byte !== 0));
  return Buffer.concat([Buffer.of(tag, 128 + digits.length), digits, body]);
}

export const sequence = (...parts: Buffer[]): Buffer => node(tags.sequence, ...parts);
export const set = (...parts: Buffer[]): Buffer => node(tags.set, ...parts);
export const octets = (...parts: Buffer[]): Buffer => node(tags.octets, ...parts);
export const text = (value: string): Buffer => node(tags.text, Buffer.from(value));
export const isTrue = (): Buffer => node(tags.boolean, Buffer.of(255));
/** Unsigned: a first bit that is set would be a sign. */
export const integer = (bytes: Buffer): Buffer =>
  node(tags.integer, (bytes[0] ?? 0) > 127 ? Buffer.concat([Buffer.of(0), bytes]) : bytes);
/** `unused` bits at the end are padding. */
export const bits = (bytes: Buffer, unused = 0): Buffer => node(tags.bits, Buffer.of(unused), bytes);
/** Until 2049. */
export const time = (at: Date): Buffer =>
  node(
    tags.time,
    Buffer.from(
      at
        .toISOString()
        .replace(/[-:T]|\.\d+/g, "")
        .slice(2),
    ),
  );
/** Context-specific: `[number]`, with parts inside or bytes of its own. */
export const explicit = (number: number, ...parts: Buffer[]): Buffer => node(160 + number, ...parts);
export const implicit = (number: number, bytes: Buffer): Buffer => node(128 + number, bytes);

/** Object identifiers, written out. */
export const identifiers = {
  ecdsaWithSha256: Buffer.from("06082a8648ce3d040302", "hex"),
  commonName: Buffer.from("0603550403", "hex"),
  basicConstraints: Buffer.from("0603551d13", "hex"),
  keyUsage: Buffer.from("0603551d0f", "hex"),
  extendedKeyUsage: Buffer.from("0603551d25", "hex"),
  subjectName: Buffer.from("0603551d11", "hex"),
  subjectKey: Buffer.from("0603551d0e", "hex"),
  authorityKey: Buffer.from("0603551d23", "hex"),
  serverAuthentication: Buffer.from("06082b06010505070301", "hex"),
};
