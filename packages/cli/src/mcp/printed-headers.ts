// Headers for an MCP server from a command of the user's, such as one that asks a keychain. What it prints is never shown.
import { execFile } from "node:child_process";
import type { Environment } from "@agentcli/host";
import { hostDirectory } from "@agentcli/workspace";

const limitMs = 10_000;
const maxBytes = 64 * 1024;

export function headersFrom(
  command: string,
  { variables, programs }: Pick<Environment, "variables" | "programs">,
): Promise<Record<string, string>> {
  const env = programs.environment(variables);
  return new Promise((resolve, reject) => {
    const options = { cwd: hostDirectory, env, timeout: limitMs, maxBuffer: maxBytes, encoding: "utf8" as const };
    execFile("/bin/sh", ["-c", command], options, (error, stdout, stderr) => {
      const headers = error ? null : readHeaders(stdout);
      if (headers) resolve(headers);
      else reject(new Error(`its http_headers_helper ${error ? failure(error, stderr) : notHeaders}`));
    });
  });
}

const notHeaders = "must print a JSON object of header names and values, and printed something else";

function failure(error: Error & { code?: unknown; killed?: boolean }, stderr: string): string {
  if (error.killed) return `took longer than ${limitMs / 1000} s or printed too much`;
  const output = stderr.trim().slice(-500);
  return `ended with exit code ${String(error.code)}${output ? `: ${output}` : ""}`;
}

function readHeaders(text: string): Record<string, string> | null {
  try {
    const value: unknown = JSON.parse(text);
    if (typeof value !== "object" || value === null || Array.isArray(value)) return null;
    const isSound = Object.entries(value).every(
      ([name, output]) => /^[\w!#$%&'*+.^`|~-]+$/.test(name) && isPlain(output),
    );
    return isSound ? (value as Record<string, string>) : null;
  } catch {
    return null;
  }
}

const isPlain = (value: unknown): boolean => typeof value === "string" && /^[\t\x20-\x7e\x80-\xff]*$/.test(value);
