// Which key of a service wrapped a data key, in front of what it made of it. Without a label, the key of a file did.
const marked = 2;
const idBytes = 8;

const idOf = (fingerprint: string): Buffer => Buffer.from(fingerprint, "hex").subarray(0, idBytes);

/** What every data key begins with that this key wrapped. */
export const labelOf = (fingerprint: string): Buffer => Buffer.concat([Buffer.of(marked), idOf(fingerprint)]);

export const withLabel = (fingerprint: string, wrapped: Buffer): Buffer =>
  Buffer.concat([labelOf(fingerprint), wrapped]);

/** `isOf`: whether the key with this fingerprint may have wrapped it. */
export function readLabel(stored: Buffer): { isOf(fingerprint: string): boolean; wrapped: Buffer } {
  if (stored[0] !== marked) return { isOf: () => true, wrapped: stored };
  const id = stored.subarray(1, 1 + idBytes);
  return { isOf: (fingerprint) => idOf(fingerprint).equals(id), wrapped: stored.subarray(1 + idBytes) };
}
