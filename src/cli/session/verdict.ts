/** Thrown by a command that has said all it had to say, and only wants its exit code. */
export class ExitRequest extends Error {
  override readonly name = 'Verdict'
  readonly exitCode: number

  constructor(exitCode: number) {
    super(`exit ${exitCode}`)
    this.exitCode = exitCode
  }
}
