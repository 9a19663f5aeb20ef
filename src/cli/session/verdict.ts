/** Thrown by a command that has printed everything, to set the exit code. */
export class ExitRequest extends Error {
  override readonly name = 'Verdict'
  readonly exitCode: number

  constructor(exitCode: number) {
    super(`exit ${exitCode}`)
    this.exitCode = exitCode
  }
}
