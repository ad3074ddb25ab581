// Commit objects as git stores them: formatting, signing and rewriting onto other parents. Pure. Bytes are represented as latin1 characters.

export interface Person {
  name: string;
  email: string;
}

export interface NewCommit {
  tree: string;
  /** In order; more than one for a merge. */
  parents: string[];
  author: Person;
  committer: Person;
  at: Date;
  message: string;
}

/** Formats a commit as git does. Characters that git does not accept in names are removed. */
export function commitText({ tree, parents, author, committer, at, message }: NewCommit): string {
  const when = `${Math.floor(at.getTime() / 1000)} +0000`;
  const headers = [
    `tree ${tree}`,
    ...parents.map((parent) => `parent ${parent}`),
    `author ${personText(author)} ${when}`,
    `committer ${personText(committer)} ${when}`,
  ];
  return toLatin1(`${headers.join("\n")}\n\n${message}`);
}

const personText = ({ name, email }: Person): string =>
  `${sanitize(name) || sanitize(email) || "unknown"} <${sanitize(email)}>`;

const sanitize = (text: string): string =>
  text.replace(/[<>\x00-\x1f\x7f]/g, "").replace(/^[\s.,:;"'\\]+|(?<![\s.,:;"'\\])[\s.,:;"'\\]+$/g, "");

const toLatin1 = (text: string): string => Buffer.from(text).toString("latin1");

interface Header {
  name: string;
  /** Includes continuation lines. */
  value: string;
}

export interface ParsedCommit {
  headers: Header[];
  message: string;
}

export function parseCommit(text: string): ParsedCommit {
  const end = text.indexOf("\n\n");
  const head = end < 0 ? text.trimEnd() : text.slice(0, end);
  const headers = head.split(/\n(?! )/).map((line) => {
    const space = line.indexOf(" ");
    return { name: line.slice(0, space), value: line.slice(space + 1) };
  });
  return { headers, message: end < 0 ? "" : text.slice(end + 2) };
}

export const valuesOf = ({ headers }: ParsedCommit, name: string): string[] =>
  headers.filter((header) => header.name === name).map(({ value }) => value);

/** As text; null if the commit says that it is in another encoding. */
export const messageOf = (commit: ParsedCommit): string | null =>
  valuesOf(commit, "encoding").length > 0 ? null : Buffer.from(commit.message, "latin1").toString();

export const isSigned = (commit: ParsedCommit): boolean => commit.headers.some(isSignature);

const isSignature = ({ name }: Header): boolean => /^gpgsig(?:-sha256)?$/.test(name);

export const isCommittedBy = (commit: ParsedCommit, person: Person): boolean =>
  (valuesOf(commit, "committer")[0] ?? "").startsWith(toLatin1(`${personText(person)} `));

export interface RewriteOptions {
  tree: string;
  parents: Map<string, string>;
  /** The new author; null keeps the existing one. */
  author: Person | null;
}

/** Replaces the tree, and the parents by their new names, and drops the signature, which no longer matches. */
export function rewriteCommit(commit: ParsedCommit, { tree, parents, author }: RewriteOptions): string {
  const headers = commit.headers
    .filter((header) => !isSignature(header))
    .map(({ name, value }) => {
      if (name === "tree") return `tree ${tree}`;
      if (name === "parent") return `parent ${parents.get(value) ?? value}`;
      if (name !== "author" || author === null) return `${name} ${value}`;
      return `author ${toLatin1(personText(author))} ${timeIn(value)}`;
    });
  return `${headers.join("\n")}\n\n${commit.message}`;
}

/** The time after the name and address. */
const timeIn = (value: string): string => value.slice(value.lastIndexOf(">") + 2);

/** Appends the signature as the last header, with indented continuation lines. */
export function withSignature(text: string, signature: string, objectFormat: "sha1" | "sha256"): string {
  const header = `${objectFormat === "sha1" ? "gpgsig" : "gpgsig-sha256"} ${signature.replaceAll("\n", "\n ")}\n`;
  const end = text.indexOf("\n\n") + 1;
  return `${text.slice(0, end)}${header}${text.slice(end)}`;
}
