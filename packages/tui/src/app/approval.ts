// Approvals as a card: what exactly, why, and how far a yes reaches. Several wait in line.
import type { Question } from "../client/index.ts";
import { codeRows, diffRows, type Line, markdown, span, visible, wrapLine } from "../text/index.ts";
import type { Hunk } from "../transcript/index.ts";
import { type Card, type Choice, openCard, openWriting } from "./card.ts";
import { shortPath } from "./look.ts";
import { chooseRule, rulePatterns } from "./rule.ts";
import type { App } from "./state.ts";

/** The card of a question of the server. */
export function askUser(app: App, question: Question) {
  switch (question.method) {
    case "item/commandExecution/requestApproval":
      return openCard(app, commandCard(app, question));
    case "item/fileChange/requestApproval":
      return openCard(app, patchCard(app, question));
    case "mcpServer/elicitation/request":
      return openCard(app, elicitationCard(question));
    case "item/tool/requestUserInput":
      return askNext(app, question, {});
    case "item/permissions/requestApproval":
    case "item/tool/call":
      return;
  }
}

type QuestionNamed<Name extends Question["method"]> = Extract<Question, { method: Name }>;

function commandCard(app: App, asked: QuestionNamed<"item/commandExecution/requestApproval">): Card {
  const { id, params, answer } = asked;
  const command = params.commandActions?.[0]?.command || params.command || "";
  const prefix = params.proposedExecpolicyAmendment ?? null;
  const patterns = rulePatterns(command, prefix);
  const rule: Choice = {
    key: "r",
    label: `Yes, and a rule: always for commands that begin with ${patterns[0]?.join(" ")}, or another beginning`,
    choose: () =>
      chooseRule(app, {
        patterns,
        choose: (pattern) => answer({ decision: { acceptWithExecpolicyAmendment: { execpolicy_amendment: pattern } } }),
        back: () => openCard(app, { ...commandCard(app, asked), isNext: true }),
      }),
  };
  return {
    title: "Run this command outside the sandbox?",
    body: (columns) => [
      ...codeRows(visible(command).split("\n"), "sh", columns),
      ...(params.cwd ? [[span(`in ${visible(shortPath(params.cwd))}`, { dim: true })]] : []),
      ...reasonRows(params.reason, columns),
    ],
    choices: [
      { key: "y", label: "Yes, once", choose: () => answer({ decision: "accept" }) },
      {
        key: "s",
        label: "Yes, and the same command again in this session",
        choose: () => answer({ decision: "acceptForSession" }),
      },
      ...(patterns.length > 0 ? [rule] : []),
      ...refusals(app, asked),
    ],
    dismiss: () => answer({ decision: "decline" }),
    question: id,
  };
}

type Refusable = QuestionNamed<"item/commandExecution/requestApproval" | "item/fileChange/requestApproval">;

/** The ways to say no. */
const refusals = (app: App, { id, answer }: Refusable): Choice[] => [
  { key: "n", label: "No, continue without it", choose: () => answer({ decision: "decline" }) },
  {
    key: "w",
    label: "No, and write why: the model reads it",
    choose: () => askReason(app, id, (reason) => answer({ decision: "decline", reason })),
  },
  { key: "x", label: "No, and stop", choose: () => answer({ decision: "cancel" }) },
];

const askReason = (app: App, question: string | number, finish: (reason: string) => void): void =>
  openWriting(app, {
    title: "Why not?",
    placeholder: "The model reads it; Enter without text says nothing",
    finish,
    question,
  });

type Answers = Record<string, { answers: string[] }>;

/** One card for each question, the next after the answer to the one before. */
function askNext(app: App, asked: QuestionNamed<"item/tool/requestUserInput">, given: Answers): void {
  const next = asked.params.questions.find(({ id }) => !(id in given));
  if (!next) {
    asked.answer({ answers: given });
    return;
  }
  const answer = (answers: string[]) => askNext(app, asked, { ...given, [next.id]: { answers } });
  const options = (next.options ?? []).slice(0, 9).map(({ label, description }, index) => ({
    key: String(index + 1),
    label: `${label}  ${description}`,
    choose: () => answer([label]),
  }));
  openCard(app, {
    question: asked.id,
    isNext: Object.keys(given).length > 0,
    title: visible(next.header),
    body: (columns) => [
      ...markdown(visible(next.question), columns),
      [span("Another answer: n, then write it as a message.", { dim: true })],
    ],
    choices: [...options, { key: "n", label: "No answer", choose: () => answer([]) }],
    dismiss: () => answer([]),
  });
}

