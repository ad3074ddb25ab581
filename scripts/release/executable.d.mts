export const architectures: string[];

export const nodeComponent: { name: string; version: string; license: string };

export function writeExecutable(root: string, directory: string, architecture: string): Promise<string>;

export function collectFiles(options: { root: string; files: string; architecture: string }): void;

export function describeProgram(options: {
  root: string;
  files: string;
  node: string;
}): Promise<{ script: string; listed: { path: string; mode: number }[]; digest: string }>;
