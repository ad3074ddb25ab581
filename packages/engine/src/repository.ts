// Instructions of the repository that apply once something is touched: given to the model once, before it is asked again.
import type { Part, ThreadRecord } from "@agentcli/protocol";
import type { Drive } from "./running.ts";
import { textPart } from "./state.ts";

export interface Repository {
  /**
   * What applies to these paths, without what came from the files in `given`. Paths are as the model wrote them and
   * need not exist. Never throws: a file that cannot be used is a warning.
   */
  textsFor(touched: string[], given: string[]): Promise<RepositoryTexts>;
}

export interface RepositoryTexts {
  texts: { source: string; text: string }[];
  warnings: string[];
}

/** A host that has no repository to read. */
export const noRepository: Repository = { textsFor: async () => ({ texts: [], warnings: [] }) };

export async function hearRepository({ log, repository }: Drive): Promise<"heard" | "nothing new"> {
  const { touched, given } = log.state;
  if (touched.length === 0) return "nothing new";
  const { texts, warnings } = await repository.textsFor(
    touched,
    given.flatMap(({ sources }) => sources),
  );
  const notes = warnings.map((message): ThreadRecord => ({ type: "noted", kind: "warning", data: { message } }));
  const input: Part[] = texts.map(({ text }) => textPart(text));
  const sources = texts.map(({ source }) => source);
  const added: ThreadRecord[] =
    texts.length === 0 ? [] : [{ type: "input.added", origin: "repository", input, sources }];
  if (notes.length + added.length > 0) await log.write(...notes, ...added);
  return added.length === 0 ? "nothing new" : "heard";
}
