/** The folders of one command on this machine, whatever they are called where it runs. */
export interface RoomFolders {
  readonly name: string
  readonly base: string
  readonly outdir: string
  readonly tmpdir: string
  readonly inputsDir: string
}
