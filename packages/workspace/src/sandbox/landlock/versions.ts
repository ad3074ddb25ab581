// Versions of the Landlock ABI that matter here.
/** Earlier versions cannot stop truncation of files outside. */
export const minVersion = 3;
/** From this version on signals and abstract sockets are confined to the domain. */
export const scopingVersion = 6;
