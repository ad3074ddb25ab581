// A secret as it may be shown: enough to tell two apart, too little to use.
export function maskSecret(secret: string): string {
  if (secret.length < shortestShown) return "***";
  return `${secret.slice(0, 6)}***${secret.slice(-3)}`;
}

/** Of a shorter one too much would be seen. */
const shortestShown = 20;
