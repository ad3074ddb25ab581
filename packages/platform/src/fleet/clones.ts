// Repositories that a worker clones itself: it gets their addresses, and from this server what no clone has.
import type { ClonedRepository } from "@agentcli/protocol/worker-link";
import { z } from "zod";
import { type Caller, readAnswer, WorkerFault } from "./calls.ts";

export interface ClonableRepository extends ClonedRepository {
  /** The files of its commit, relative to its directory; names are latin1 texts. */
  files: string[];
}

/** Paths with what changes with the file. */
type Listing = ReadonlyMap<string, string>;

interface Cloned {
  /** Names of their directories. */
  clones: string[];
  /** The worker has it from the clone. */
  isCloned(path: string): boolean;
  /** For readers of the run. */
  warnings: string[];
}

export const nothingCloned: Cloned = { clones: [], isCloned: () => false, warnings: [] };

interface CloningAgent {
  /** Name of its directories. */
  name: string;
  findClonable(): Promise<ClonableRepository[]>;
}

/** `now`: the files of the agent on this server. What cannot be cloned comes from this server. */
export async function cloneThere(call: Caller, { name, findClonable }: CloningAgent, now: Listing): Promise<Cloned> {
  const clonable = (await findClonable()).filter((repository) => isAsCheckedOut(repository, now));
  if (clonable.length === 0) return nothingCloned;
  const repositories = clonable.map(({ files: _, ...repository }) => repository);
  const answer = await call.plain("repos.clone", { agent: name, repositories }).catch(refusalIn);
  if (typeof answer === "string") return { ...nothingCloned, warnings: [fromHere("the repositories", answer)] };
  const { cloned, failed } = readAnswer("repos.clone", Answer, answer);
  const hide = (message: string) =>
    clonable.reduce(
      (shown, { token }) => (token === undefined ? shown : shown.replaceAll(token, "[REDACTED]")),
      message,
    );
  const done = clonable.filter((repository) => cloned.includes(repository.name));
  const paths = new Set(done.flatMap(pathsOf));
  const objects = done.map((repository) => `${repository.name}/.git/objects/`);
  return {
    clones: done.map((repository) => repository.name),
    isCloned: (path) => paths.has(path) || objects.some((directory) => path.startsWith(directory)),
    warnings: failed.map((one) => hide(fromHere(one.name, one.message))),
  };
}

const fromHere = (what: string, message: string): string =>
  `The worker did not clone ${what}: ${message.replace(/[.\s]+$/, "")}. The platform has sent the files instead.`;

/** Texts of the worker. */
const text = z.string().transform((value) => value.replace(/\p{Cc}/gu, " ").slice(0, 500));
const Answer = z.object({
  cloned: z.array(z.string()).max(100),
  failed: z.array(z.object({ name: text, message: text })).max(100),
});

/** Throws everything else: the worker is gone, or silent. */
function refusalIn(error: Error): string {
  if (!(error instanceof WorkerFault) || error.cause === undefined) throw error;
  return error.message;
}

/** Made by the clone for itself: its index has the times of its own files, and its references name objects that it has. */
const pathsOf = ({ name, files }: ClonableRepository): string[] =>
  ["packed-refs", "index"].map((file) => `${name}/.git/${file}`).concat(files.map((file) => `${name}/${file}`));

/** A file that is missing, or was written after the index, is not that of the commit. */
function isAsCheckedOut({ name, files }: ClonableRepository, now: Listing): boolean {
  const checkedOutAt = changedAt(now.get(`${name}/.git/index`));
  return files.every((file) => changedAt(now.get(`${name}/${file}`)) <= checkedOutAt);
}

/** Infinite if there is no such file. */
const changedAt = (signature: string | undefined): number => {
  const [kind, , , changedMs] = signature?.split(" ") ?? [];
  return kind === "f" || kind === "l" ? Number(changedMs) : Number.POSITIVE_INFINITY;
};
