// Messages of earlier sessions, in a file of the agent home that only its owner reads.
import { appendFileSync, mkdirSync, readFileSync } from "node:fs";
import { join } from "node:path";

export interface History {
  add(text: string): void;
  /** The newest last. */
  all(): string[];
}

const maxEntries = 1000;
const maxCharacters = 20_000;

export function openHistory(agentHome: string): History {
  const path = join(agentHome, "prompt_history.jsonl");
  let known: string[] | null = null;
  const all = (): string[] => (known ??= read(path));
  return {
    all,
    add(text) {
      const entries = all();
      if (text.length > maxCharacters || entries.at(-1) === text) return;
      entries.push(text);
      try {
        mkdirSync(agentHome, { recursive: true, mode: 0o700 });
        appendFileSync(path, `${JSON.stringify({ at: new Date().toISOString(), text })}\n`, { mode: 0o600 });
      } catch {
        // A home that cannot be written: the history of this session remains.
      }
    },
  };
}

function read(path: string): string[] {
  try {
    const lines = readFileSync(path, "utf8").trimEnd().split("\n").slice(-maxEntries);
    return lines.flatMap((line) => textOf(line) ?? []);
  } catch {
    return [];
  }
}

function textOf(line: string): string | null {
  try {
    const { text } = JSON.parse(line) as { text?: unknown };
    return typeof text === "string" ? text : null;
  } catch {
    return null;
  }
}
