// Usage of runs, and what they may still spend.
export { addUsageRoute } from "./routes.ts";
export {
  type Allowance,
  allowanceOf,
  leftToSpend,
  limitedTo,
  priceUnknown,
  type Spender,
  spendLimitReached,
} from "./spend.ts";
export { type Charges, chargesOf } from "./usage.ts";
