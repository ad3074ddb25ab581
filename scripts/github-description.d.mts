// Types of github-description.mjs, for tests.
export const excerptFile: string;
export function provideDescription(): string;
export function excerptOf(description: unknown): unknown;
