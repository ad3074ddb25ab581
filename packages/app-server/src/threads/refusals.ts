// What is refused about threads.
import { invalidRequest } from "../method.ts";

export const unknownThread = (threadId: string): Error => invalidRequest(`thread not found: ${threadId}`);
