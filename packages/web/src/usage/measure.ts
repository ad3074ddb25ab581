// What bars show: cost, or tokens where nothing has a known price.
import type { Spending } from "@agentcli/protocol/api";
import { money } from "../text/format.ts";
import { amount } from "./amount.ts";

interface Amounts {
  costCents: number;
  tokens: number;
}

export interface Measure {
  name: string;
  of(amounts: Amounts): number;
  format(value: number): string;
}

const cost: Measure = { name: "Cost", of: ({ costCents }) => costCents, format: money };
const tokens: Measure = { name: "Tokens", of: (amounts) => amounts.tokens, format: amount };

export const measureOf = ({ total }: Spending): Measure => (total.costCents > 0 ? cost : tokens);
