// Patches as models write them, with what they make of the files and the answer of the tool.
export interface RealPatch {
  name: string;
  files: Record<string, string>;
  patch: string;
  /** Files afterwards; the same as before for a patch that is refused. */
  after?: Record<string, string>;
  /** Parts of the answer. */
  answers: string[];
  /** What the answer must not contain. */
  omits?: string[];
}

const go =
  'package main\n\nimport "fmt"\n\nfunc add(a, b int) int {\n\treturn a + b\n}\n\nfunc main() {\n\tfmt.Println(add(1, 2))\n}\n';
const python = "def first():\n    return 1\n\n\ndef second():\n    return 1\n\n\ndef third():\n    return 1\n";
const lines = (count: number) => Array.from({ length: count }, (_, index) => `line ${index + 1}\n`).join("");
const star = (...body: string[]) => ["*** Begin Patch", ...body, "*** End Patch", ""].join("\n");
const success = "Exit code: 0\n";

export const realPatches: RealPatch[] = [
  {
    name: "the answer names the lines that changed",
    files: { "a.txt": lines(30) },
    patch: star(
      ...["*** Update File: a.txt", "@@", " line 2", "-line 3", "+three", "+three and a half", " line 4"],
      ...["@@", "-line 20", "+twenty", "@@", " line 24", "-line 25", "-line 26", " line 27"],
    ),
    after: {
      "a.txt": lines(30)
        .replace("line 3\n", "three\nthree and a half\n")
        .replace("line 20\n", "twenty\n")
        .replace("line 25\nline 26\n", ""),
    },
    answers: [
      `${success}Wall time: `,
      "\nOutput:\nSuccess. Updated the following files:\nM a.txt\n",
      "\na.txt: changed lines 3-4, 21; 2 lines removed before line 26\n",
    ],
    omits: ["Note"],
  },
  {
    name: "an added and a deleted file are listed as ever",
    files: { old: "x\n" },
    patch: star("*** Add File: src/new.txt", "+one", "*** Delete File: old"),
    after: { "src/new.txt": "one\n" },
    answers: ["Success. Updated the following files:\nA src/new.txt\nD old\n"],
    omits: ["changed lines"],
  },
  {
    name: "spaces where the file has tabs are reported",
    files: { "main.go": go },
    patch: star("*** Update File: main.go", "@@ func add(a, b int) int {", "-    return a + b", "+    return b + a"),
    after: { "main.go": go.replace("\treturn a + b", "    return b + a") },
    answers: [
      success,
      "main.go: changed lines 6\n",
      'Note on main.go: line 6: found only by ignoring tabs and spaces at the start and end of lines: the file had "\\treturn a + b" where the patch has "    return a + b".',
    ],
  },
  {
    name: "white space at the end of a line is reported",
    files: { "a.md": "title  \ntext\n" },
    patch: star("*** Update File: a.md", "@@", " title", "-text", "+words"),
    after: { "a.md": "title  \nwords\n" },
    answers: [success, 'ignoring white space at the end of lines: the file had "title  " where the patch has "title"'],
  },
  {
    name: "a typographic quote is reported",
    files: { "a.md": "say “hi”\nend\n" },
    patch: star("*** Update File: a.md", "@@", ' say "hi"', "-end", "+END"),
    after: { "a.md": "say “hi”\nEND\n" },
    answers: [success, "ignoring the kind of dashes, quotes and spaces"],
  },
  {
    name: "lines that stand in several places are changed in the first, and the others are named",
    files: { "a.py": python },
    patch: star("*** Update File: a.py", "@@", "-    return 1", "+    return 2"),
    after: { "a.py": python.replace("return 1", "return 2") },
    answers: [success, "Note on a.py: line 2: ambiguous: these lines were also at line 6, 10 of the file as it was."],
  },
  {
    name: "an @@ line that stands in several places is reported",
    files: { "a.ts": "class A {\n  run() {\n    a();\n  }\n}\nclass B {\n  run() {\n    a();\n  }\n}\n" },
    patch: star("*** Update File: a.ts", "@@   run() {", "-    a();", "+    b();"),
    after: { "a.ts": "class A {\n  run() {\n    b();\n  }\n}\nclass B {\n  run() {\n    a();\n  }\n}\n" },
    answers: [success, 'line 3: ambiguous: "  run() {" is also at line 7 of the file as it was.'],
  },
  {
    name: "an @@ line that names one place is not in question",
    files: { "a.py": python },
    patch: star("*** Update File: a.py", "@@ def second():", "-    return 1", "+    return 2"),
    after: { "a.py": python.replace("second():\n    return 1", "second():\n    return 2") },
    answers: ["a.py: changed lines 6\n"],
    omits: ["ambiguous", "Note"],
  },
  {
    name: "a new file over an existing one is refused",
    files: { "a.txt": "precious\n" },
    patch: star("*** Add File: a.txt", "+new"),
    answers: ['Failed to add a.txt: it exists already. Change it with "*** Update File: a.txt"'],
  },
  {
    name: "a file that is added twice is refused",
    files: {},
    patch: star("*** Add File: a.txt", "+1", "*** Add File: ./a.txt", "+2"),
    answers: ["Failed to add a.txt: it exists already"],
  },
  {
    name: "a file that is deleted first can be added",
    files: { "a.txt": "old\n" },
    patch: star("*** Delete File: a.txt", "*** Add File: a.txt", "+new"),
    after: { "a.txt": "new\n" },
    answers: [success],
  },
  {
    name: "a plain unified diff is understood",
    files: { "src/a.txt": lines(12) },
    patch: "--- a/src/a.txt\n+++ b/src/a.txt\n@@ -4,3 +4,4 @@\n line 4\n-line 5\n+five\n+five and a half\n line 6\n",
    after: { "src/a.txt": lines(12).replace("line 5\n", "five\nfive and a half\n") },
    answers: ["M src/a.txt\n", "src/a.txt: changed lines 5-6\n"],
  },
  {
    name: "the output of git diff for several files is understood",
    files: { "a.txt": "1\n2\n3\n", gone: "x\n", "old name.txt": "1\n2\n" },
    patch: [
      ...["diff --git a/a.txt b/a.txt", "index 01e79c3..b8b933b 100644", "--- a/a.txt", "+++ b/a.txt"],
      ...["@@ -1,3 +1,3 @@", " 1", "-2", "+two", " 3"],
      ...[
        "diff --git a/gone b/gone",
        "deleted file mode 100644",
        "index 587be6b..0000000",
        "--- a/gone",
        "+++ /dev/null",
      ],
      ...["@@ -1 +0,0 @@", "-x"],
      ...[
        "diff --git a/new/made.txt b/new/made.txt",
        "new file mode 100644",
        "index 0000000..d00491f",
        "--- /dev/null",
      ],
      ...["+++ b/new/made.txt", "@@ -0,0 +1,2 @@", "+one", "+two"],
      ...["diff --git a/old name.txt b/new name.txt", "similarity index 50%", "rename from old name.txt"],
      ...[
        "rename to new name.txt",
        "--- a/old name.txt\t",
        "+++ b/new name.txt\t",
        "@@ -1,2 +1,2 @@",
        "-1",
        "+one",
        " 2",
        "",
      ],
    ].join("\n"),
    after: { "a.txt": "1\ntwo\n3\n", "new/made.txt": "one\ntwo\n", "new name.txt": "one\n2\n" },
    answers: ["M a.txt\nD gone\nA new/made.txt\nM new name.txt\n"],
  },
  {
    name: "the line number of a diff decides between equal places",
    files: { "a.py": python },
    patch: "--- a.py\n+++ a.py\n@@ -10 +10 @@ def third():\n-    return 1\n+    return 3\n",
    after: { "a.py": `${python.slice(0, -"1\n".length)}3\n` },
    answers: ["changed lines 10\n"],
    omits: ["ambiguous"],
  },
  {
    name: "wrong numbers in a diff do not matter, and an unclear place is reported",
    files: { "a.py": python },
    patch: "--- a/a.py\n+++ b/a.py\n@@ -8,9 +8,9 @@\n-    return 1\n+    return 3\n",
    after: { "a.py": python.replace("second():\n    return 1", "second():\n    return 3") },
    answers: ["changed lines 6\n", "ambiguous: these lines were also at line 2, 10"],
  },
  {
    name: "a diff without context inserts at its line",
    files: { "a.txt": "1\n2\n3\n" },
    patch: "--- a/a.txt\n+++ b/a.txt\n@@ -2,0 +3 @@\n+two and a half\n",
    after: { "a.txt": "1\n2\ntwo and a half\n3\n" },
    answers: ["a.txt: changed lines 3\n"],
  },
  {
    name: "headers of a diff between the markers are understood",
    files: { "a.txt": "1\n2\n", b: "x\n" },
    patch: star(
      ...["*** Update File: a.txt", "--- a/a.txt", "+++ b/a.txt", "@@ -1,2 +1,2 @@", " 1", "-2", "+two"],
      ...["*** Delete File: b"],
    ),
    after: { "a.txt": "1\ntwo\n" },
    answers: [success, "M a.txt\nD b\n"],
  },
  {
    name: "a whole diff between the markers is understood",
    files: { "a.txt": "1\n2\n" },
    patch: star("diff --git a/a.txt b/a.txt", "--- a/a.txt", "+++ b/a.txt", "@@ -1,2 +1,2 @@", "-1", "+one", " 2"),
    after: { "a.txt": "one\n2\n" },
    answers: [success],
  },
  {
    name: "comments of SQL and Lua in a diff are lines, not headers",
    files: { "a.sql": "select 0;\n-- a/old\nselect 1;\nselect 2;\n" },
    patch:
      "--- a/a.sql\n+++ b/a.sql\n@@ -1,2 +1,2 @@\n select 0;\n--- a/old\n+++ b/new\n@@ -4 +4 @@\n-select 2;\n+select 3;\n",
    after: { "a.sql": "select 0;\n++ b/new\nselect 1;\nselect 3;\n" },
    answers: ["a.sql: changed lines 2, 4\n"],
  },
  {
    name: "a Markdown fence around a patch is ignored",
    files: { "a.txt": "1\n" },
    patch: `\`\`\`diff\n${star("*** Update File: a.txt", "@@", "-1", "+one")}\`\`\`\n`,
    after: { "a.txt": "one\n" },
    answers: [success],
  },
  {
    name: "a Markdown fence around a diff with a note about the last newline is ignored",
    files: { "a.txt": "1\n2" },
    patch:
      "```\n--- a/a.txt\n+++ b/a.txt\n@@ -1,2 +1,2 @@\n 1\n-2\n\\ No newline at end of file\n+two\n\\ No newline at end of file\n```",
    after: { "a.txt": "1\ntwo\n" },
    answers: [success],
  },
  {
    name: "a heredoc inside a fence is unwrapped",
    files: { "a.txt": "1\n" },
    patch: `\`\`\`bash\napply_patch <<'EOF'\n${star("*** Update File: a.txt", "@@", "-1", "+one")}EOF\n\`\`\``,
    after: { "a.txt": "one\n" },
    answers: [success],
  },
  {
    name: "a failure shows the nearest lines with their numbers",
    files: { "main.go": go },
    patch: star("*** Update File: main.go", "@@", " func add(a, b int) int {", "-\treturn a - b", "+\treturn 0", " }"),
    answers: [
      "Failed to find expected lines in main.go:\nfunc add(a, b int) int {\n\treturn a - b\n}",
      "Nearest match at line 5 (> marks lines that differ):\n  5: func add(a, b int) int {\n> 6: \treturn a + b\n  7: }",
    ],
  },
  {
    name: "a failure of one line shows the most similar one",
    files: { "main.go": go },
    patch: star("*** Update File: main.go", "@@", "-\tfmt.Printf(add(1, 3))", "+\tfmt.Println(add(2, 2))"),
    answers: ["Nearest match at line 10", "> 10: \tfmt.Println(add(1, 2))"],
  },
  {
    name: "a failure with nothing similar answers so",
    files: { "a.txt": "1\n" },
    patch: star("*** Update File: a.txt", "@@", "-something else entirely", "+x"),
    answers: ["No lines of the file are like these. Read the file again"],
  },
  {
    name: "changes in the wrong order are named",
    files: { "a.txt": lines(5) },
    patch: star("*** Update File: a.txt", "@@", "-line 4", "+four", "@@", "-line 2", "+two"),
    answers: ["They stand at line 2, above the previous change."],
  },
  {
    name: "a replaced line keeps its own ending where endings are mixed",
    files: { "a.txt": "1\n2\r\n3\n4\n5\r\n6\n" },
    patch: star("*** Update File: a.txt", "@@", " 1", "-2", "+two", " 3", "@@", "-4", "-5", "+four", "+five"),
    after: { "a.txt": "1\ntwo\r\n3\nfour\nfive\r\n6\n" },
    answers: [success],
  },
  {
    name: "a file with CRLF takes the lines of a diff with LF",
    files: { "a.txt": "1\r\n2\r\n" },
    patch: "--- a/a.txt\n+++ b/a.txt\n@@ -1,2 +1,3 @@\n 1\n+1.5\n 2\n",
    after: { "a.txt": "1\r\n1.5\r\n2\r\n" },
    answers: [success],
    omits: ["Note"],
  },
  {
    name: "a binary diff is refused with what to do",
    files: { "a.bin": "x" },
    patch: "diff --git a/a.bin b/a.bin\nindex 1..2 100644\nBinary files a/a.bin and b/a.bin differ\n",
    answers: ["binary files cannot be patched; use a command"],
  },
  {
    name: "a diff that climbs out of the workspace is refused",
    files: {},
    patch: "--- /dev/null\n+++ b/../../../../../../../../outside.txt\n@@ -0,0 +1 @@\n+x\n",
    answers: ["climbs out of the workspace"],
  },
];
