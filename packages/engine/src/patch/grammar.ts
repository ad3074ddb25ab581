// The patch language as a lark grammar, for models that write the patch as free text.
import { marker } from "./markers.ts";

/** The strict form. The parser also accepts spaces around markers, CRLF, and a heredoc around the patch. */
export const patchGrammar = `start: "${marker.begin}" NEWLINE file+ "${marker.end}" NEWLINE?

file: add | delete | update

add: "${marker.add}" PATH NEWLINE new_line*
delete: "${marker.delete}" PATH NEWLINE
update: "${marker.update}" PATH NEWLINE (chunks | move chunks?)
move: "${marker.move}" PATH NEWLINE

chunks: (anchor* body) (anchor+ body)*
anchor: "${marker.anchor}" (" " TEXT)? NEWLINE
body: line+ end_of_file?
line: (" " | "-" | "+") TEXT? NEWLINE | NEWLINE
new_line: "+" TEXT? NEWLINE
end_of_file: "${marker.endOfFile}" NEWLINE

PATH: /[^\\r\\n]+/
TEXT: /[^\\r\\n]+/
NEWLINE: /\\n/
`;
