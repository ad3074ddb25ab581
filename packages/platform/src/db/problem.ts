// Trouble with the database that whoever runs the server can mend.
export class DatabaseProblem extends Error {
  override name = "DatabaseProblem";
}
