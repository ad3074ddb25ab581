// Approvals as a card: what exactly, why, and how far a yes reaches. Several wait in line.
import type { Question } from "../client/index.ts";
import type { Input } from "../terminal/index.ts";
import { codeRows, type Line, markdown, span, visible, wrapLine } from "../text/index.ts";
import { type App, close, type Overlay } from "./state.ts";

export interface Choice {
  /** The key that chooses it at once. */
  key: string;
  label: string;
  choose(): void;
}

export interface Card {
  title: string;
  /** Rows for a width. */
  body(columns: number): Line[];
  choices: Choice[];
  /** What Escape does. */
  dismiss(): void;
}

/** A card takes all keys until it is answered. */
export function openCard(app: App, card: Card): Overlay {
  let selected = 0;
  const choose = (act: () => void) => {
    close(app, overlay);
    act();
  };
  const overlay: Overlay = {
    kind: "card",
    rows: (columns, maxRows) => cardRows(card, { selected, columns, maxRows, waiting: waitingAfter(app, overlay) }),
    input(input) {
      const found = chosenBy(card, input);
      if (found) choose(found.choose);
      else if (input.kind === "key" && input.name === "escape") choose(card.dismiss);
      else if (input.kind === "key" && input.name === "enter") choose(card.choices[selected]?.choose ?? card.dismiss);
      else if (input.kind === "key" && input.name === "up") selected = Math.max(0, selected - 1);
      else if (input.kind === "key" && input.name === "down")
        selected = Math.min(card.choices.length - 1, selected + 1);
      else return input.kind !== "key" || !input.ctrl;
      app.redraw();
      return true;
    },
  };
  app.state.overlays = [...app.state.overlays.filter(({ kind }) => kind === "card"), overlay];
  app.notify("agentcli waits for your answer");
  app.redraw();
  return overlay;
}

/** A key typed for the message must not answer a card that has just appeared: only single characters choose. */
const chosenBy = ({ choices }: Card, input: Input): Choice | undefined =>
  input.kind === "text" ? choices.find(({ key }) => key === input.text) : undefined;

const waitingAfter = ({ state }: App, overlay: Overlay): number =>
  state.overlays.filter(({ kind }) => kind === "card").length - 1 - state.overlays.indexOf(overlay);

interface CardLook {
  selected: number;
  columns: number;
  maxRows: number;
  waiting: number;
}

function cardRows({ title, body, choices }: Card, { selected, columns, maxRows, waiting }: CardLook): Line[] {
  const bar = span("┃ ", { color: "yellow", bold: true });
  const more = waiting > 0 ? [span(`  ${waiting} more waiting`, { dim: true })] : [];
  const options = choices.map(({ key, label }, index) => [
    span(index === selected ? "❯ " : "  ", { color: "yellow", bold: true }),
    span(`${key} `, { bold: true }),
    span(visible(label), index === selected ? { bold: true } : {}),
  ]);
  const width = columns - 4;
  const rows = body(width);
  const room = Math.max(1, maxRows - options.length - 2);
  const shown =
    rows.length > room
      ? [...rows.slice(0, room - 1), [span(`… ${rows.length - room + 1} more lines`, { dim: true })]]
      : rows;
  return [[span(title, { bold: true }), ...more], ...shown, [], ...options].map((row) => [bar, ...row]);
}

/** The card of a question of the server. */
export function askUser(app: App, question: Question): Overlay | null {
  switch (question.method) {
    case "item/commandExecution/requestApproval":
      return openCard(app, commandCard(question));
    case "item/fileChange/requestApproval":
      return openCard(app, patchCard(app, question));
    case "mcpServer/elicitation/request":
      return openCard(app, elicitationCard(question));
    case "item/tool/requestUserInput":
      return askNext(app, question, {});
    case "item/permissions/requestApproval":
    case "item/tool/call":
      return null;
  }
}

type QuestionNamed<Name extends Question["method"]> = Extract<Question, { method: Name }>;

function commandCard({ params, answer }: QuestionNamed<"item/commandExecution/requestApproval">): Card {
  const command = params.commandActions?.[0]?.command || params.command || "";
  const prefix = params.proposedExecpolicyAmendment ?? null;
  const rule: Choice[] = prefix
    ? [
        {
          key: "r",
          label: `Yes, and always for commands that begin with: ${prefix.join(" ")} (added to rules/default.rules)`,
          choose: () => answer({ decision: { acceptWithExecpolicyAmendment: { execpolicy_amendment: prefix } } }),
        },
      ]
    : [];
  return {
    title: "Run this command outside the sandbox?",
    body: (columns) => [
      ...codeRows(visible(command).split("\n"), "sh", columns),
      ...(params.cwd ? [[span(`in ${visible(params.cwd)}`, { dim: true })]] : []),
      ...reasonRows(params.reason, columns),
    ],
    choices: [
      { key: "y", label: "Yes, once", choose: () => answer({ decision: "accept" }) },
      {
        key: "s",
        label: "Yes, and the same command again in this session",
        choose: () => answer({ decision: "acceptForSession" }),
      },
      ...rule,
      { key: "n", label: "No, continue without it", choose: () => answer({ decision: "decline" }) },
      { key: "x", label: "No, and stop", choose: () => answer({ decision: "cancel" }) },
    ],
    dismiss: () => answer({ decision: "decline" }),
  };
}

type Answers = Record<string, { answers: string[] }>;

/** One card for each question, the next after the answer to the one before. */
function askNext(app: App, asked: QuestionNamed<"item/tool/requestUserInput">, given: Answers): Overlay | null {
  const next = asked.params.questions.find(({ id }) => !(id in given));
  if (!next) {
    asked.answer({ answers: given });
    return null;
  }
  const answer = (answers: string[]) => void askNext(app, asked, { ...given, [next.id]: { answers } });
  const options = (next.options ?? []).slice(0, 9).map(({ label, description }, index) => ({
    key: String(index + 1),
    label: `${label}  ${description}`,
    choose: () => answer([label]),
  }));
  return openCard(app, {
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

function patchCard({ state }: App, { params, answer }: QuestionNamed<"item/fileChange/requestApproval">): Card {
  return {
    title: "Apply this patch to files that the sandbox protects?",
    body: (columns) => [...state.transcript.proposed(params.itemId, columns), ...reasonRows(params.reason, columns)],
    choices: [
      { key: "y", label: "Yes, once", choose: () => answer({ decision: "accept" }) },
      {
        key: "s",
        label: "Yes, and these files again in this session",
        choose: () => answer({ decision: "acceptForSession" }),
      },
      { key: "n", label: "No, continue without it", choose: () => answer({ decision: "decline" }) },
      { key: "x", label: "No, and stop", choose: () => answer({ decision: "cancel" }) },
    ],
    dismiss: () => answer({ decision: "decline" }),
  };
}

function elicitationCard({ params, answer }: QuestionNamed<"mcpServer/elicitation/request">): Card {
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
  };
}
