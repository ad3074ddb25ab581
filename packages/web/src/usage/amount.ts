// Large numbers for people: 1,234 and 5.6M.
const whole = new Intl.NumberFormat("en");
const compact = new Intl.NumberFormat("en", { notation: "compact", maximumFractionDigits: 1 });

export const amount = (count: number): string => (count < 100_000 ? whole : compact).format(count);
