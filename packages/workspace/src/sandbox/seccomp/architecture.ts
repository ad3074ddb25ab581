// The architectures for which there is a system-call filter.
export type Architecture = "x86_64" | "aarch64";

/** Undefined for unsupported ones: then there is no filter, and the report says so. */
export function architectureOf(processor: string): Architecture | undefined {
  if (processor === "x64") return "x86_64";
  if (processor === "arm64") return "aarch64";
  return undefined;
}
