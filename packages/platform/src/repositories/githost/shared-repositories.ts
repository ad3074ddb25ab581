// Hosted repositories of servers with separate data directories: what a server changes in its own copy is published in the
// object store (packs) and the database (references), and fetched by the others before they use theirs.
import { createReadStream, existsSync, readdirSync } from "node:fs";
import { readFile, rename, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { pipeline } from "node:stream/promises";
import type { Kysely } from "kysely";
import {
  type ObjectStore,
  ObjectStoreFault,
  openBlocks,
  sealBlocks,
  type Tables,
  teamKey,
  type Vault,
} from "../../foundation/index.ts";
import { GitFailed, type Layout, layOut, listReferences, runGit, startGit } from "../git/index.ts";
import type { Locks } from "../workspaces/index.ts";
import type { HostedRepository } from "./hosted-repository.ts";

export interface SharedRepositories {
  /**
   * Whether the copy of this server is that of the database. `version` is the latter's; null: nothing was published, and
   * only a server that has a copy can do so.
   */
  isCurrent(repository: HostedRepository, version: number | null): Promise<boolean>;
  /**
   * Fetches what others have published, and publishes what this server has changed. Where both changed one reference, the
   * published one stays, and its name is returned.
   */
  sync(repository: HostedRepository): Promise<string[]>;
  /** Collects until `end` the names that `sync` returns to any caller: a fetch may be the one to find that a push lost. */
  watch(repository: HostedRepository): Watch;
}

export interface Watch {
  lost: Set<string>;
  end(): void;
}

export interface SharedOptions {
  db: Kysely<Tables>;
  vault: Vault;
  store: ObjectStore;
  locks: Locks;
  layout: Layout;
}

type References = Record<string, string>;

interface Published {
  version: number;
  head: string;
  refs: References;
  packs: string[];
}

const nothing: Published = { version: 0, head: "", refs: {}, packs: [] };

export function openSharedRepositories(options: SharedOptions): SharedRepositories {
  const { locks } = options;
  const watches = new Map<Watch, number>();
  const syncWatched = async (repository: HostedRepository): Promise<string[]> => {
    const names = await syncUntilMoved(repository, options);
    for (const [{ lost }, id] of watches) if (id === repository.id) for (const name of names) lost.add(name);
    return names;
  };
  return {
    isCurrent: async ({ directory }, version) =>
      existsSync(directory) ? isPublished(directory, version) : version === null,
    sync: (repository) =>
      locks.hold({ name: `hosted:${repository.id}` }, () => syncWatched(repository), new AbortController().signal),
    watch({ id }) {
      const watch: Watch = { lost: new Set(), end: () => watches.delete(watch) };
      watches.set(watch, id);
      return watch;
    },
  };
}

/** False also after a push that was received and, because the server or the store failed, not published. */
async function isPublished(directory: string, version: number | null): Promise<boolean> {
  const state = await readState(directory);
  return state.version === version && changesOf(state.refs, await readReferences(directory)).length === 0;
}

const maxAttempts = 5;

/** Git refuses to move a reference that a push to this server changes at the same time: then compares again. */
async function syncUntilMoved(repository: HostedRepository, options: SharedOptions): Promise<string[]> {
  for (let attempt = 1; ; attempt += 1) {
    try {
      return await syncHeld(repository, options);
    } catch (error) {
      if (!(error instanceof GitFailed) || error.command !== "update-ref" || attempt === maxAttempts) throw error;
    }
  }
}

async function syncHeld(repository: HostedRepository, options: SharedOptions): Promise<string[]> {
  const { id, directory } = repository;
  if (!existsSync(directory)) await layOut(directory, options.layout);
  const published = (await readPublished(options.db, id)) ?? nothing;
  // A restored database knows nothing of what was published: what is here then counts as new, not as removed there.
  const before = published.version === 0 ? nothing : await readState(directory);
  const local = await readReferences(directory);
  const changes = changesOf(before.refs, local);
  const isMoved = published.version !== before.version;
  const lost = changes.filter(({ name, after }) => {
    const now = published.refs[name];
    return isMoved && now !== before.refs[name] && now !== after;
  });
  const kept = changes.filter((change) => !lost.includes(change));
  if (isMoved) await fetchPacks(repository, { ...options, published });
  const refs = applied(published.refs, kept);
  await moveReferences(directory, local, refs);
  const head = isMoved && kept.length === 0 ? published.head : await readHead(directory);
  if (isMoved && head === published.head && head !== "") await writeFile(join(directory, "HEAD"), head);
  const version = kept.length === 0 && head === published.head ? published.version : published.version + 1;
  if (version !== published.version)
    await publish(repository, { ...options, published, next: { version, head, refs } });
  await writeState(directory, { version, refs });
  return lost.map(({ name }) => name);
}

interface Change {
  name: string;
  /** Undefined: removed. */
  after: string | undefined;
}

function changesOf(before: References, after: References): Change[] {
  const names = new Set([...Object.keys(before), ...Object.keys(after)]);
  return [...names].filter((name) => before[name] !== after[name]).map((name) => ({ name, after: after[name] }));
}

function applied(refs: References, changes: Change[]): References {
  const result = new Map(Object.entries(refs));
  for (const { name, after } of changes) {
    if (after === undefined) result.delete(name);
    else result.set(name, after);
  }
  return Object.fromEntries(result);
}

async function readPublished(db: Kysely<Tables>, id: number): Promise<Published | undefined> {
  return db
    .selectFrom("hosted_repository_saves")
    .select(["version", "head", "refs", "packs"])
    .where("repository_id", "=", id)
    .executeTakeFirst();
}

interface Publication extends SharedOptions {
  published: Published;
  next: Omit<Published, "packs">;
}

/** Packs first: references that are published name objects that every server can fetch. */
async function publish(
  repository: HostedRepository,
  { db, vault, store, published, next }: Publication,
): Promise<void> {
  const { id, directory } = repository;
  // Objects of merges and imports are single files.
  await runGit({ location: { directory }, args: ["repack", "-d", "-q"] });
  const packs = localPacks(directory);
  const key = await teamKey(db, vault, repository.teamId);
  for (const name of packs.filter((each) => !published.packs.includes(each))) {
    const content = createReadStream(join(directory, "objects/pack", `${name}.pack`));
    await store.put(packKey(id, name), sealBlocks(content, { key, about: packKey(id, name) }));
  }
  const values = { version: next.version, head: next.head, refs: JSON.stringify(next.refs), packs };
  await db
    .insertInto("hosted_repository_saves")
    .values({ repository_id: id, ...values })
    .onConflict((row) => row.column("repository_id").doUpdateSet(values))
    .execute();
}

async function fetchPacks(
  { id, teamId, directory }: HostedRepository,
  { db, vault, store, published }: SharedOptions & { published: Published },
): Promise<void> {
  const existing = localPacks(directory);
  const key = await teamKey(db, vault, teamId);
  for (const name of published.packs.filter((each) => !existing.includes(each))) {
    const found = await store.get(packKey(id, name));
    if (found === null)
      throw new ObjectStoreFault(`${packKey(id, name)} is missing in ${store.description}. Restore it.`);
    const args = ["index-pack", "--stdin", "--fix-thin"];
    const git = startGit({ location: { directory }, args });
    const ended = git.ended({ args });
    git.stdout.resume();
    await pipeline(openBlocks(found.stream, { key, about: packKey(id, name) }), git.stdin);
    const { code, stderr } = await ended;
    if (code !== 0) throw new GitFailed("index-pack", stderr);
  }
}

const packKey = (id: number, name: string): string => `repositories/${id}/${name}`;

const localPacks = (directory: string): string[] =>
  readdirSync(join(directory, "objects/pack"))
    .flatMap((name) => /^(pack-[0-9a-f]+)\.pack$/.exec(name)?.[1] ?? [])
    .sort();

const readReferences = async (directory: string): Promise<References> =>
  Object.fromEntries(await listReferences(directory, ["refs"]));

const noObject = "0".repeat(40);

async function moveReferences(directory: string, from: References, to: References): Promise<void> {
  const changes = changesOf(from, to);
  const expected = (name: string) => from[name] ?? noObject;
  const removals = changes.flatMap(({ name, after }) => (after ? [] : [`delete ${name} ${expected(name)}\n`]));
  const updates = changes.flatMap(({ name, after }) => (after ? [`update ${name} ${after} ${expected(name)}\n`] : []));
  // Git refuses to create `a/b` in the call that removes `a`.
  for (const lines of [removals, updates].filter(({ length }) => length > 0))
    await runGit({ location: { directory }, args: ["update-ref", "--stdin"], input: lines.join("") });
}

const readHead = (directory: string): Promise<string> => readFile(join(directory, "HEAD"), "utf8");

/** What this copy had in common with the published one when they were last compared. */
type State = Pick<Published, "version" | "refs">;

const stateFile = "platform-published.json";

async function readState(directory: string): Promise<State> {
  try {
    return JSON.parse(await readFile(join(directory, stateFile), "utf8"));
  } catch {
    return nothing;
  }
}

async function writeState(directory: string, state: State): Promise<void> {
  const path = join(directory, stateFile);
  await writeFile(`${path}.draft`, JSON.stringify(state));
  await rename(`${path}.draft`, path);
}
