// A TOML table before it is known to be a valid configuration.
export type Table = { [key: string]: unknown };
