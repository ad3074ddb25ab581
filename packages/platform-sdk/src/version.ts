// What this package says it is.
export const version = "0.1.0";
