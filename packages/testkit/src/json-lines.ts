// Parses JSON Lines; the error for an invalid line names it.
export function jsonLines(text: string): unknown[] {
  return text.split("\n").flatMap((line, index) => (line.trim() === "" ? [] : [parseLine(line, index + 1)]));
}

function parseLine(line: string, number: number): unknown {
  try {
    return JSON.parse(line);
  } catch (cause) {
    throw new Error(`line ${number} is not JSON: ${line.slice(0, 200)}`, { cause });
  }
}
