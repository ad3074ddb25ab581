// Reads JSON as JSON.parse does, and says where each member begins and where the text goes wrong. A repeated member is an
// error here: which of the two counts would be a guess.

export type JsonValue = null | boolean | number | string | JsonValue[] | { [name: string]: JsonValue };
export type JsonPath = (string | number)[];

export interface JsonText {
  value: JsonValue;
  /** The offset where the member begins, at its name; of a missing one, that of the nearest one around it. */
  offsetOf(path: JsonPath): number;
}

export class JsonTextError extends Error {
  override name = "JsonTextError";
  readonly offset: number;
  readonly path: JsonPath;

  constructor(message: string, offset: number, path: JsonPath) {
    super(message);
    this.offset = offset;
    this.path = path;
  }
}

/** Far more than any file needs; deeper ones would exhaust the stack. */
const maxDepth = 64;

export function readJsonText(text: string): JsonText {
  const reader = new Reader(text);
  const value = reader.readDocument();
  return {
    value,
    offsetOf(path) {
      for (let length = path.length; length > 0; length -= 1) {
        const offset = reader.offsets.get(keyOf(path.slice(0, length)));
        if (offset !== undefined) return offset;
      }
      return reader.start;
    },
  };
}

const keyOf = (path: JsonPath): string => JSON.stringify(path);

class Reader {
  readonly offsets = new Map<string, number>();
  start = 0;
  private at = 0;
  private readonly path: JsonPath = [];
  private readonly text: string;

  constructor(text: string) {
    this.text = text;
  }

  readDocument(): JsonValue {
    this.skipSpace();
    this.start = this.at;
    const value = this.readValue();
    this.skipSpace();
    if (this.at < this.text.length) this.fail("unexpected text after the end of the document");
    return value;
  }

  private readValue(): JsonValue {
    if (this.path.length > maxDepth) this.fail(`more than ${maxDepth} levels deep`);
    const next = this.text[this.at];
    if (next === "{") return this.readObject();
    if (next === "[") return this.readArray();
    if (next === '"') return this.readString();
    return this.readLiteral();
  }

  private readObject(): JsonValue {
    const entries = new Map<string, JsonValue>();
    this.readList("}", () => {
      const offset = this.at;
      if (this.text[offset] !== '"') this.fail("expected the name of a member in double quotes");
      const name = this.readString();
      this.path.push(name);
      if (entries.has(name)) this.fail("is given twice; remove one of them", offset);
      this.offsets.set(keyOf(this.path), offset);
      this.skipSpace();
      this.expect(":");
      this.skipSpace();
      entries.set(name, this.readValue());
      this.path.pop();
    });
    return Object.fromEntries(entries);
  }

  private readArray(): JsonValue {
    const items: JsonValue[] = [];
    this.readList("]", () => {
      this.path.push(items.length);
      this.offsets.set(keyOf(this.path), this.at);
      items.push(this.readValue());
      this.path.pop();
    });
    return items;
  }

  private readList(end: "]" | "}", readEntry: () => void): void {
    this.at += 1;
    this.skipSpace();
    if (this.text[this.at] === end) {
      this.at += 1;
      return;
    }
    for (;;) {
      readEntry();
      this.skipSpace();
      const next = this.text[this.at];
      if (next !== "," && next !== end) this.fail(`expected , or ${end}`);
      this.at += 1;
      if (next === end) return;
      this.skipSpace();
      if (this.text[this.at] === end) this.fail(`a comma before ${end} is not allowed in JSON`);
    }
  }

  private readString(): string {
    const token = this.match(/"(?:[^"\\\x00-\x1f]|\\(?:["\\/bfnrt]|u[0-9a-fA-F]{4}))*"/y);
    if (token === undefined) this.fail("invalid text: an unclosed quote, a line break or an invalid escape in it");
    return JSON.parse(token) as string;
  }

  private readLiteral(): JsonValue {
    const token = this.match(/-?(?:0|[1-9]\d*)(?:\.\d+)?(?:[eE][+-]?\d+)?|true|false|null/y);
    if (token === undefined) this.fail(this.at < this.text.length ? "expected a JSON value" : "unexpected end of file");
    return JSON.parse(token) as JsonValue;
  }

  private match(pattern: RegExp): string | undefined {
    pattern.lastIndex = this.at;
    const token = pattern.exec(this.text)?.[0];
    this.at += token?.length ?? 0;
    return token;
  }

  private skipSpace(): void {
    this.match(/[ \t\r\n]*/y);
  }

  private expect(character: string): void {
    if (this.text[this.at] !== character) this.fail(`expected ${character}`);
    this.at += 1;
  }

  private fail(message: string, offset = this.at): never {
    throw new JsonTextError(message, offset, [...this.path]);
  }
}
