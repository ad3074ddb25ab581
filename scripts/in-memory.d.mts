export function inMemory<Result>(use: (directory: string | null) => Result, memory?: string): Result;
