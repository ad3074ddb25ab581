// Amounts of money as programs and people read them. No zod here: every start of the program reads it.

/** US dollars with six digits: sums of binary fractions end in meaningless ones. */
export const decimalUsd = (usd: number): string => usd.toFixed(6);

/** For a wire with cents as numbers: four digits, which are six of the dollar. */
export const toCents = (usd: number): number => Number((usd * 100).toFixed(4));
