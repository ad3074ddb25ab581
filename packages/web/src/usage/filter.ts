// Whose usage, and of how many days. It is part of the address.
export interface UsageFilter {
  of?: "me" | "team";
  days?: number;
}

export function readUsageFilter({ of, days }: Record<string, unknown>): UsageFilter {
  const count = Number(days);
  return {
    ...((of === "me" || of === "team") && { of }),
    ...(Number.isInteger(count) && count >= 1 && count <= 366 && { days: count }),
  };
}
