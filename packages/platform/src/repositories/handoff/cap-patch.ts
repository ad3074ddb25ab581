// The beginning of a patch that is too large to be sent or shown as a whole.
const fileHeader = Buffer.from("\ndiff --git ");
const newline = 0x0a;

export const maxPatchBytes = 1024 * 1024;

/** Cut between two files, so that it can be applied; in a first file that is too large, after a line or a character. */
export function capPatch(patch: Buffer): Buffer {
  if (patch.length <= maxPatchBytes) return patch;
  // No line of a file or of a binary patch begins like this.
  const file = patch.lastIndexOf(fileHeader, maxPatchBytes - 1);
  if (file > 0) return patch.subarray(0, file + 1);
  const line = patch.lastIndexOf(newline, maxPatchBytes - 1);
  if (line > maxPatchBytes / 2) return patch.subarray(0, line + 1);
  let end = maxPatchBytes;
  while (isContinuation(patch[end])) end -= 1;
  return patch.subarray(0, end);
}

/** Of a character in UTF-8. */
const isContinuation = (byte: number | undefined): boolean => byte !== undefined && (byte & 0xc0) === 0x80;
