// Checks every section of a backup against what a platform writes. Whatever else it contains is refused, or left out of a
// sealed backup of the former version, which included every file of the data directory.
import { posix } from "node:path";
import { BackupError } from "./backup-error.ts";
import { isAllowed, isPrivateKey } from "./files.ts";
import { type ArchiveEvent, type FileSection, printable, type Section } from "./format.ts";
import type { ArchiveReader } from "./read-archive.ts";
import type { StoredTable } from "./tables.ts";

export interface Contents {
  tables: StoredTable[];
  sequences: string[];
  /** The key-encryption key; null in an archive that is not sealed. */
  kek: Buffer | null;
  bytes: { tables: number; files: number };
  leftOut: string[];
}

/** Reads the archive to its end; changes nothing. */
export async function verifyArchive(archive: ArchiveReader, signal: AbortSignal): Promise<Contents> {
  await authenticate(archive, signal);
  const contents: Contents = { tables: [], sequences: [], kek: null, bytes: { tables: 0, files: 0 }, leftOut: [] };
  let section: Section | null = null;
  const onLeftOut = (path: string): void => {
    if (!contents.leftOut.some((parent) => path.startsWith(`${parent}/`))) contents.leftOut.push(path);
  };
  for await (const event of allowedEvents(archive, signal, onLeftOut)) {
    if (event.kind === "section") {
      section = event.section;
      if (section.kind === "table") contents.tables.push(section);
      if (section.kind === "sequence") contents.sequences.push(section.name);
      continue;
    }
    if (section?.kind === "kek") contents.kek = Buffer.concat([contents.kek ?? Buffer.alloc(0), event.piece]);
    contents.bytes[section?.kind === "table" ? "tables" : "files"] += event.piece.length;
  }
  return contents;
}

/** Without a passphrase only its end shows who made it. Names are kept afterwards, so that no stranger fills the memory. */
async function authenticate({ facts, events }: ArchiveReader, signal: AbortSignal): Promise<void> {
  if (facts.salt === null) for await (const event of events(signal)) void event;
}

/** Used for every reading, so that a file exchanged in between is noticed too. */
export async function* allowedEvents(
  { facts, events }: ArchiveReader,
  signal: AbortSignal,
  onLeftOut: (path: string) => void = () => {},
): AsyncGenerator<ArchiveEvent> {
  const check = openSectionCheck(facts.salt === null ? "plain" : "sealed");
  const mayLeaveOut = facts.formatVersion === 1;
  let room = 0;
  let isLeftOut = false;
  for await (const event of events(signal)) {
    if (event.kind === "section") {
      const { section } = event;
      isLeftOut = mayLeaveOut && "path" in section && !isAllowed(section);
      if (isLeftOut && "path" in section) onLeftOut(section.path);
      else room = check(section);
    } else room -= event.piece.length;
    if (room < 0 && !isLeftOut) throw new BackupError("A section of the backup is too long. Use another backup.");
    if (!isLeftOut) yield event;
  }
}

const maxBytes = {
  table: Number.POSITIVE_INFINITY,
  file: Number.POSITIVE_INFINITY,
  kek: 1024,
  "audit-head": 4096,
  sequence: 0,
  directory: 0,
  link: 0,
};

/** An archive is read before its end authenticates it: what is kept of it meanwhile must stay small. */
const maxNamed = 2_000;
const maxColumns = 20_000;

/** Returns how many bytes may follow the section. */
function openSectionCheck(protection: "sealed" | "plain"): (section: Section) => number {
  const seen = new Set<string>();
  let columns = 0;
  const checkPosition = openTreeCheck();
  return (section) => {
    if ("path" in section) {
      if (!isAllowed(section)) throw refused(section, "which is not a file of the platform");
      if (protection === "plain" && isPrivateKey(section)) throw refused(section, "a private key, and is not sealed");
      checkPosition(section);
      return maxBytes[section.kind];
    }
    if (protection === "plain" && section.kind === "kek") throw refused(section, "a key, and is not sealed");
    const id = "name" in section ? `${section.kind} ${section.name}` : section.kind;
    if (seen.has(id)) throw refused(section, "and contains it twice");
    seen.add(id);
    columns += section.kind === "table" ? section.columns.length : 0;
    if (seen.size > maxNamed || columns > maxColumns) throw refused(section, "and more tables than a platform has");
    return maxBytes[section.kind];
  };
}

/** Each entry follows its directory, as a walk of the tree lists them, and no name occurs twice. */
function openTreeCheck(): (section: FileSection) => void {
  const open = [{ path: ".", names: new Set<string>() }];
  return (section) => {
    const parent = posix.dirname(section.path);
    while (open.length > 1 && open.at(-1)?.path !== parent) open.pop();
    const directory = open.at(-1);
    const name = copyOf(posix.basename(section.path));
    if (directory?.path !== parent || directory.names.has(name))
      throw refused(section, "which comes twice or without its directory");
    directory.names.add(name);
    if (section.kind === "directory") open.push({ path: section.path, names: new Set() });
  };
}

/** A part of a string keeps the whole of it in memory. */
const copyOf = (text: string): string => Buffer.from(text).toString("latin1");

function refused(section: Section, why: string): BackupError {
  const what = "path" in section ? section.path : "name" in section ? section.name : section.kind;
  return new BackupError(`The backup contains ${printable(what)}, ${why}. It was not made by this platform.`);
}
