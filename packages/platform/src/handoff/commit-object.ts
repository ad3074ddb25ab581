// Commits as git stores them: written, signed, and made anew on other parents. Pure. Bytes are kept as latin1 characters.

export interface Person {
  name: string;
  email: string;
}

export interface NewCommit {
  tree: string;
  parent: string;
  author: Person;
  committer: Person;
  at: Date;
  message: string;
}

/** With one line as git would write it; what it would not take in a name is left out. */
export function commitText({ tree, parent, author, committer, at, message }: NewCommit): string {
  const when = `${Math.floor(at.getTime() / 1000)} +0000`;
  const headers = [
    `tree ${tree}`,
    `parent ${parent}`,
    `author ${personText(author)} ${when}`,
    `committer ${personText(committer)} ${when}`,
  ];
  return latin(`${headers.join("\n")}\n\n${message}`);
}

const personText = ({ name, email }: Person): string => `${plain(name) || plain(email) || "unknown"} <${plain(email)}>`;

const plain = (text: string): string =>
  text.replace(/[<>\x00-\x1f\x7f]/g, "").replace(/^[\s.,:;"'\\]+|[\s.,:;"'\\]+$/g, "");

const latin = (text: string): string => Buffer.from(text).toString("latin1");

interface Header {
  name: string;
  /** With the lines that go on with it. */
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

export const isSigned = (commit: ParsedCommit): boolean => commit.headers.some(isSignature);

const isSignature = ({ name }: Header): boolean => /^gpgsig(?:-sha256)?$/.test(name);

export const isCommittedBy = (commit: ParsedCommit, person: Person): boolean =>
  (valuesOf(commit, "committer")[0] ?? "").startsWith(latin(`${personText(person)} `));

export interface Remake {
  parents: Map<string, string>;
  /** Whoever it names as author; null: whom it names already. */
  author: Person | null;
}

/** On the new names of its parents, and without a signature: that was of what it was before. */
export function remakeCommit(commit: ParsedCommit, { parents, author }: Remake): string {
  const headers = commit.headers
    .filter((header) => !isSignature(header))
    .map(({ name, value }) => {
      if (name === "parent") return `parent ${parents.get(value) ?? value}`;
      if (name !== "author" || author === null) return `${name} ${value}`;
      return `author ${latin(personText(author))} ${timeIn(value)}`;
    });
  return `${headers.join("\n")}\n\n${commit.message}`;
}

/** What follows the person. */
const timeIn = (value: string): string => value.slice(value.lastIndexOf(">") + 2);

/** The signature stands last among the headers; its lines are indented, as git goes on with a header. */
export function withSignature(text: string, signature: string, objectFormat: "sha1" | "sha256"): string {
  const header = `${objectFormat === "sha1" ? "gpgsig" : "gpgsig-sha256"} ${signature.replaceAll("\n", "\n ")}\n`;
  const end = text.indexOf("\n\n") + 1;
  return `${text.slice(0, end)}${header}${text.slice(end)}`;
}
