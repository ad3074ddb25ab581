// The files of a turn with an output schema, in a directory of their own that goes with the turn.
import { mkdtemp, readFile, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";

export interface SchemaFiles {
  file: string;
  answerFile: string;
  /** The answer as it was checked: without the nulls that stand for what is absent. */
  readAnswer(): Promise<string>;
  remove(): Promise<void>;
}

/** Null where no schema is asked for. */
export async function writeSchemaFiles(schema: unknown): Promise<SchemaFiles | null> {
  if (schema === undefined) return null;
  if (typeof schema !== "object" || schema === null || Array.isArray(schema))
    throw new Error("outputSchema must be a plain JSON object");
  const directory = await mkdtemp(join(tmpdir(), "agentcli-output-schema-"));
  const remove = () => rm(directory, { recursive: true, force: true });
  const file = join(directory, "schema.json");
  const answerFile = join(directory, "answer.json");
  try {
    await writeFile(file, JSON.stringify(schema));
  } catch (error) {
    await remove();
    throw error;
  }
  return { file, answerFile, readAnswer: () => readFile(answerFile, "utf8"), remove };
}
