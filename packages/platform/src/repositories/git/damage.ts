// Damaged objects and failures of this machine in git's error output. Pure.

/** Errors of the platform's own disk; the repository is not at fault. */
export const localFailure =
  /no space left on device|disk quota exceeded|read-only file system|cannot allocate memory|too many open files/i;

const objectName = "([0-9a-f]{40}(?:[0-9a-f]{24})?)";

/** The object is named before or after the fault. */
const faults: [RegExp, string][] = [
  [new RegExp(`(?:loose|packed) object ${objectName}[^\\n]*is corrupt`), "is damaged"],
  [new RegExp(`(?:object file \\S*?|unable to unpack (?:contents of )?)${objectName}`), "is damaged"],
  [new RegExp(`(?:sha1|hash) mismatch (?:for )?\\S*?${objectName}|${objectName}[^\\n]*mismatch`, "i"), "is damaged"],
  [new RegExp(`error in (?:object|commit|tree|blob|tag)?:? ?${objectName}|object ${objectName}: `), "is malformed"],
  [
    new RegExp(
      `(?:unable to (?:read|parse|find|get)|could not (?:read|parse)|failed to (?:read|parse)|missing|cannot read|bad|not a valid|invalid)[^\\n]*?${objectName}`,
      "i",
    ),
    "is missing or damaged",
  ],
  [new RegExp(`${objectName}[^\\n]*(?:missing|corrupt|not found)`, "i"), "is missing or damaged"],
];

/** Which object is damaged, phrased to follow the repository's name; undefined if the output does not speak of damage. */
export function damagedObject(stderr: string): string | undefined {
  const text = stderr.replace(/objects\/([0-9a-f]{2})\/([0-9a-f]{38,62})/g, "$1$2");
  if (/not our ref|no such remote ref|not advertised/i.test(text)) return undefined;
  const fsck = /object ([0-9a-f]{40,64}): (\w+): ([^\n]+)/.exec(text);
  const remedy = "Run git fsck --full on it, repair it, or push it again from an intact clone";
  if (fsck) return `has an object that git considers damaged or dangerous: ${fsck[1]} (${fsck[3]}). ${remedy}`;
  for (const [pattern, fault] of faults) {
    const name = pattern.exec(text)?.slice(1).find(Boolean);
    if (name !== undefined) return `is broken: object ${name} ${fault}. ${remedy}`;
  }
  return /fsck error|is corrupt|inflate: data stream|pack has bad|did not send all necessary objects|bad object|empty loose object|bad packed object/i.test(
    text,
  )
    ? `is broken: it has missing or damaged objects. ${remedy}`
    : undefined;
}
