// Repository instructions for the files that calls have touched, sent to the model once, before its next request.
import type { Part, ThreadRecord } from "@agentcli/protocol";
import type { Log } from "../log/log.ts";
import { textPart } from "../state/messages.ts";
import { touchedPaths } from "../state/touched.ts";

export interface Repository {
  /**
   * The instructions for these paths, except from the files in `sent`. Paths are as the model wrote them and
   * need not exist. Never throws: a file that cannot be used is a warning.
   */
  textsFor(touched: string[], sent: string[]): Promise<RepositoryTexts>;
}

export interface RepositoryTexts {
  texts: { source: string; text: string }[];
  warnings: string[];
}

interface Injection {
  log: Log;
  repository: Repository;
}

/** For a host without a repository. */
export const noRepository: Repository = { textsFor: async () => ({ texts: [], warnings: [] }) };

export async function injectInstructions({ log, repository }: Injection): Promise<"injected" | "none"> {
  const { settledCalls, instructions } = log.state;
  const touched = touchedPaths(settledCalls);
  if (touched.length === 0) return "none";
  const { texts, warnings } = await repository.textsFor(
    touched,
    instructions.flatMap(({ sources }) => sources),
  );
  const notes = warnings.map((message): ThreadRecord => ({ type: "noted", kind: "warning", data: { message } }));
  const input: Part[] = texts.map(({ text }) => textPart(text));
  const sources = texts.map(({ source }) => source);
  const added: ThreadRecord[] =
    texts.length === 0 ? [] : [{ type: "input.added", origin: "repository", input, sources }];
  if (notes.length + added.length > 0) await log.write(...notes, ...added);
  return added.length === 0 ? "none" : "injected";
}
