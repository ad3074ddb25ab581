// How unlike two lines may be and still count as the same.

export type Tolerance = "exact" | "trailing-space" | "indentation" | "characters";

export const asWritten = (line: string) => line;

export const withPlainCharacters = (line: string) =>
  line
    .replace(/[\u2010-\u2015\u2212]/g, "-")
    .replace(/[\u2018-\u201b]/g, "'")
    .replace(/[\u201c-\u201f]/g, '"')
    .replace(/[\u00a0\u2000-\u200a\u202f\u205f\u3000]/g, " ")
    .trim();

/** The strictest first. */
export const normalizations: { tolerance: Tolerance; normalize: (line: string) => string }[] = [
  { tolerance: "exact", normalize: asWritten },
  { tolerance: "trailing-space", normalize: (line) => line.trimEnd() },
  { tolerance: "indentation", normalize: (line) => line.trim() },
  { tolerance: "characters", normalize: withPlainCharacters },
];
