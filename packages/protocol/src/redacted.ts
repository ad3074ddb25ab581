// What stands in the place of a secret, in everything that is stored, shown or sent.
export const redacted = "[REDACTED]";
