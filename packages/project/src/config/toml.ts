// TOML as configuration files are read: the library's writer is not loaded.
export { parse, TomlError } from "smol-toml";
