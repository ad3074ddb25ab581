// Signs the platform's commits with a key that never leaves the server.
export { openSigningKey, SigningError } from "./key-file.ts";
export { publishedKey, serveSigningKey } from "./publish.ts";
export type { SigningKey } from "./ssh-signature.ts";
