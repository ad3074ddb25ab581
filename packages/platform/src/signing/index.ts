// Signs what the platform commits, with a key that never leaves the host.
export { openSigningKey, SigningProblem } from "./key-file.ts";
export { publishedKey, serveSigningKey } from "./publish.ts";
export type { SigningKey } from "./ssh-signature.ts";
