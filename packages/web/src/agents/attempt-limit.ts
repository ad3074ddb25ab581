// How many attempts at one prompt there are at most.
export const maxAttempts = 6;
