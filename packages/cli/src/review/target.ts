// What the command line asks to be reviewed.
import { CommandError } from "@agentcli/command-line";
import type { Invocation } from "../command.ts";

export type RequestedTarget =
  | { kind: "uncommitted" }
  | { kind: "base"; branch: string }
  | { kind: "commit"; name: string; title: string | undefined }
  | { kind: "custom" };

export function readTarget({ has, text }: Invocation): RequestedTarget {
  const branch = text("base");
  const name = text("commit");
  const title = text("title");
  const requested: RequestedTarget[] = [];
  if (has("uncommitted")) requested.push({ kind: "uncommitted" });
  if (branch !== undefined) requested.push({ kind: "base", branch });
  if (name !== undefined) requested.push({ kind: "commit", name, title });
  if (requested.length > 1) {
    const flags = requested.map(({ kind }) => `--${kind}`).join(" and ");
    throw new CommandError("usage", `${flags} cannot be reviewed at once. Choose one target.`);
  }
  if (title !== undefined && name === undefined)
    throw new CommandError("usage", "--title can only be used with --commit: it is the title of that commit.");
  return requested[0] ?? { kind: "custom" };
}

export const noTarget = (): CommandError =>
  new CommandError(
    "usage",
    'What is to be reviewed? Give --uncommitted, --base BRANCH or --commit SHA, or instructions: agentcli review "check the error handling of src/".',
  );
