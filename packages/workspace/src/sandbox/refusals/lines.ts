// Finds the lines of an output in which a program reports what a sandbox can cause, and the paths they name. Pure.

export type Symptom = "read-only" | "denied" | "not-permitted" | "network";

export interface ReportedLine {
  symptom: Symptom;
  text: string;
}

/** In the words of C libraries, runtimes and package managers. Of several in one line the first counts. */
const phrases: [Symptom, RegExp][] = [
  [
    "network",
    /getaddrinfo (?:ENOTFOUND|EAI_AGAIN)|could not resolve host|couldn't resolve host|temporary failure (?:in name resolution|resolving)|name or service not known|name resolution failed|failed to lookup address information|unable to resolve host address|ENETUNREACH|network is unreachable|no route to host|couldn't connect to server|failed to establish a new connection|unknownhostexception|no such host|dial (?:tcp|udp)\b.*(?:lookup|unreachable|not supported)|address family not supported|EAFNOSUPPORT/i,
  ],
  // Their messages where a variable of the sandbox has set them offline.
  [
    "network",
    /GOPROXY=off|you're using offline mode|--offline|offline mode is enabled|network connectivity is disabled|ENOTCACHED|cannot access \S+ in offline mode|network (?:access|requests?) (?:is|are|has been) disabled|CONNECT tunnel failed, response 403/i,
  ],
  ["read-only", /\bread-only file ?system\b|\bEROFS\b/i],
  ["not-permitted", /\boperation not permitted\b|\bEPERM\b|no new privileges/i],
  // Users and groups that do not exist in the sandbox.
  [
    "not-permitted",
    /\bset(?:re|res|e|fs)?[ug]id\b.*\binvalid argument|\bsetgroups\b.*\bfailed|changing (?:ownership|group) of .*\binvalid argument/i,
  ],
  ["denied", /\bpermission denied\b|\bEACCES\b/i],
];
/** One look for most output, which has none of them. */
const anyPhrase = new RegExp(phrases.map(([, phrase]) => phrase.source).join("|"), "i");

export const mayReport = (text: string): boolean => anyPhrase.test(text);

export function readSymptom(line: string): ReportedLine | undefined {
  const found = phrases.find(([, phrase]) => phrase.test(line));
  return found && { symptom: found[0], text: line };
}

/** In quotation marks, or between colons as shells and C programs write it; before the phrase or after it. */
export function pathsIn(reported: string): string[] {
  const line = reported.replace(/^\/\S+: (?=(?:line )?\d+: )/, "sh: ");
  const quoted = [...line.matchAll(/['"`‘“]([^'"`’”]{1,4096})['"`’”]/g)].map(([, path = ""]) => path);
  if (quoted.length > 0) return quoted;
  const bare = [...line.matchAll(/(?:^|[\s:(])((?:~|\.{1,2})?\/[^\s:'"(),]+)/g)].map(([, path = ""]) => path);
  if (bare.length > 1 && line.startsWith(`${bare[0]}: `)) return bare.slice(1);
  if (bare.length > 0) return bare;
  const [, between] = line.match(/^(?:[^:]+: )(?:line \d+: )?([^:\s]+): [^:]+$/) ?? [];
  return between === undefined ? [] : [between];
}
