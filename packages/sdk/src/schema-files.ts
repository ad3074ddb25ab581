// The files of a turn with an output schema, in a directory that is removed with the turn.
import { mkdtemp, readFile, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";

export interface SchemaFiles {
  file: string;
  responseFile: string;
  /** The validated response, without the nulls of absent members. */
  readResponse(): Promise<string>;
  remove(): Promise<void>;
}

/** Null without a schema. */
export async function writeSchemaFiles(schema: unknown): Promise<SchemaFiles | null> {
  if (schema === undefined) return null;
  if (typeof schema !== "object" || schema === null || Array.isArray(schema))
    throw new Error("outputSchema must be a plain JSON object");
  const directory = await mkdtemp(join(tmpdir(), "agentcli-output-schema-"));
  const remove = () => rm(directory, { recursive: true, force: true });
  const file = join(directory, "schema.json");
  const responseFile = join(directory, "response.json");
  try {
    await writeFile(file, JSON.stringify(schema));
  } catch (error) {
    await remove();
    throw error;
  }
  return { file, responseFile, readResponse: () => readFile(responseFile, "utf8"), remove };
}
