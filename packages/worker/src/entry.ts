// Where Node comes in.
import { main } from "./main.ts";

void main(process.argv.slice(2), __dirname);
