// The forms of instructions that the practice model understands, one row each. The first match wins.

import { checklistItems, outlineText } from "./documents.ts";
import { anyToken, type Masked } from "./quoting.ts";

export type Step =
  | { kind: "create"; path: string; text: string }
  | { kind: "append"; path: string; text: string }
  | { kind: "replace"; path: string; from: string; to: string; which: "first" | "every" }
  | { kind: "delete"; path: string }
  | { kind: "move"; path: string; to: string }
  | { kind: "read"; path: string }
  | { kind: "run"; command: string }
  | { kind: "repair" }
  | { kind: "checklist"; path: string; items: string[] }
  | { kind: "take-step"; path: string }
  | { kind: "stop-if"; path: string; text: string }
  /** A condition that is not understood. */
  | { kind: "stop-unclear" }
  | { kind: "commit"; message: string }
  | { kind: "commit-step" }
  /** `text` is absent for a summary of what was done. */
  | { kind: "comment"; pullRequest: number; text?: string }
  | { kind: "skill"; name: string; topic: string }
  | { kind: "unclear" };

/** The step of a masked sentence. */
export function readSentence(sentence: string, masked: Masked): Step {
  if (sentence.length > maxSentenceLength) return { kind: "unclear" };
  const plain = sentence.trim().replace(politeness, "");
  for (const form of forms) {
    const match = form.pattern.exec(plain);
    const step = match && form.read(piecesOf(match.groups ?? {}, masked));
    if (step) return step;
  }
  return { kind: "unclear" };
}

/** One example per form, for users. */
export const examples = (): string[] => forms.flatMap((form) => (form.example ? [form.example] : []));

interface Form {
  example?: string;
  pattern: RegExp;
  read(pieces: Pieces): Step | undefined;
}

// Patterns with several wildcards are quadratic. Quotations count as one token, so real sentences are far shorter.
const maxSentenceLength = 10_000;
const politeness =
  /^(?:(?:please|now|next|first|finally|lastly|also|and|then|can you|could you|i want you to)[,:]?\s+)+/i;
const quotation = anyToken.source;
const article = "(?:an?\\s+|the\\s+|this\\s+)?(?:new\\s+)?";
const file = `${article}(?:file\\s+)?(?:called\\s+|named\\s+)?`;
const path = `(?<path>${quotation}|\\S+?)`;
const end = "(?:(?<![.,;:!])[.,;:!]+)?$";
// A run of spaces is never divided between two parts of a pattern: all divisions of a long one would be tried.
const wholeRun = "(?<!\\s)\\s+(?!\\s)";
const form = (source: string) => new RegExp(`^${source.replaceAll("\\s+", wholeRun)}`, "is");

/** The captured groups of a sentence, read as paths or as text. */
interface Pieces {
  text(name?: string): string;
  /** A quotation, or one bare word. */
  path(name?: string): string | undefined;
  /** A path that looks like a file name, for forms with ambiguous words ("remove it", "show me"). */
  file(): string | undefined;
  /** A shell command without the full stop of an unquoted sentence. */
  command(): string;
  /** A list, with its quotes. */
  list(name: string): string;
}

function piecesOf(groups: Record<string, string | undefined>, masked: Masked): Pieces {
  const isQuoted = (name: string) => anyToken.test(groups[name] ?? "");
  const text = (name = "text") => masked.meaning(groups[name] ?? "");
  const path = (name = "path") => {
    const found = text(name);
    return /^[^\r\n]{1,1000}$/.test(found) && found.trim() === found ? found : undefined;
  };
  const file = () => {
    const found = path();
    return found && (isQuoted("path") || /[./]|^[A-Z]/.test(found)) ? found : undefined;
  };
  const command = () => (isQuoted("command") ? text("command") : text("command").replace(/(?<=\w)[.!]$/, ""));
  return { text, path, file, command, list: (name) => masked.restore(groups[name] ?? "") };
}

