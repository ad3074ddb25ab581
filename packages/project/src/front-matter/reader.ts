// The position of a front matter reader, and its error.
export interface Reader {
  lines: string[];
  /** The line to read next. */
  at: number;
  /** Lines of the top-level keys. */
  keys: Map<string, number>;
  depth: number;
}

/** Caught by the parser and turned into a value; lines are counted from 1. */
export class YamlError extends Error {
  readonly line: number;

  constructor(line: number, message: string) {
    super(message);
    this.line = line;
  }
}
