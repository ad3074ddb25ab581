// The JSON object that a text is or ends with: scripts and models print other text first.
export function lastObject(text: string): Record<string, unknown> | null {
  const whole = parseObject(text);
  if (whole || !text.endsWith("}")) return whole;
  for (let at = text.indexOf("{"); at !== -1; at = text.indexOf("{", at + 1)) {
    const object = parseObject(text.slice(at));
    if (object) return object;
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
