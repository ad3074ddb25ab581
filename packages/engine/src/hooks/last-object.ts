// The JSON object a text is, or ends with: scripts and models say other things first.
export function lastObject(text: string): Record<string, unknown> | null {
  const whole = parseObject(text);
  if (whole || !text.endsWith("}")) return whole;
  for (let at = text.indexOf("{"); at !== -1; at = text.indexOf("{", at + 1)) {
    const found = parseObject(text.slice(at));
    if (found) return found;
  }
  return null;
}

export function parseObject(text: string): Record<string, unknown> | null {
  try {
    const value: unknown = JSON.parse(text);
    return isTable(value) ? value : null;
  } catch {
    return null;
  }
}

function isTable(value: unknown): value is Record<string, unknown> {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}
