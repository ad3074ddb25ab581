// A Go module with a command, internal packages and tests beside the code.
import { commonFiles, filesFor, type Project } from "./project.ts";

export const go: Project = {
  files: {
    ...commonFiles,
    "README.md": "# ledger\n\n    go test ./...\n",
    "go.mod": "module example.com/ledger\n\ngo 1.19\n",
    ".gitignore": "/ledger\n",
    "cmd/ledger/main.go": `package main

import (
	"fmt"

	"example.com/ledger/internal/account"
)

func main() {
	fmt.Println(account.Balance([]int{100, -40}))
}
`,
    "internal/account/account.go": `// Package account adds up the entries of an account.
package account

// Balance is the sum of all entries.
func Balance(entries []int) int {
	sum := 0
	for _, entry := range entries[1:] {
		sum += entry
	}
	return sum
}
`,
    "internal/account/account_test.go": `package account

import "testing"

func TestBalance(t *testing.T) {
	if got := Balance([]int{100, -40}); got != 60 {
		t.Errorf("Balance = %d, want 60", got)
	}
}
`,
    ...filesFor(30, (name) => [
      `internal/${name}/${name}.go`,
      `// Package ${name} is one of many.\npackage ${name}\n\nfunc Double(value int) int { return 2 * value }\n`,
    ]),
  },
  repair: {
    test: "go test ./...",
    subject: "account: count the first entry",
    reported: /FAIL: Test(\w+)/,
    change: (path) => [
      `*** Update File: ${path}`,
      "@@ func Balance(entries []int) int {",
      "-	for _, entry := range entries[1:] {",
      "+	for _, entry := range entries {",
    ],
  },
  extension: {
    test: "set -o pipefail; go vet ./... && go test ./... 2>&1 | tail -50",
    subject: "account: add the average of all entries",
    branch: "average",
    mentioned: "func Balance",
    change: [
      "*** Update File: internal/account/account.go",
      "@@",
      " 	return sum",
      " }",
      "+",
      "+// Average is the balance by entry, rounded towards zero; of no entries it is 0.",
      "+func Average(entries []int) int {",
      "+	return Balance(entries) / len(entries)",
      "+}",
      "*** Update File: cmd/ledger/main.go",
      "@@ func main() {",
      " 	fmt.Println(account.Balance([]int{100, -40}))",
      "+	fmt.Println(account.Average([]int{100, -40}))",
      "*** Update File: internal/account/account_test.go",
      "@@",
      ' import "testing"',
      "+",
      "+func TestAverage(t *testing.T) {",
      "+	if got := Average(nil); got != 0 {",
      '+		t.Errorf("Average = %d, want 0", got)',
      "+	}",
      "+}",
    ],
    mistake: /integer divide by zero/,
    correction: [
      "*** Update File: internal/account/account.go",
      "@@ func Average(entries []int) int {",
      "+	if len(entries) == 0 {",
      "+		return 0",
      "+	}",
      " 	return Balance(entries) / len(entries)",
    ],
  },
};
