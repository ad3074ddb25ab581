// Version of the exec event stream, in its first line. No zod here: every start of the program reads it.
export const schemaVersion = "1.0";