const forms: Form[] = [
  {
    pattern: form(`(?:write|create)\\s+${file}${path}\\s+with\\s+(?:the\\s+)?sections?:?\\s+(?<sections>[^;]+)`),
    example: "write FILE with sections A, B, C (x or y)",
    read: (pieces) => withPath(pieces.path(), (found) => create(found, outlineText(found, pieces.list("sections")))),
  },
  {
    pattern: form(
      `(?:write|create)\\s+${file}${path}\\s+(?:with|as|\\()\\s*(?:an?\\s+|the\\s+)?(?:checklist|checkbox(?:es)?|steps|tasks)\\b(?<items>.*)$`,
    ),
    example: 'write FILE with checkboxes "A", "B"',
    read: (pieces) =>
      withPath(pieces.path(), (found) => ({
        kind: "checklist",
        path: found,
        items: checklistItems(pieces.list("items")),
      })),
  },
  {
    pattern: form(
      `(?:create|write|make|add)\\s+${file}${path}\\s+(?:containing|that\\s+(?:contains|says|reads)|with(?:\\s+(?:the|this|following))*(?:\\s+(?:contents?|text|lines?))?)\\s*:?\\s+(?<text>.+)$`,
    ),
    example: "create FILE containing TEXT",
    read: (pieces) => withPath(pieces.path(), (found) => create(found, pieces.text())),
  },
  {
    pattern: form(`(?:create|write|make|add)\\s+${file}${path}\\s*:?\\s+(?<text>\\uE000\\d+\\uE001)`),
    read: (pieces) => withPath(pieces.file(), (found) => create(found, pieces.text())),
  },
  {
    pattern: form(
      `(?:create|make|add)\\s+(?:an?\\s+|the\\s+)?(?:new\\s+)?empty\\s+file\\s+(?:called\\s+|named\\s+)?${path}${end}`,
    ),
    read: (pieces) => withPath(pieces.path(), (found) => create(found, "")),
  },
  {
    pattern: form(
      `comment\\s+on\\s+pull\\s+request\\s+#?(?<number>\\d{1,9})(?:\\s+with\\s+(?:an?\\s+)?summary|:?\\s+(?<text>.+?))${end}`,
    ),
    example: "comment on pull request NUMBER with a summary",
    read: (pieces) => ({
      ...{ kind: "comment", pullRequest: Number(pieces.text("number")) },
      ...(pieces.text() !== "" && { text: pieces.text() }),
    }),
  },
  {
    pattern: form(`append\\s+to\\s+${file}${path}\\s*:?\\s+(?:the\\s+(?:line|text)\\s+)?(?<text>.+)$`),
    read: (pieces) => withPath(pieces.path(), (found) => ({ kind: "append", path: found, text: pieces.text() })),
  },
  {
    pattern: form(
      `(?:append|add)\\s+(?:the\\s+(?:line|text)\\s+)?(?<text>.+)\\s+to\\s+(?:the\\s+(?:end|bottom)\\s+of\\s+)?${file}${path}${end}`,
    ),
    example: "append TEXT to FILE",
    read: (pieces) => withPath(pieces.file(), (found) => ({ kind: "append", path: found, text: pieces.text() })),
  },
  {
    pattern: form(
      `(?:replace|change|rename)\\s+the\\s+first\\s+(?<from>.+?)\\s+in\\s+${file}${path}\\s+(?:with|to|into|by)\\s+(?<to>${quotation}|.+?)${end}`,
    ),
    example: "change the first `- [ ]` in FILE to `- [x]`",
    read: (pieces) => replace(pieces, "first"),
  },
  {
    pattern: form(
      `(?:replace|change|substitute)\\s+(?:all\\s+|every\\s+)?(?<from>.+?)\\s+(?:with|by|to|into)\\s+(?<to>.+)\\s+in\\s+${file}${path}${end}`,
    ),
    example: "replace A with B in FILE",
    read: (pieces) => replace(pieces, "every"),
  },
  {
    pattern: form(`in\\s+${file}${path},?\\s+(?:replace|change)\\s+(?<from>.+?)\\s+(?:with|by|to|into)\\s+(?<to>.+)$`),
    read: (pieces) => replace(pieces, "every"),
  },
  {
    pattern: form(
      `(?:check\\s+off|tick(?:\\s+off)?|mark)\\s+the\\s+first\\s+.*?\\b(?:in|of)\\s+${file}${path}(?:\\s+as\\s+.*)?${end}`,
    ),
    read: (pieces) =>
      withPath(pieces.file(), (found) => ({
        kind: "replace",
        path: found,
        from: "- [ ]",
        to: "- [x]",
        which: "first",
      })),
  },
  {
    pattern: form(
      `(?:carry\\s+out|do|implement|take)\\s+(?:only\\s+)?the\\s+first\\s+.*?\\b(?:in|of|from)\\s+${file}${path}${end}`,
    ),
    example: "implement the first unchecked step in FILE",
    read: (pieces) => withPath(pieces.file(), (found) => ({ kind: "take-step", path: found })),
  },
  {
    pattern: form(
      `stop\\s+(?:here\\s+)?if\\s+(?:\\S+\\s+)*?${path}\\s+(?:says|contains|is|has|reads)\\s+(?<text>.+?)${end}`,
    ),
    example: "stop if FILE says TEXT",
    read: (pieces) => withPath(pieces.file(), (found) => ({ kind: "stop-if", path: found, text: pieces.text() })),
  },
  {
    pattern: form(`if\\s+${path}\\s+(?:says|contains|reads)\\s+(?<text>.+?),?\\s+(?:then\\s+)?stop\\b`),
    read: (pieces) => withPath(pieces.file(), (found) => ({ kind: "stop-if", path: found, text: pieces.text() })),
  },
  {
    // Nothing to do: the first step that fails ends the work anyway.
    pattern: form(
      "(?:if|when)\\s+(?:it|that|this|any(?:thing)?|(?:the\\s+)?(?:tests?|command|step))\\s+fail(?:s|ed)?\\b.*\\bstop\\b",
    ),
    read: () => ({ kind: "unclear" }),
  },
  {
    pattern: form(
      "(?:(?:stop|halt|abort|quit)\\b.*\\b(?:if|when|unless|where|in\\s+case)\\b|(?:only\\s+)?(?:continue|proceed|go\\s+on)\\s.*\\b(?:if|when|unless)\\b|(?:if|when|unless)\\b.*\\b(?:stop|halt|abort|quit|continue|proceed|go\\s+on)\\b)",
    ),
    read: () => ({ kind: "stop-unclear" }),
  },
  {
    pattern: form(`(?:delete|remove)\\s+${file}${path}${end}`),
    example: "delete FILE",
    read: (pieces) => withPath(pieces.file(), (found) => ({ kind: "delete", path: found })),
  },
  {
    pattern: form(`(?:rename|move)\\s+${file}${path}\\s+(?:to|as|into)\\s+(?<to>${quotation}|\\S+?)${end}`),
    example: "move FILE to FILE",
    read: (pieces) =>
      withPath(pieces.file(), (found) => withPath(pieces.path("to"), (to) => ({ kind: "move", path: found, to }))),
  },
  {
    pattern: form(
      `(?:find\\s+and\\s+)?(?:fix|repair)\\s+(?:the\\s+|all\\s+)*(?:one\\s+|only\\s+)?(?:failing|broken|red)\\s+(?:unit\\s+)?tests?\\b`,
    ),
    example: "fix the failing test",
    read: () => ({ kind: "repair" }),
  },
  {
    pattern: form(`make\\s+(?:the\\s+|all\\s+)*(?:failing\\s+)?tests?\\s+pass\\b`),
    read: () => ({ kind: "repair" }),
  },
  {
    pattern: form(`(?:run|execute)\\s+(?:all\\s+|the\\s+)*(?:unit\\s+)?(?:tests?|test\\s+suite)(?:\\s+again)?${end}`),
    read: () => ({ kind: "run", command: "npm test" }),
  },
  {
    pattern: form(
      `(?:use|run|invoke|follow|apply)?\\s*(?:the\\s+)?(?:skill\\s+)?\\$(?<name>[A-Za-z][\\w:-]*)(?![\\w/])(?<topic>.*)$`,
    ),
    example: "$SKILL, whose numbered steps use these forms",
    read: (pieces) => ({ kind: "skill", name: pieces.text("name"), topic: topicOf(pieces.text("topic")) }),
  },
  {
    pattern: form(
      `(?:run|execute)\\s+(?:the\\s+(?:command\\s+)?)?(?<command>${quotation})(?:\\s*[.,;(]|\\s+(?:again|and|so|to|until)\\b|$)`,
    ),
    example: "run COMMAND",
    read: (pieces) => ({ kind: "run", command: pieces.command() }),
  },
  {
    pattern: form(`(?:run|execute)\\s+(?:the\\s+command\\s+)?(?<command>.+)$`),
    read: (pieces) => ({ kind: "run", command: pieces.command() }),
  },
  {
    pattern: form(`commit\\s+.*?\\bmessage\\s+(?:that\\s+)?(?:naming|names)\\b`),
    read: () => ({ kind: "commit-step" }),
  },
  {
    pattern: form(`commit\\s+.*?\\bmessage:?\\s+(?<text>.+?)${end}`),
    example: "commit with message TEXT",
    read: (pieces) => ({ kind: "commit", message: pieces.text() }),
  },
  {
    pattern: form(
      `(?:read|show|print|open|display|cat)\\s+(?:me\\s+)?(?:the\\s+)?(?:contents?\\s+of\\s+)?${file}${path}${end}`,
    ),
    example: "read FILE",
    read: (pieces) => withPath(pieces.file(), (found) => ({ kind: "read", path: found })),
  },
  {
    pattern: form(`.*?(?<![\\w\\\\])\\$(?<name>[A-Za-z][\\w:-]*)(?![\\w/])(?<topic>.*)$`),
    read: (pieces) => ({ kind: "skill", name: pieces.text("name"), topic: topicOf(pieces.text("topic")) }),
  },
];

const create = (path: string, text: string): Step => ({ kind: "create", path, text });

const withPath = (path: string | undefined, build: (path: string) => Step | undefined): Step | undefined =>
  path === undefined ? undefined : build(path);

function replace(pieces: Pieces, which: "first" | "every"): Step | undefined {
  const [from, to] = [pieces.text("from"), pieces.text("to")];
  return from === "" ? undefined : withPath(pieces.path(), (path) => ({ kind: "replace", path, from, to, which }));
}

const topicOf = (text: string): string =>
  text.replace(/^[\s:,-]*(?:(?:skill|on|for|to|about)\s+)*/i, "").replace(/[.\s]+$/, "");
