// Removes secrets from errors of git: a host may repeat what it was sent.
import { GitFailed, RepositoryFault } from "../git/index.ts";

export function redactError(error: unknown, secrets: string[]): unknown {
  if (!(error instanceof Error) || !mentions(error, secrets)) return error;
  const redact = (text: string) => secrets.reduce((rest, secret) => rest.replaceAll(secret, "[REDACTED]"), text);
  if (error instanceof GitFailed) return new GitFailed(error.command, redact(error.stderr));
  const message = redact(error.message);
  const options = { cause: redactError(error.cause, secrets) };
  return error instanceof RepositoryFault
    ? new RepositoryFault(error.code, message, options)
    : new Error(message, options);
}

const mentions = (error: Error, secrets: string[]): boolean =>
  secrets.some((secret) => secret !== "" && `${error.message}${error.stack}`.includes(secret)) ||
  (error.cause instanceof Error && mentions(error.cause, secrets));