const reasonRows = (reason: string | null | undefined, columns: number): Line[] =>
  reason
    ? wrapLine([span(visible(reason).replace(/\n+/g, " "))], {
        columns,
        first: [span("Why: ", { bold: true })],
        rest: [span("     ")],
      })
    : [];

function patchCard(app: App, asked: QuestionNamed<"item/fileChange/requestApproval">): Card {
  const { id, params, answer } = asked;
  const { transcript } = app.state;
  const hunks = transcript.hunks(params.itemId);
  const byHunk: Choice = {
    key: "h",
    label: "Decide hunk by hunk",
    choose: () => askHunks(app, asked, { hunks, refused: [], at: 0 }),
  };
  return {
    title: "Apply this patch to files that the sandbox protects?",
    body: (columns) => [...transcript.proposed(params.itemId, columns), ...reasonRows(params.reason, columns)],
    choices: [
      { key: "y", label: "Yes, once", choose: () => answer({ decision: "accept" }) },
      {
        key: "s",
        label: "Yes, and these files again in this session",
        choose: () => answer({ decision: "acceptForSession" }),
      },
      ...(hunks.length > 1 ? [byHunk] : []),
      ...refusals(app, asked),
    ],
    dismiss: () => answer({ decision: "decline" }),
    question: id,
  };
}

interface HunkStep {
  hunks: Hunk[];
  refused: number[];
  /** The one to decide now. */
  at: number;
}

/** One card for each hunk. What was refused is not applied, and the model learns of it. */
function askHunks(app: App, asked: QuestionNamed<"item/fileChange/requestApproval">, step: HunkStep): void {
  const { hunks, refused, at } = step;
  const hunk = hunks[at];
  if (!hunk) {
    finishHunks(app, asked, step);
    return;
  }
  const next = (isRefused: boolean) =>
    askHunks(app, asked, { hunks, refused: isRefused ? [...refused, at] : refused, at: at + 1 });
  const rest = hunks.flatMap((_, index) => (index >= at ? [index] : []));
  openCard(app, {
    question: asked.id,
    isNext: true,
    title: `Hunk ${at + 1} of ${hunks.length}: ${visible(hunk.path)}`,
    body: (columns) => hunk.lines.flatMap((line) => diffRows(line, columns)),
    choices: [
      { key: "y", label: "Apply this hunk", choose: () => next(false) },
      { key: "n", label: "Leave it out", choose: () => next(true) },
      { key: "a", label: "Apply this one and all that follow", choose: () => finishHunks(app, asked, step) },
      {
        key: "d",
        label: "Leave out this one and all that follow",
        choose: () => finishHunks(app, asked, { ...step, refused: [...refused, ...rest] }),
      },
    ],
    dismiss: () => asked.answer({ decision: "decline" }),
  });
}

function finishHunks(
  app: App,
  { id, answer }: QuestionNamed<"item/fileChange/requestApproval">,
  { hunks, refused }: HunkStep,
): void {
  const decision = refused.length > 0 && refused.length === hunks.length ? "decline" : "accept";
  if (refused.length === 0) answer({ decision });
  else askReason(app, id, (reason) => answer({ decision, reason, refusedHunks: refused }));
}

function elicitationCard({ id, params, answer }: QuestionNamed<"mcpServer/elicitation/request">): Card {
  const meta = params._meta as { arguments?: unknown } | null | undefined;
  const details =
    params.mode === "url" ? params.url : meta?.arguments === undefined ? "" : JSON.stringify(meta.arguments, null, 2);
  return {
    title: `MCP server ${visible(params.serverName)}`,
    body: (columns) => [
      ...markdown(visible(params.message), columns),
      ...(details === "" ? [] : codeRows(visible(details).split("\n"), "json", columns)),
    ],
    choices: [
      { key: "y", label: "Yes", choose: () => answer({ action: "accept", content: {} }) },
      { key: "n", label: "No", choose: () => answer({ action: "decline" }) },
      { key: "x", label: "Cancel", choose: () => answer({ action: "cancel" }) },
    ],
    dismiss: () => answer({ action: "decline" }),
    question: id,
  };
}
