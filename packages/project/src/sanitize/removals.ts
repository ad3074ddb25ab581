// What was removed from a text, by kind: count and one example.
export type RemovalKind =
  | "control-character"
  | "tag-character"
  | "variation-selector"
  | "bidi-control"
  | "zero-width"
  | "format-character"
  | "ignorable-character"
  | "private-use"
  | "unassigned"
  | "lone-surrogate"
  | "terminal-escape"
  | "character-reference"
  | "html-comment"
  | "html-element"
  | "html-attribute"
  | "link-title"
  | "image-description"
  | "empty-link"
  | "reference-definition"
  | "math-phantom"
  | "math-colour"
  | "math-definition"
  | "fence-info"
  | "drawn-comment"
  | "table-cell"
  | "tangled-markup";

export interface Removal {
  kind: RemovalKind;
  count: number;
  /** The first one that was removed, shortened, with hidden characters spelled out. */
  sample?: string;
}

export interface Removals {
  add(kind: RemovalKind, removed: string): void;
  report(): Removal[];
}

export function collectRemovals(): Removals {
  const found = new Map<RemovalKind, Removal>();
  return {
    add(kind, removed) {
      const existing = found.get(kind);
      if (existing) existing.count += 1;
      else found.set(kind, { kind, count: 1, sample: describe(removed) });
    },
    report: () => [...found.values()].sort((one, other) => (one.kind < other.kind ? -1 : 1)),
  };
}

const maxSampleCharacters = 80;

/** Tag characters are an invisible alphabet: decoded, they show the hidden text. */
function describe(removed: string): string {
  const start = removed.slice(0, maxSampleCharacters);
  return start.replace(/[^\x20-\x7e\p{L}\p{N}\p{P}\p{S}\p{M}]|\p{Cs}/gu, (character) => {
    const code = character.codePointAt(0) ?? 0;
    return code >= 0xe0020 && code < 0xe007f
      ? String.fromCharCode(code - 0xe0000)
      : `U+${code.toString(16).toUpperCase().padStart(4, "0")}`;
  });
}
